package httpretry_test

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
)

// knowing is an error that knows its class.
type knowing retry.Class

func (k knowing) Error() string           { return "knows" }
func (k knowing) RetryClass() retry.Class { return retry.Class(k) }

// other is a text of a type that net/http does not use for it.
type other string

func (o other) Error() string { return string(o) }

func TestClassify(t *testing.T) {
	text := errors.New
	inner := func(reason retry.Reason, c retry.Class) error {
		return &retry.Error{Reason: reason, Record: &retry.Record{Attempts: []retry.Attempt{{Outcome: retry.Outcome{Class: c}}}}}
	}
	for _, c := range []struct {
		name string
		err  error
		want retry.Class
	}{
		{"nil", nil, retry.ClassNone},
		{"unknown", text("boom"), retry.ClassProtocol},
		{"classified_goes_first", fmt.Errorf("x: %w", errors.Join(context.Canceled, knowing(retry.ClassChecksum))), retry.ClassChecksum},
		{"classified_as_nothing", errors.Join(knowing(""), io.EOF), retry.ClassClosed},
		{"inner_loop", inner(retry.AttemptsExhausted, retry.ClassTLS), retry.ClassTLS},
		{"inner_loop_canceled", inner(retry.Canceled, retry.ClassStatus), retry.ClassCanceled},
		{"canceled", fmt.Errorf("x: %w", context.Canceled), retry.ClassCanceled},
		{"attempt_limit", retry.ErrAttemptTimeout, retry.ClassTimeout},
		{"deadline", retry.ErrDeadline, retry.ClassTimeout},
		{"read_timeout", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, retry.ClassTimeout},
		{"write_reset", &net.OpError{Op: "write", Err: text("broken pipe")}, retry.ClassClosed},
		{"closed", net.ErrClosed, retry.ClassClosed},
		{"authority", x509.UnknownAuthorityError{}, retry.ClassCert},
		{"scheme_mismatch", http.ErrSchemeMismatch, retry.ClassProtocol},
		{"gzip_checksum", gzip.ErrChecksum, retry.ClassDecode},
		{"flate", flate.CorruptInputError(7), retry.ClassDecode},
		{"too_large", &http.MaxBytesError{Limit: 1}, retry.ClassSize},
		{"socks_timeout", &net.OpError{Op: "socks connect", Err: os.ErrDeadlineExceeded}, retry.ClassProxy},
		{"socks_in_proxyconnect", &net.OpError{Op: "socks connect", Err: text("connection refused")}, retry.ClassProxyRefused},

		// Texts without a type.
		{"text/canceled", text("net/http: request canceled while waiting for connection"), retry.ClassCanceled},
		{"text/h2_canceled", text("http2: canceling request"), retry.ClassCanceled},
		{"text/idle", text("http: server closed idle connection"), retry.ClassClosed},
		{"text/lost", text("http2: client connection lost"), retry.ClassClosed},
		{"text/goaway_closed", text("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\""), retry.ClassClosed},
		{"text/broken_garbage", fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", text(`malformed HTTP response "x"`)), retry.ClassProtocol},
		{"text/broken_write", fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", &net.OpError{Op: "write", Err: text("reset")}), retry.ClassClosed},
		{"text/trailer", text("http: unexpected EOF reading trailer"), retry.ClassTruncated},
		{"text/handshake", text("net/http: TLS handshake timeout"), retry.ClassTLS},
		{"text/tls", text("tls: server selected unsupported protocol version 300"), retry.ClassCert},
		{"text/goaway", text("http2: Transport received Server's graceful shutdown GOAWAY"), retry.ClassRefused},
		{"text/goaway_first", text("http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM"), retry.ClassRefused},
		{"text/unrewound_refused", text("http2: Transport: cannot retry err [stream error: stream ID 3; REFUSED_STREAM; received from peer] after Request.Body was written; define Request.GetBody to avoid this error"), retry.ClassRefused},
		{"text/unrewound_goaway", text("http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written; define Request.GetBody to avoid this error"), retry.ClassRefused},
		{"text/unrewound_protocol_error", text("http2: Transport: cannot retry err [stream error: stream ID 3; PROTOCOL_ERROR; received from peer] after Request.Body was written; define Request.GetBody to avoid this error"), retry.ClassClosed},
		{"text/h2_connection", text("connection error: PROTOCOL_ERROR"), retry.ClassProtocol},
		{"text/connect_407", text("Proxy Authentication Required"), retry.ClassProxyRefused},
		{"text/connect_504", text("Gateway Timeout"), retry.ClassProxy},
		{"text/connect_of_another_type", other("Gateway Timeout"), retry.ClassProtocol},
		{"text/redirects", text("stopped after 10 redirects"), retry.ClassRedirect},
		{"text/scheme", fmt.Errorf("unsupported protocol scheme %q", "x"), retry.ClassRequest},
		{"text/body_length", text("http: ContentLength=5 with Body length 3"), retry.ClassInput},
		{"text/h2_body_length", text("http2: request body larger than specified content length"), retry.ClassInput},
	} {
		t.Run("R3.4_"+c.name, func(t *testing.T) {
			if got := httpretry.Classify(c.err); got != c.want {
				t.Errorf("%v is %q, want %q", c.err, got, c.want)
			}
		})
	}
}

// TestOutcomeWithoutFacts: a RoundTripper of another kind, no Watch.
func TestOutcomeWithoutFacts(t *testing.T) {
	d := httpretry.Describer{Policy: retry.DefaultPolicy(), Clock: quick(), IdempotencyHeader: "X-Key"}
	req := request(t, "POST", "HTTPS://Api.Test/p", "x")
	req.Header.Set("X-Key", "k")
	for _, c := range []struct {
		name string
		resp *http.Response
		err  error
		want retry.Outcome
	}{
		{"status", &http.Response{StatusCode: 503}, nil, retry.Outcome{Class: retry.ClassStatus, Status: 503, Sent: retry.SentMaybe, Phase: retry.PhaseResponse}},
		{"421", &http.Response{StatusCode: 421}, nil, retry.Outcome{Class: retry.ClassStatus, Status: 421, Sent: retry.SentUnprocessed, Phase: retry.PhaseResponse}},
		{"replayed", &http.Response{StatusCode: 409, Header: http.Header{"Idempotent-Replayed": {"TRUE"}}}, nil,
			retry.Outcome{Class: retry.ClassStatus, Status: 409, Replayed: true, Sent: retry.SentMaybe, Phase: retry.PhaseResponse}},
		{"broken_body", &http.Response{StatusCode: 200}, io.EOF, retry.Outcome{Class: retry.ClassTruncated, Status: 200, Sent: retry.SentMaybe, Phase: retry.PhaseBody}},
		{"closed", nil, io.EOF, retry.Outcome{Class: retry.ClassClosed, Sent: retry.SentMaybe, Phase: retry.PhaseResponse}},
		{"idle", nil, errors.New("http: server closed idle connection"), retry.Outcome{Class: retry.ClassClosed, Sent: retry.SentNothing, Phase: retry.PhaseResponse}},
		{"refused_port", nil, &net.OpError{Op: "dial", Err: errors.New("refused")}, retry.Outcome{Class: retry.ClassConnect, Sent: retry.SentNothing, Phase: retry.PhaseConnect}},
		{"status_as_an_error", nil, knowing(retry.ClassStatus), retry.Outcome{Class: retry.ClassProtocol, Sent: retry.SentMaybe, Phase: retry.PhaseResponse}},
		{"inner_loop_that_tried_nothing", nil, &retry.Error{Reason: retry.DeadlineBeforeRetry, Record: &retry.Record{}},
			retry.Outcome{Class: retry.ClassTimeout, Sent: retry.SentNothing, Phase: retry.PhaseConnect}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := d.Outcome(req, c.resp, c.err)
			if o.Origin != "https://api.test:443" || o.Method != "POST" || !o.Keyed {
				if c.name != "inner_loop_that_tried_nothing" {
					t.Errorf("origin %q, method %q, keyed %v", o.Origin, o.Method, o.Keyed)
				}
			}
			if o.Err != c.err {
				t.Errorf("error %v", o.Err)
			}
			o.Origin, o.Method, o.Keyed, o.Err, o.SeenAt, o.Total = "", "", false, nil, 0, 0
			if o != c.want {
				t.Errorf("got  %+v\nwant %+v", o, c.want)
			}
		})
	}
}

func TestR11_EvidenceForPeople(t *testing.T) {
	d := httpretry.Describer{Policy: retry.DefaultPolicy(), Clock: quick()}
	req := request(t, "GET", "http://x/?token=secret", "")
	inner := errors.New("No way\x1b[31m")
	o := d.Outcome(req, nil, &url.Error{Op: "Get", URL: req.URL.String(), Err: inner})
	if got, want := o.Err.Error(), `No way\x1b[31m`; got != want || !errors.Is(o.Err, inner) {
		t.Errorf("evidence is %q, want %q", got, want)
	}
	rec := &retry.Record{Attempts: []retry.Attempt{{Outcome: retry.Outcome{Class: retry.ClassClosed, Err: io.EOF}}}}
	o = d.Outcome(req, nil, &url.Error{Op: "Get", URL: req.URL.String(), Err: &retry.Error{Reason: retry.UnsafeMethod, Record: rec, Last: io.EOF}})
	if strings.Contains(o.Err.Error(), "secret") || !errors.Is(o.Err, io.EOF) || o.Class != retry.ClassClosed {
		t.Errorf("evidence is %q, class %s", o.Err, o.Class)
	}
}
