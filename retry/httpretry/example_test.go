package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/httpretry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// exampleClock waits in no real time; a program leaves Clock and Rand out.
func exampleClock() *retrytest.FakeClock {
	c := retrytest.NewFakeClock(time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC))
	c.AutoAdvance(true)
	return c
}

// An http.Client whose requests are tried again. POST requests get a key, so
// that they may be sent twice.
func ExampleTransport() {
	server, err := retrytest.New("429 retry-after=3, 503, 201 body=accepted")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()

	client := &http.Client{Transport: &httpretry.Transport{
		Base:           connections,
		IdempotencyKey: httpretry.UnsafeKey,
		Clock:          exampleClock(),
		Rand:           func() float64 { return 0.5 },
	}}
	resp, err := client.Post(server.URL, "text/plain", strings.NewReader("order"))
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	fmt.Println(resp.Status, string(body))
	for _, r := range server.Log().Verify("requests=3", "same-key", "same-body") {
		fmt.Println(r.Check, r.OK)
	}
	// Output:
	// 201 Created accepted
	// requests=3 true
	// same-key true
	// same-body true
}

// What happened, beside a response and beside an error.
func ExampleRecordFrom() {
	server, err := retrytest.New("503 retry-after=3, 502")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()
	policy := retry.DefaultPolicy()
	policy.Jitter = 0
	client := &http.Client{Transport: &httpretry.Transport{Base: connections, Policy: policy, Clock: exampleClock()}}

	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = resp.Body.Close()
	if record, ok := httpretry.RecordFrom(resp); ok {
		for _, a := range record.Attempts[:2] {
			fmt.Printf("%d: HTTP %d, then %v (%s)\n", a.Number, a.Outcome.Status, a.Waited, a.Decision.Source)
		}
		fmt.Println(record.Reason)
	}

	server.Close() // now connections are refused
	_, err = client.Get(server.URL)
	var failed *retry.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Reason, len(failed.Record.Attempts), failed.Record.Attempts[0].Outcome.Class)
	}
	// Output:
	// 1: HTTP 503, then 3s (server)
	// 2: HTTP 502, then 2s (backoff)
	// attempts_exhausted
	// attempts_exhausted 3 connect
}

// A loop around a client that retries by itself: the outer loop owns the attempts,
// the waits and the budget, the inner one passes through. Three attempts of three
// stay three requests.
func Example_nestedLoops() {
	server, err := retrytest.New("503")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	connections := &http.Transport{}
	defer connections.CloseIdleConnections()
	client := &http.Client{Transport: &httpretry.Transport{Base: connections}} // three attempts

	clock := exampleClock()
	policy := retry.DefaultPolicy() // three attempts
	loop := retry.Loop{Policy: &policy, Clock: clock, Rand: func() float64 { return 0 }}
	describe := httpretry.Describer{Policy: policy, Clock: clock}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	resp, record, err := retry.Do(ctx, loop, func(ctx context.Context, _ int) (*http.Response, retry.Outcome) {
		req, err := http.NewRequestWithContext(httpretry.Watch(ctx), http.MethodGet, server.URL, nil)
		if err != nil {
			return nil, retry.Outcome{Class: retry.ClassRequest, Err: err}
		}
		resp, err := client.Do(req)
		return resp, describe.Outcome(req, resp, err)
	}, httpretry.Discard)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = resp.Body.Close()
	fmt.Println(resp.StatusCode, record.Reason, len(record.Attempts), len(server.Log().Records))
	// Output:
	// 503 attempts_exhausted 3 3
}

func ExampleClassify() {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	fmt.Println(httpretry.Classify(refused))
	fmt.Println(httpretry.Classify(&net.DNSError{Err: "no such host", Name: "api.test", IsNotFound: true}))
	fmt.Println(httpretry.Classify(context.DeadlineExceeded))
	fmt.Println(httpretry.Classify(io.ErrUnexpectedEOF))
	// Output:
	// connect
	// nxdomain
	// timeout
	// truncated
}
