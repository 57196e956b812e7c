package mock

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// controlPath begins the paths that are not the script's.
const controlPath = "/__bide/"

// control answers GET /__bide/log, POST /__bide/reset and POST /__bide/script.
func (m *program) control(s *retrytest.Server, r *retrytest.Record) retrytest.Reply {
	if refusal := m.foreign(r); refusal != "" {
		return plain(http.StatusForbidden, refusal)
	}
	method, f := "POST", m.reset
	switch strings.TrimPrefix(r.Path, controlPath) {
	case "log":
		method, f = "GET", m.readLog
	case "reset":
	case "script":
		f = m.newScript
	default:
		return plain(http.StatusNotFound, "there are GET %[1]slog, POST %[1]sreset and POST %[1]sscript", controlPath)
	}
	if r.Method != method {
		return plain(http.StatusMethodNotAllowed, "%s wants %s", r.Path, method)
	}
	return f(s, r)
}

func plain(status int, format string, a ...any) retrytest.Reply {
	return retrytest.Reply{Status: status, Type: "text/plain; charset=utf-8", Body: fmt.Appendf(nil, format+"\n", a...)}
}

// foreign says why a request must not control the server: a page in a browser
// can send requests to loopback, and under a name that leads there even read the
// answers. Those carry an Origin, or such a name as their Host.
func (m *program) foreign(r *retrytest.Record) string {
	if r.Has("Origin") {
		return "not for pages in a browser"
	}
	listen, _, _ := net.SplitHostPort(m.Listen) // checked with the flags
	if ip, err := netip.ParseAddr(listen); err != nil || !ip.IsLoopback() || !r.Has("Host") {
		return "" // open to other machines by --listen; HTTP/2 has no Host, and needs our certificate
	}
	host := r.Get("Host")
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || strings.EqualFold(host, "localhost") {
		return ""
	}
	return "the Host must be an address or localhost"
}

func (m *program) readLog(s *retrytest.Server, _ *retrytest.Record) retrytest.Reply {
	var b bytes.Buffer
	if err := render.MockJSON(&b, m.report(s, nil).document()); err != nil {
		return plain(http.StatusInternalServerError, "%v", err)
	}
	return retrytest.Reply{Status: http.StatusOK, Type: "application/json", Body: b.Bytes()}
}

func (m *program) reset(s *retrytest.Server, _ *retrytest.Record) retrytest.Reply {
	s.Reset()
	return retrytest.Reply{Status: http.StatusNoContent}
}

// newScript sets another script. It may not name files: whoever can connect
// would read them with our rights.
func (m *program) newScript(s *retrytest.Server, r *retrytest.Record) retrytest.Reply {
	if r.BodyBytes > int64(len(r.Body)) {
		return plain(http.StatusRequestEntityTooLarge, "the script is over 1 MiB")
	}
	text := string(r.Body)
	files, err := retrytest.ScriptFiles(text)
	switch {
	case err != nil:
		return plain(http.StatusBadRequest, "%v", err)
	case len(files) > 0:
		return plain(http.StatusForbidden, "a script that comes over HTTP cannot name files: body=@%s", files[0])
	}
	if err := s.SetScript(text); err != nil {
		return plain(http.StatusBadRequest, "%v", err)
	}
	return retrytest.Reply{Status: http.StatusNoContent}
}
