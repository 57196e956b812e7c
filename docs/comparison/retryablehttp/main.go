// Command retryablehttp is go-retryablehttp's client for the comparison: one
// request to the URL in MOCK_URL, three attempts. With METHOD=POST it sends a
// body, with KEY an Idempotency-Key. It is a module of its own, so that bide does
// not depend on it.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-retryablehttp"
)

func main() {
	c := retryablehttp.NewClient()
	c.RetryMax = 2
	c.Logger = nil
	var body any
	if os.Getenv("METHOD") == "POST" {
		body = []byte("amount=5")
	}
	req, err := retryablehttp.NewRequest(os.Getenv("METHOD"), os.Getenv("MOCK_URL"), body)
	if err != nil {
		fail(1, err)
	}
	if key := os.Getenv("KEY"); key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.Do(req)
	if err != nil {
		fail(1, err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		fail(18, err)
	}
	if resp.StatusCode >= 400 {
		fail(22, resp.Status)
	}
}

func fail(code int, why any) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(code)
}
