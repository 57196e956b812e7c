package soak

import (
	"testing"

	"github.com/bidehttp/bide/cmd"
)

// TestFound plays scenarios that once told client and model apart, or that a
// rule is about: what the soak has found stays found.
func TestFound(t *testing.T) {
	at := func(st step, location string, after ...string) step {
		st.location, st.retryAfter = location, after
		return st
	}
	cut := func(status int, size, n int64) step {
		return step{status: status, body: content{size: size}, fault: faultTruncate, cut: n, etag: `"v1"`}
	}
	ranged := func(size int64) step {
		return step{status: 200, body: content{size: size}, ranges: true, etag: `"v1"`}
	}
	post, follow, quick := option{"-d", bodyText}, option{"-L", ""}, option{"--base", "0"}
	for name, c := range map[string]struct {
		steps    []step
		flags    []option
		requests int
		reason   string
	}{
		"R1.2a_redirects_before_the_new_start_count": {
			[]step{at(plain(303), "/b"), plain(503), at(plain(302), "/c"), plain(200)},
			[]option{post, follow, quick, {"--max-redirs", "1"}}, 3, "redirect_error",
		},
		"R2.2c_error_body_beside_a_file":   {[]step{cut(404, 100, 10)}, []option{quick, {"-o", "{dir}/out"}}, 1, "http_error"},
		"R2.2c_error_body_dropped":         {[]step{cut(404, 100, 10)}, []option{quick, {"-f", ""}}, 1, "http_error"},
		"R2.2c_error_body_shown":           {[]step{cut(404, 100, 10)}, []option{quick}, 3, "attempts_exhausted"},
		"R2.2c_error_body_as_output":       {[]step{cut(404, 100, 10)}, []option{quick, {"--fail-with-body", ""}}, 3, "attempts_exhausted"},
		"R2.2c_body_of_a_transient_status": {[]step{cut(503, 100, 10)}, []option{quick}, 3, "attempts_exhausted"},
		"R2.4e_keyed_post_before_the_get": {
			[]step{at(plain(303), "/b"), cut(200, 100, 10), at(plain(303), "/b"), ranged(100)},
			[]option{post, follow, quick, {"--idempotency-key", "k"}}, 4, "success",
		},
		"R2.4e_post_that_is_not_sent_again": {
			[]step{at(plain(303), "/b"), cut(200, 100, 10), ranged(100)},
			[]option{post, follow, quick}, 3, "success",
		},
		"R2.4e_growth_over_what_was_held_before": {
			[]step{cut(200, 1000, 500), {status: 200, body: content{size: 1000}, fault: faultTruncate, cut: 400, etag: `"v2"`}},
			[]option{quick}, 3, "attempts_exhausted",
		},
		"R4.0a_committed_after_the_time_limits": {
			[]step{{status: 200, body: content{size: 100}, fault: faultTruncate, cut: 10}},
			[]option{{"-N", ""}, {"--deadline", "1"}}, 1, "deadline_before_retry",
		},
		"R4.0a_committed_within_them": {
			[]step{{status: 200, body: content{size: 100}, fault: faultTruncate, cut: 10}},
			[]option{{"-N", ""}, {"--deadline", "5"}}, 1, "output_committed",
		},
		"R5.6a_pause_outlasts_the_attempt": {
			[]step{at(plain(303), "/b", "3"), plain(200)},
			[]option{follow, quick, {"-m", "1"}}, 2, "success",
		},
		"R5.6a_redirect_over_the_cap": {
			[]step{at(plain(302), "/b", "3")}, []option{follow, {"--cap", "2"}, {"-o", "{dir}/out"}}, 1, "retry_after_exceeds_cap",
		},
		"R2.4d_a_part_that_breaks_its_framing": {
			[]step{cut(200, 1000, 9), {status: 206, fields: []option{{"Content-Range", "bytes 9-999/1000"}}, chunked: true, fault: faultGarbage, body: content{size: 20}}, ranged(1000)},
			[]option{quick}, 3, "success",
		},
		"R2.4d_an_error_that_breaks_off": {
			[]step{cut(200, 100, 10), cut(404, 100, 20), plain(200)}, []option{{"--jitter", "0"}}, 3, "success",
		},
		"R4.12e_start_at_another_origin": {
			[]step{at(plain(303), "@@/b"), at(plain(303), "/c", "3"), plain(200)},
			[]option{post, follow, quick, {"-m", "1"}}, 3, "success",
		},
		"R6.4a_vouching_is_no_patience":  {[]step{plain(503)}, []option{{"-m", "2"}, {"--idempotent", ""}}, 2, "deadline_before_retry"},
		"R6.4a_a_ratio_is":               {[]step{plain(503)}, []option{{"-m", "2"}, {"--jitter", "0"}}, 3, "attempts_exhausted"},
		"R7.6a_credentials_come_back":    {[]step{at(plain(307), "@@/b"), at(plain(307), "@/c"), plain(200)}, []option{follow, {"-H", "Authorization: Bearer " + secret}}, 3, "success"},
		"R7.6a_the_key_does_not":         {[]step{at(plain(307), "@@/b"), at(plain(307), "@/c"), plain(503)}, []option{post, follow, {"--idempotency-key", "k"}}, 3, "unsafe_method"},
		"R10.3d_polling_given_up":        {[]step{plain(202)}, []option{quick, {"--retry-on", "+202"}, {"-o", "{dir}/out"}}, 3, "attempts_exhausted"},
		"R9.3c_cut_at_the_limit":         {[]step{cut(200, 1<<20+5, 1<<20), plain(200)}, []option{quick}, 2, "success"},
		"R9.3c_nothing_has_come":         {[]step{cut(200, 100, 0), plain(200)}, []option{quick, {"-N", ""}}, 2, "success"},
		"closed_within_the_status_line":  {[]step{{status: 200, fault: faultCloseAfter, cut: 3, body: content{size: -1}}}, []option{quick}, 3, "attempts_exhausted"},
		"closed_after_an_early_answer":   {[]step{{status: 201, fault: faultLost, effect: true, body: content{size: -1}}}, []option{quick, {"-T", "-"}}, 3, "attempts_exhausted"},
		"R9.2_headers_after_a_cut_body":  {[]step{cut(206, 100, 0), at(plain(303), "/b")}, []option{quick, follow, {"-i", ""}, {"--max-redirs", "0"}}, 2, "redirect_error"},
		"R2.4d_the_body_is_there_by_416": {[]step{cut(200, 100, 99), {status: 416, fields: []option{{"Content-Range", "bytes */99"}}, body: content{size: -1}}}, []option{quick}, 2, "success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends(t, &scenario{steps: c.steps, flags: c.flags}, c.requests, c.reason)
		})
	}
}

