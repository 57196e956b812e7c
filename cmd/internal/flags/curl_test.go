package flags

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/google/go-cmp/cmp"
)

// closedURL refuses connections at once: curl only has to read its arguments.
const closedURL = "http://127.0.0.1:1/"

// runCurl runs the installed curl and returns its exit code and output.
func runCurl(t *testing.T, args ...string) (int, string) {
	t.Helper()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, curl, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// curlOptions is what curl made of its arguments: CURLOPT_ names to values.
func curlOptions(t *testing.T, args []string) map[string]string {
	t.Helper()
	_, out := runCurl(t, append([]string{"-q", "--libcurl", "-"}, args...)...)
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`curl_easy_setopt\(hnd, CURLOPT_(\w+), (.*)\);`).FindAllStringSubmatch(out, -1) {
		value := strings.TrimPrefix(strings.TrimPrefix(m[2], "(curl_off_t)"), "(long)")
		got[m[1]] = strings.Trim(value, `"`)
	}
	if len(got) == 0 {
		t.Fatalf("curl %q: %s", args, out)
	}
	return got
}

// asCurlOptions says in curl's words what Parse made of them.
func asCurlOptions(o *Options) map[string]string {
	g := o.Groups[0]
	m := map[string]string{}
	text := func(name, value string) {
		if value != "" {
			m[name] = value
		}
	}
	on := func(name string, is bool) {
		if is {
			m[name] = "1L"
		}
	}
	millis := func(name string, d time.Duration) {
		if d != 0 {
			m[name] = fmt.Sprintf("%dL", d.Milliseconds())
		}
	}
	var data []string
	for _, d := range g.Data {
		data = append(data, d.Value)
	}
	referer, auto := strings.CutSuffix(g.Referer, ";auto")
	text("POSTFIELDS", strings.Join(data, "&"))
	text("CUSTOMREQUEST", g.Method)
	text("RANGE", g.Range)
	text("REFERER", referer)
	text("USERPWD", g.User)
	text("COOKIE", strings.Join(g.Cookies, ";"))
	on("AUTOREFERER", auto)
	on("FAILONERROR", g.Fail == "fail")
	on("FOLLOWLOCATION", g.Follow)
	on("UNRESTRICTED_AUTH", g.LocationTrusted)
	on("NOBODY", g.Head)
	on("HTTPPROXYTUNNEL", g.ProxyTunnel)
	on("PATH_AS_IS", g.PathAsIs)
	on("VERBOSE", o.Global.Verbose)
	text("UNIX_SOCKET_PATH", g.UnixSocket)
	text("PROXYUSERPWD", g.ProxyUser)
	text("SSLKEY", g.Key)
	text("SSLCERT", g.Cert)
	text("KEYPASSWD", g.Pass)
	text("COOKIEJAR", o.Global.CookieJar)
	if g.UserAgent != nil {
		text("USERAGENT", *g.UserAgent)
	}
	if g.NoProxy != nil {
		m["NOPROXY"] = *g.NoProxy
	}
	if g.HasProxy {
		m["PROXY"] = g.Proxy
	}
	m["MAXREDIRS"] = fmt.Sprintf("%dL", g.MaxRedirects)
	if g.MaxFileSize != 0 {
		m["MAXFILESIZE_LARGE"] = fmt.Sprint(g.MaxFileSize)
	}
	if g.IPVersion != 0 {
		m["IPRESOLVE"] = map[int]string{4: "1L", 6: "2L"}[g.IPVersion]
	}
	millis("TIMEOUT_MS", g.Policy.MaxTime)
	if g.ConnectTimeout != defaultConnectTimeout {
		millis("CONNECTTIMEOUT_MS", g.ConnectTimeout)
	}
	return m
}

