package exchange

import (
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

const digest401 = `401 header='WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"'`

// authorizations are the values of Authorization, request by request.
func authorizations(log *retrytest.Log) []string {
	var all []string
	for i := range log.Records {
		value := "-"
		for _, f := range log.Records[i].Header {
			if f.Name == "Authorization" {
				value = f.Value
			}
		}
		all = append(all, value)
	}
	return all
}

func withUser(op *Operation, schemes auth.Scheme) *Operation {
	op.Template.Auth.HasUser, op.Template.Auth.User, op.Template.Auth.Password = true, "u", "p"
	op.Template.Auth.Schemes = schemes
	return op
}

// TestDigestHops/R1.1: a challenge and its answer are two hops of one attempt,
// on one connection; the next attempt uses the nonce again.
func TestDigestHops(t *testing.T) {
	s := retrytest.Serve(t, digest401+", 503, 200")
	op := withUser(operation(client(t, fakeClock(), transport.Settings{}), template(t, "POST", s.URL, "body")), auth.Digest)
	op.Policy.Idempotent = true
	hops := 0
	reused := 0
	r, rec, _ := loop(t, t.Context(), op, func(r *Response, _ retry.Outcome) {
		hops += len(r.Hops)
		for _, h := range r.Hops {
			if h.Reused {
				reused++
			}
		}
	})
	log := s.Log()
	if r.Status != 200 || len(rec.Attempts) != 2 || hops != 3 || len(log.Records) != 3 || reused != 2 {
		t.Fatalf("status %d, %d attempts, %d hops, %d requests, %d reused", r.Status, len(rec.Attempts), hops, len(log.Records), reused)
	}
	got := authorizations(log)
	if got[0] != "-" || !strings.Contains(got[1], "nc=00000001") || !strings.Contains(got[2], "nc=00000002") {
		t.Errorf("Authorization %q", got)
	}
	if log.Records[0].BodyBytes != 0 || log.Records[1].BodyBytes != 4 || log.Records[2].BodyBytes != 4 {
		t.Error("the body goes with the answer to the challenge, and not before")
	}
}

// TestOneKeyOneBody/R7.3: a request with a key never goes out without its body.
func TestOneKeyOneBody(t *testing.T) {
	s := retrytest.Serve(t, digest401+", 200")
	op := withUser(operation(client(t, fakeClock(), transport.Settings{}), keyed(template(t, "POST", s.URL, "body"))), auth.Digest)
	r, _, _ := get(t, op)
	for _, rec := range s.Log().Records {
		if rec.BodyBytes != 4 {
			t.Errorf("%d bytes of body", rec.BodyBytes)
		}
	}
	if n := len(s.Log().Records); r.Status != 200 || n != 2 {
		t.Errorf("status %d after %d requests", r.Status, n)
	}
}

// TestChallengesEnd: a server that calls every nonce stale is given up.
func TestChallengesEnd(t *testing.T) {
	s := retrytest.Serve(t, `401 header='WWW-Authenticate: Digest realm="r", nonce="n", stale=true'`)
	op := withUser(operation(client(t, fakeClock(), transport.Settings{}), template(t, "GET", s.URL, "")), auth.Digest)
	r, _, _ := get(t, op)
	if n := len(s.Log().Records); r.Status != 401 || n != auth.MaxChallenges+1 || len(r.Hops) != n {
		t.Errorf("status %d after %d requests, %d hops", r.Status, n, len(r.Hops))
	}
}

// TestChallengeNamesNoMinimum/R5.6: Retry-After on a challenge that is answered
// does not make the next hop wait.
func TestChallengeNamesNoMinimum(t *testing.T) {
	s := retrytest.Serve(t, digest401+" retry-after=7, 200")
	clock := fakeClock()
	began := clock.Mono()
	op := withUser(operation(client(t, clock, transport.Settings{}), template(t, "GET", s.URL, "")), auth.Digest)
	if r, _, _ := get(t, op); r.Status != 200 || clock.Mono()-began >= 7*time.Second {
		t.Errorf("status %d after %s", r.Status, clock.Mono()-began)
	}
}

// TestCredentialsStayHome/R7.6: no scheme's credentials cross to another origin,
// whatever it asks for.
func TestCredentialsStayHome(t *testing.T) {
	for name, schemes := range map[string]auth.Scheme{"basic": auth.Basic, "digest": auth.Digest, "any": auth.Any} {
		t.Run(name, func(t *testing.T) {
			other := retrytest.Serve(t, digest401+`, 401 header='WWW-Authenticate: Basic realm="r"'`)
			s := retrytest.Serve(t, "302 location="+other.URL)
			op := withUser(operation(client(t, fakeClock(), transport.Settings{}), template(t, "GET", s.URL, "")), schemes)
			if r, _, _ := get(t, op); r.Status != 401 {
				t.Errorf("status %d", r.Status)
			}
			if got := authorizations(other.Log()); len(got) != 1 || got[0] != "-" {
				t.Errorf("the other origin got %q", got)
			}
		})
	}
	t.Run("sigv4", func(t *testing.T) {
		other := retrytest.Serve(t, "200")
		s := retrytest.Serve(t, "307 location="+other.URL)
		op := withUser(operation(client(t, fakeClock(), transport.Settings{}), template(t, "POST", s.URL, "x")), 0)
		op.Template.Auth.SigV4 = &auth.SigV4{Provider1: "aws", Provider2: "amz", Region: "r", Service: "s"}
		get(t, op)
		log := other.Log()
		if got := authorizations(log); len(got) != 1 || got[0] != "-" {
			t.Errorf("the other origin got %q", got)
		}
		for _, f := range log.Records[0].Header {
			if strings.EqualFold(f.Name, "X-Amz-Date") {
				t.Errorf("the other origin got %v", f)
			}
		}
	})
}

// TestSignatures/R8.2: each attempt is signed afresh, with the time of its own.
func TestSignatures(t *testing.T) {
	s := retrytest.Serve(t, "503 retry-after=60, 200")
	op := withUser(operation(client(t, fakeClock(), transport.Settings{}), template(t, "PUT", s.URL+"/a?b=1", "body")), 0)
	op.Template.Auth.SigV4 = &auth.SigV4{Provider1: "aws", Provider2: "amz", Region: "r", Service: "s"}
	r, _, _ := loop(t, t.Context(), op, nil)
	var dates []string
	for _, rec := range s.Log().Records {
		for _, f := range rec.Header {
			if f.Name == "X-Amz-Date" {
				dates = append(dates, f.Value)
			}
		}
	}
	got := authorizations(s.Log())
	if r.Status != 200 || len(dates) != 2 || dates[0] != "20260715T100000Z" || dates[1] < "20260715T100100Z" || got[0] == got[1] {
		t.Errorf("status %d, dates %q, %q", r.Status, dates, got)
	}
}