// ends plays a scenario, and fails where it differs from the model or ends otherwise.
func ends(t *testing.T, s *scenario, requests int, reason string) {
	t.Helper()
	got, err := play(s, 1, cmd.Main)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ(s, predict(s, got), got) {
		t.Error(d)
	}
	if last := got.runs[len(got.runs)-1].reason; last != reason || len(got.requests) != requests {
		t.Errorf("%d requests, %s; want %d, %s\n%s", len(got.requests), last, requests, reason, s)
	}
}

// TestFoundAcrossRuns is TestFound for -C -.
func TestFoundAcrossRuns(t *testing.T) {
	piece := func(n int64) step {
		return step{status: 200, body: content{size: 5000}, ranges: true, etag: `"v1"`, fault: faultTruncate, cut: n}
	}
	whole := step{status: 200, body: content{size: 5000}, ranges: true, etag: `"v1"`}
	old := "0123456789"
	for name, c := range map[string]struct {
		steps    []step
		runs     int
		existing *string
		requests int
		reason   string
	}{
		"R2.4e_what_was_left_is_no_growth": {[]step{piece(24)}, 2, nil, 6, "attempts_exhausted"},
		"R2.4_growth_in_the_second_run":    {[]step{piece(24), piece(24), piece(24), piece(100), whole}, 2, nil, 5, "success"},
		"R2.4d_another_version":            {[]step{piece(24), piece(24), piece(24), {status: 200, etag: `"v2"`, body: content{version: 2, size: 700}}}, 2, nil, 4, "success"},
		"cli_files_without_a_record":       {[]step{whole}, 1, &old, 1, "success"},
		"cli_files_no_ranges":              {[]step{{status: 200, body: content{size: 5000}}}, 1, &old, 1, "transport_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := []option{{"--base", "0"}, {"-o", "{dir}/" + outName}, {"-C", "-"}}
			ends(t, &scenario{steps: c.steps, flags: flags, runs: c.runs, existing: c.existing}, c.requests, c.reason)
		})
	}
}
