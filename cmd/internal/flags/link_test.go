package flags

import (
	"testing"
	"time"
)

// TestLinkFlags: the flags of authentication, proxies and sockets, as a group keeps them.
func TestLinkFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		ok   func(*Group) bool
	}{
		"anyauth":            {[]string{"--anyauth"}, func(g *Group) bool { return g.Basic && g.Digest }},
		"no_anyauth":         {[]string{"--anyauth", "--no-anyauth"}, func(g *Group) bool { return !g.Basic && !g.Digest }},
		"digest":             {[]string{"--digest"}, func(g *Group) bool { return !g.Basic && g.Digest }},
		"no_digest":          {[]string{"--anyauth", "--no-digest"}, func(g *Group) bool { return g.Basic && !g.Digest }},
		"proxy_digest":       {[]string{"--proxy-digest"}, func(g *Group) bool { return g.ProxyDigest && !g.Digest }},
		"proxy_anyauth":      {[]string{"--proxy-anyauth"}, func(g *Group) bool { return g.ProxyDigest && g.ProxyBasic }},
		"sigv4":              {[]string{"--aws-sigv4", "aws:amz:r:s"}, func(g *Group) bool { return g.HasAWSSigV4 && g.AWSSigV4 == "aws:amz:r:s" }},
		"sigv4_empty":        {[]string{"--aws-sigv4", ""}, func(g *Group) bool { return g.HasAWSSigV4 }},
		"socks4":             {[]string{"--socks4", "h:1"}, func(g *Group) bool { return g.Proxy == "socks4://h:1" && g.HasProxy }},
		"socks4a":            {[]string{"--socks4a", "h"}, func(g *Group) bool { return g.Proxy == "socks4a://h" }},
		"socks5":             {[]string{"--socks5", "h"}, func(g *Group) bool { return g.Proxy == "socks5://h" }},
		"socks5_hostname":    {[]string{"--socks5-hostname", "h"}, func(g *Group) bool { return g.Proxy == "socks5h://h" }},
		"socks_scheme_wins":  {[]string{"--socks4", "socks5://h"}, func(g *Group) bool { return g.Proxy == "socks5://h" }},
		"proxy1.0":           {[]string{"--proxy1.0", "h"}, func(g *Group) bool { return g.Proxy == "http://h" && g.Proxy10 }},
		"last_proxy_counts":  {[]string{"--proxy1.0", "h", "-x", "i"}, func(g *Group) bool { return g.Proxy == "i" && !g.Proxy10 }},
		"preproxy":           {[]string{"--preproxy", "socks4://h"}, func(g *Group) bool { return g.PreProxy == "socks4://h" && !g.HasProxy }},
		"local_port":         {[]string{"--local-port", "5"}, func(g *Group) bool { return g.LocalPort == 5 && g.LocalPorts == 1 }},
		"local_ports":        {[]string{"--local-port", "5-9"}, func(g *Group) bool { return g.LocalPort == 5 && g.LocalPorts == 5 }},
		"happy_eyeballs":     {[]string{"--happy-eyeballs-timeout-ms", "5"}, func(g *Group) bool { return g.HappyEyeballs == 5*time.Millisecond }},
		"happy_eyeballs_0":   {[]string{"--happy-eyeballs-timeout-ms", "0"}, func(g *Group) bool { return g.HappyEyeballs == 1 }},
		"keepalive_cnt":      {[]string{"--keepalive-cnt", "4"}, func(g *Group) bool { return g.KeepaliveCount == 4 }},
		"cert_type":          {[]string{"--cert-type", "der", "--key-type", "PEM"}, func(g *Group) bool { return g.CertType == "DER" && g.KeyType == "PEM" }},
		"http3":              {[]string{"--http3"}, func(g *Group) bool { return g.HTTP == "3" }},
		"http3_only":         {[]string{"--http3-only"}, func(g *Group) bool { return g.HTTP == "3-only" }},
		"last_version_count": {[]string{"--http3", "--http1.1"}, func(g *Group) bool { return g.HTTP == "1.1" }},
	} {
		t.Run(name, func(t *testing.T) {
			o := mustParse(t, world(nil, nil), append(tt.args, "u")...)
			if g := &o.Groups[0]; !tt.ok(g) {
				t.Errorf("%q gives %+v", tt.args, g)
			}
		})
	}
}

func TestLinkFlagsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--aws-sigv4", ":amz"}, {"--aws-sigv4", "a b"}, {"--local-port", ""}, {"--local-port", "0"}, {"--local-port", "9-5"},
		{"--local-port", "1-70000"}, {"--local-port", "a"}, {"--happy-eyeballs-timeout-ms", "-1"}, {"--keepalive-cnt", "x"},
		{"--cert-type", "P12"}, {"--cert-type", "ENG"}, {"--key-type", "x"}, {"--no-http3"}, {"--no-socks5"},
	} {
		usage(t, world(nil, nil), append(args, "u")...)
	}
}

// TestR11_3ProxySecrets: of a proxy's URL, the user and password alone are overwritten.
func TestR11_3ProxySecrets(t *testing.T) {
	for _, flag := range []string{"--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--proxy1.0", "--preproxy"} {
		args := []string{flag, "u:sesame@h:1", "u"}
		o := mustParse(t, world(nil, nil), args...)
		if len(o.Secrets) != 1 || args[o.Secrets[0].Index][o.Secrets[0].Start:o.Secrets[0].End] != "u:sesame" {
			t.Errorf("%s: %+v", flag, o.Secrets)
		}
	}
}
