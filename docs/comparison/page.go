package main

import (
	"fmt"
	"strings"
)

// matrixRows are the rows of bide mock's matrix in words; a test holds them
// complete.
func matrixRows() [][2]string {
	return [][2]string{
		{"500", "500 twice, then 200: retried"}, {"502", "502 likewise"}, {"503", "503 likewise"},
		{"waits-grow", "the waits between them grow"},
		{"429-seconds", "429 with Retry-After in seconds: not earlier"}, {"429-date", "429 with Retry-After as a date: not earlier"},
		{"400", "400: asked once, and fails"}, {"403", "403 likewise"}, {"404", "404 likewise"},
		{"transport", "a reset connection: retried"}, {"truncated", "a body cut off, no ranges: retried"},
		{"never-recovers", "a server that never recovers: three attempts, and fails"},
		{"huge-retry-after", "a Retry-After of a day: neither slept through nor early"},
	}
}

// markdown is the page.
func markdown(found []measured) string {
	var b strings.Builder
	b.WriteString(intro)
	for _, m := range found {
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", m.Name, m.Version, m.Shown)
	}
	b.WriteString("\n## Who keeps which row\n\n| |")
	for _, m := range found {
		fmt.Fprintf(&b, " %s |", m.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(found)) + "\n")
	all := matrixRows()
	for _, r := range rows() {
		all = append(all, [2]string{r.name, r.wants})
	}
	for _, r := range all {
		fmt.Fprintf(&b, "| %s |", r[1])
		for _, m := range found {
			b.WriteString(map[bool]string{true: " yes |", false: " – |"}[m.Rows[r[0]].OK])
		}
		b.WriteString("\n")
	}
	b.WriteString("| **kept of " + fmt.Sprint(len(all)) + "** |")
	for _, m := range found {
		kept := 0
		for _, r := range all {
			if m.Rows[r[0]].OK {
				kept++
			}
		}
		fmt.Fprintf(&b, " **%d** |", kept)
	}
	b.WriteString("\n\n## What they do instead\n\n")
	for _, m := range found {
		var parts []string
		for _, r := range all {
			if c := m.Rows[r[0]]; !c.OK {
				parts = append(parts, r[0]+": "+c.Why)
			}
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "- **%s**: %s.\n", m.Name, strings.Join(parts, "; "))
		}
	}
	b.WriteString(better)
	return b.String()
}

const intro = `<!-- Generated: go run ./docs/comparison. Do not edit. -->

# Other clients, by the same scripts

Each client does one request with three attempts against ` + "[`bide mock`](mock.md)" + `: the rows of ` + "`bide mock --conformance`" + ` and a few scripts beside
it. Anyone can run it again, with curl, wget, Python's urllib3, Node with npm, and Go installed:

` + "```" + `
go run ./docs/comparison            # writes this page
go run ./docs/comparison -check     # holds bide, and clients of these versions, to it
` + "```" + `

The commands are [here](comparison/clients.go), the programs for the libraries beside it. They are told to
retry by what the table shows and no more; with more code some can do better, and a row says what is right for an unattended script, which is
not what each of them is made for.

| client | version | told to retry by |
|---|---|---|
`

const better = `
## Where others are better

- **curl** speaks some 28 protocols, runs everywhere, has more than 25 years of fixes and is installed already. Its --retry is enough where the server
  is yours, the request is a GET and the answer is small. (With --fail it drops the connection of an answer that failed; without, it keeps it.)
- **wget** goes on with a download that was cut off, in one process and across runs, and mirrors whole sites, which bide does not.
- **urllib3** and **undici** sit inside a program: budgets per kind of failure (connect, read, status, redirect), a subclass or a callback for
  each decision, pools shared by all requests, streams that an application reads while they come. undici goes on with a body that was cut off
  while the reader goes on reading.
- **go-retryablehttp** is a drop-in for net/http's client with hooks for the decision and the wait; ` + "`retry/httpretry`" + ` is bide's answer, and the
  younger one.
- A client that retries a POST without a key gets an answer more often. bide does that only when it is told that it may (` + "`--idempotent`" + `,
  ` + "`--safe-on`" + `), and otherwise fails with a message: where doing a thing twice is harmless, that is one flag more.
- bide waits longer: at least what the server says, its own backoff where that is longer, and jitter above both.
`
