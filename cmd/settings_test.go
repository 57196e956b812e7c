package cmd

import (
	"testing"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

func TestNoProxy(t *testing.T) {
	for _, tt := range []struct {
		list, host string
		want       bool
	}{
		{"", "a.example", false},
		{"*", "a.example", true},
		{"example", "a.example", true},
		{".example", "a.example", true},
		{".example", "example", true},
		{"ample", "a.example", false},
		{"b.example, a.example", "A.EXAMPLE", true},
		{"b.example a.example", "a.example.", true},
		{"10.0.0.0/8", "10.2.3.4", true},
		{"10.0.0.0/8", "11.2.3.4", false},
		{"10.2.3.4", "10.2.3.4", true},
		{"[::1]", "::1", true},
		{"::1", "::1", true},
		{"0.0.1", "127.0.0.1", false},
		{",", "a.example", false},
		{".", "a.example", false},
	} {
		if got := noProxy(tt.list, tt.host); got != tt.want {
			t.Errorf("noProxy(%q, %q) = %v, want %v", tt.list, tt.host, got, tt.want)
		}
	}
}

func TestProxySelection(t *testing.T) {
	env := map[string]string{
		"http_proxy": "lower.example:1", "HTTP_PROXY": "upper.example:2", "HTTPS_PROXY": "https://u:p@secure.example",
		"no_proxy": "inside.example",
	}
	r := &run{env: Env{Getenv: func(name string) string { return env[name] }}}
	settings, err := r.settings(&flags.Group{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ scheme, host, want string }{
		{"http", "a.example", "http lower.example:1"},
		{"https", "a.example", "https secure.example:443"},
		{"http", "x.inside.example", ""},
	} {
		s, err := settings(transport.Target{Scheme: tt.scheme, Host: tt.host})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p := s.Proxy; p != nil {
			got = p.Scheme + " " + p.Host + ":" + p.Port
		}
		if got != tt.want {
			t.Errorf("%s://%s goes through %q, want %q", tt.scheme, tt.host, got, tt.want)
		}
	}
	t.Run("unsupported_scheme_is_exit_7_as_curl", func(t *testing.T) {
		_, err := r.settings(&flags.Group{HasProxy: true, Proxy: "ftp://x"})
		if got := failureCode(&retry.Outcome{Class: retry.ClassRequest, Err: err}); got != exitcode.Connect {
			t.Errorf("exit code %d (%v), want 7", got, err)
		}
	})
	t.Run("empty_proxy_flag_means_none", func(t *testing.T) {
		settings, err := r.settings(&flags.Group{HasProxy: true})
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := settings(transport.Target{Scheme: "http", Host: "a.example"}); s.Proxy != nil {
			t.Errorf("-x '' goes through %+v", s.Proxy)
		}
	})
}
