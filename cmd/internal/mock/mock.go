// Package mock is bide mock: a scripted server around a client under test, its
// attempt log, and checks of it. The engine is retry/retrytest; here are the
// client's process, the control endpoints, and what is printed.
package mock

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/retry/retrytest"
)

// Options is the command line, checked.
type Options struct {
	Script      string   // its text; "" only with Routes or Conformance
	Routes      []string // more routes
	Expect      []string // checks
	GroupBy     string
	LogFile     string // "" none, "-" standard output
	JUnitFile   string // "" none, "-" standard output
	JSON        bool   // the report is one JSON document
	Linger      time.Duration
	TLS         bool
	Listen      string // host:port
	Conformance bool
	Jobs        int           // rows of the matrix at the same time
	Timeout     time.Duration // of one run of the command; 0 none
	Command     []string      // empty: serve until interrupted
}

// Process is what it may ask of the world.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string         // of the command
	Signals        <-chan os.Signal // nil: none
	// Terminal: standard input is one, so that the terminal itself sends Ctrl-C to
	// the command.
	Terminal bool
	// Watched: standard error is a terminal.
	Watched  bool
	Now      func() time.Time
	Version  string
	Redactor *render.Redactor
}

// program is one run of bide mock.
type program struct {
	Process
	Options
	started time.Time
}

// Run is the command. Exit codes: 1 a check failed, 2 the script or an address is
// wrong, else the command's own.
func Run(ctx context.Context, p Process, o Options) exitcode.Code {
	m := &program{Process: p, Options: o, started: p.Now()}
	switch {
	case o.Conformance:
		return m.conformance(ctx)
	case len(o.Command) == 0:
		return m.serve(ctx)
	}
	return m.around(ctx)
}

// text is the whole script.
func (o *Options) text() string {
	return strings.Join(append([]string{o.Script}, o.Routes...), "\n")
}

// server starts the scripted server.
func (m *program) server(script string, more ...retrytest.Option) (*retrytest.Server, error) {
	opts := append([]retrytest.Option{retrytest.WithAddress(m.Listen), retrytest.WithHTTP2(), retrytest.WithBriefLog(), retrytest.WithHidden(m.Redactor.Sensitive)}, more...)
	if m.TLS {
		opts = append(opts, retrytest.WithTLS())
	}
	return retrytest.New(script, opts...)
}

// fail prints the line of what cannot be done.
func (m *program) fail(code exitcode.Code, err error) exitcode.Code {
	fmt.Fprintf(m.Stderr, "bide: mock: %s\n", render.Text(err.Error()))
	return code
}

// around runs the command with the server beside it.
func (m *program) around(ctx context.Context) exitcode.Code {
	s, err := m.server(m.text(), retrytest.WithControl(controlPath, m.control))
	if err != nil {
		return m.fail(exitcode.Usage, err)
	}
	defer s.Close()
	env, remove, err := m.clientEnv(s)
	if err != nil {
		return m.fail(exitcode.Output, err)
	}
	defer remove()
	end, err := command{
		args: m.Command, env: env, stdin: m.Stdin, stdout: m.words(), stderr: m.Stderr,
		timeout: m.Timeout, signals: m.Signals, terminal: m.Terminal,
	}.run(ctx, s.MarkExit)
	if err != nil {
		return m.fail(exitcode.Code(end.code), err)
	}
	m.linger(ctx)
	r := m.report(s, &end)
	if code := m.publish(r); code != exitcode.OK {
		return code
	}
	return exitcode.Code(end.code)
}

// linger waits for late requests; a signal ends it.
func (m *program) linger(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(m.Linger):
	case <-m.Signals:
	}
}

// serve answers until a signal comes. Who watches sees each request at once.
func (m *program) serve(ctx context.Context) exitcode.Code {
	opts := []retrytest.Option{retrytest.WithControl(controlPath, m.control)}
	if m.Watched {
		opts = append(opts, retrytest.WithObserver(func(r retrytest.Record) { fmt.Fprintln(m.Stderr, r.String()) }))
	}
	s, err := m.server(m.text(), opts...)
	if err != nil {
		return m.fail(exitcode.Usage, err)
	}
	defer s.Close()
	_, remove, err := m.clientEnv(s)
	if err != nil {
		return m.fail(exitcode.Output, err)
	}
	defer remove()
	if _, err := fmt.Fprintln(m.words(), s.URL); err != nil {
		return m.fail(exitcode.Output, err)
	}
	fmt.Fprintf(m.Stderr, "bide mock: serving until interrupted; GET %slog, POST %sreset, POST %sscript\n", controlPath, controlPath, controlPath)
	select {
	case <-m.Signals:
	case <-ctx.Done():
	}
	return m.publish(m.report(s, nil))
}

// bypass adds the server's host to NO_PROXY where the environment names a proxy:
// it would look for the server on its own loopback interface.
func bypass(environ []string, host string) []string {
	proxied, except := false, ""
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch strings.ToLower(name) {
		case "http_proxy", "https_proxy", "all_proxy":
			proxied = proxied || value != ""
		case "no_proxy":
			except = value
		}
	}
	if !proxied || except == "*" {
		return nil
	}
	except = strings.TrimPrefix(except+","+host, ",")
	return []string{"NO_PROXY=" + except, "no_proxy=" + except}
}

// clientEnv is the client's environment, and what removes the file of the CA's
// certificate afterwards.
func (m *program) clientEnv(s *retrytest.Server) (env []string, remove func(), err error) {
	env = slices.Concat(m.Environ, bypass(m.Environ, s.Host))
	env = append(env, "MOCK_URL="+s.URL, "MOCK_HOST="+s.Host, "MOCK_PORT="+s.Port)
	pem := s.CACert()
	if pem == nil {
		return env, func() {}, nil
	}
	f, err := os.CreateTemp("", "bide-mock-*.pem")
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of the CA: %w", err)
	}
	_, err = f.Write(pem)
	if closed := f.Close(); err == nil {
		err = closed
	}
	remove = func() { _ = os.Remove(f.Name()) } // best effort: it holds no secret
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("certificate of the CA: %w", err)
	}
	return append(env, "MOCK_CACERT="+f.Name()), remove, nil
}
