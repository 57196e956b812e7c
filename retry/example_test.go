package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

// A pure decision: what would happen after a second 503 that names 3 seconds.
func ExamplePolicy_Decide() {
	p := retry.DefaultPolicy()
	o := retry.Outcome{
		Class: retry.ClassStatus, Status: 503, Method: "GET",
		Server: retry.Server{Header: "Retry-After", Raw: "3", Kind: "seconds", Minimum: 3 * time.Second, Valid: true},
	}
	d := p.Decide(retry.State{Failures: 2, Counted: 2}, o, 0.5)
	fmt.Println(d.Retry, d.Wait, d.Source)

	o.Method = "POST"
	fmt.Println(p.Decide(retry.State{Failures: 2, Counted: 2}, o, 0.5).Reason)
	// Output:
	// true 3.3s server
	// unsafe_method
}

// A loop around anything that can be described as an Outcome. A program uses
// retry.SystemClock and a random source of its own.
func ExampleDo() {
	clock := retrytest.NewFakeClock(time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC))
	clock.AutoAdvance(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // ends the last attempt's context, too

	policy := retry.DefaultPolicy()
	loop := retry.Loop{Policy: &policy, Clock: clock, Rand: func() float64 { return 0 }}
	answers := []int{503, 429, 200}
	status, record, err := retry.Do(ctx, loop, func(ctx context.Context, n int) (int, retry.Outcome) {
		code := answers[n-1]
		return code, retry.Outcome{Class: policy.StatusClass(code), Status: code, Method: "GET"}
	}, nil)
	fmt.Println(status, record.Reason, record.Waited, err)
	// Output:
	// 200 success 3s <nil>
}

// Editing the default list, as --retry-on does.
func ExampleParseRetryOn() {
	set, err := retry.ParseRetryOn("+202,-500,-resolve", retry.DefaultRetryOn())
	fmt.Println(set, err)
	_, err = retry.ParseRetryOn("503,+429", retry.DefaultRetryOn())
	fmt.Println(err)
	// Output:
	// 202,408,425,429,502,503,504,connect,tls,proxy,refused,closed,timeout,truncated <nil>
	// "503,+429" mixes items with and without a sign: either edit the default list (+x, -x) or replace it (x)
}
