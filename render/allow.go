package render

import "strings"

// AllowedHeader reports whether an attempt's answer shows the named field in
// the timeline: ids of requests and traces, dates and ages, and all that
// providers say about their rate limits. extra adds names
// (--timeline-headers). Values still pass Redactor.HeaderValue.
func AllowedHeader(name string, extra []string) bool {
	name = strings.ToLower(name)
	for _, e := range extra {
		if strings.EqualFold(strings.TrimSpace(e), name) {
			return true
		}
	}
	switch name {
	case "date", "via", "age", "server-timing", "traceparent", "cf-ray", "idempotent-replayed",
		"retry-after", "retry-after-ms", "x-ms-retry-after-ms", "x-amz-id-2", "x-amz-cf-id", "x-cloud-trace-context":
		return true
	}
	if strings.HasPrefix(name, "ratelimit") || strings.HasPrefix(name, "x-ratelimit") || strings.HasPrefix(name, "x-rate-limit") {
		return true
	}
	bare := strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", "")
	for _, id := range [...]string{"requestid", "correlationid", "correlationrequestid", "traceid"} {
		if strings.HasSuffix(bare, id) {
			return true
		}
	}
	return false
}