// TestAgainstCurl: the same arguments give the same options. What curl sets on
// its own (buffer sizes, defaults) is left out: only names that Parse knows count.
func TestAgainstCurl(t *testing.T) {
	known := []string{"POSTFIELDS", "CUSTOMREQUEST", "RANGE", "REFERER", "USERPWD", "COOKIE", "AUTOREFERER", "FAILONERROR", "FOLLOWLOCATION",
		"UNRESTRICTED_AUTH", "NOBODY", "HTTPPROXYTUNNEL", "PATH_AS_IS", "VERBOSE", "UNIX_SOCKET_PATH", "PROXYUSERPWD", "SSLKEY", "SSLCERT", "KEYPASSWD",
		"COOKIEJAR", "NOPROXY", "PROXY", "MAXREDIRS", "MAXFILESIZE_LARGE", "IPRESOLVE", "TIMEOUT_MS", "CONNECTTIMEOUT_MS"}
	for _, args := range [][]string{
		{}, {"-sSfLo", "out"}, {"-d=foo"}, {"-d", "a", "--data", "b=c", "-dd"}, {"--data-raw", "@x"}, {"-XPOST"}, {"-X", "A", "-X", "B"},
		{"-A", "me"}, {"-u", "a:b", "-u", "c:d"}, {"-m", "2.5"}, {"-m2", "--connect-timeout", "0.25"}, {"-b", "x=1", "-b", "y=2"},
		{"-e", "r;auto"}, {"-er"}, {"-I"}, {"-L", "--no-location"}, {"--location-trusted"}, {"--location", "--max-redirs", "-1"}, {"-r", "0-9"},
		{"-r5"}, {"-4"}, {"-4", "-6"}, {"-p", "-x", "127.0.0.1:1"}, {"-x", ""}, {"--noproxy", "*"}, {"--max-filesize", "10K"}, {"-f", "--no-fail"},
		{"-U", "p:q", "-x", "127.0.0.1:1"}, {"-E", "cert:pw", "--key", "k"}, {"-E", `a\:b:pw`}, {"--path-as-is"}, {"-c", "jar"},
		{"-sv"}, {"--url", closedURL}, {"-o", "-x"}, {"--unix-socket", "s"}, {"-d", "-s"}, {"-G", "-d", "a"}, {"-d", ""}, {"-H", "A:", "-H", "B;"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append(append([]string{}, args...), closedURL)
			curl, bide := curlOptions(t, args), asCurlOptions(mustParse(t, Env{}, args...))
			if mustParse(t, Env{}, args...).Groups[0].Get { // the data is in the URL by then
				delete(bide, "POSTFIELDS")
			}
			for _, name := range known {
				if d := cmp.Diff(curl[name], bide[name]); d != "" {
					t.Errorf("%s: -curl +bide %s", name, d)
				}
			}
		})
	}
}

// TestRefusalAgainstCurl: both refuse, with the same exit code, or both accept.
func TestRefusalAgainstCurl(t *testing.T) {
	for _, line := range []string{
		"-X", "-m abc", "-m -1", "-m", "--retry 0x10", "--retry -1", "--max-redirs -2", "--max-redirs x", "--max-filesize 10x", "--ntlmm", "-s=foo",
		"--silent=x", "--no-request a", "--no-http2", "-I -d x", "-I -G -d x", "-T /dev/null -d x", "-T /dev/null -I", "-K /nonexistent", "--tls-max 9", "-",
		"--data", "-sSfLo out", "--retry-max-time 1", "--retry 0", "--retry-delay x", "--no-silent", "--no-location", "--buffer", "--keepalive", "-#", "-0", "-N",
		"--tcp-nodelay", "--no-tcp-nodelay", "-H", "-b", "--noproxy", "--tlsv1.4", "-4sS", "-d a -d b", "-O", "-:",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if !strings.HasSuffix(line, "-X") { // a flag that lacks its value stays last
				args = append([]string{closedURL}, args...)
			}
			code, out := runCurl(t, append([]string{"-q", "-o", "kept"}, args...)...)
			_, err := Parse(args, Env{})
			refused := code == int(exitcode.Usage) || code == int(exitcode.Input)
			if line == "-:" { // curl's --next; refused here by name
				refused, code = true, int(exitcode.Usage)
			}
			if refused != (err != nil) {
				t.Fatalf("curl exits %d (%s), bide: %v", code, out, err)
			}
			var u *UsageError
			if errors.As(err, &u) && int(u.Code) != code {
				t.Errorf("curl exits %d, bide %d: %s", code, u.Code, u.Message)
			}
		})
	}
}
