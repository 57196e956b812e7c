package cmd_test

import (
	"fmt"
	"net/http"
	"strings"
)

// differentialAnswer is what the recorder answers to the n-th request (from 0)
// for a path: generic ones by the path's words, else a row of differentialSite,
// else a small 200.
//
//	/status/404            404 with a small body
//	/redir/302/path        302 to /path
//	/redirabs/302/path     the same with an absolute URL
//	/basic                 401 without credentials, 200 with
func differentialAnswer(method, target string, n int, fields http.Header) string {
	if method == "CONNECT" {
		return connectAnswer(target, fields)
	}
	word, rest, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	switch word {
	case "status":
		return fmt.Sprintf("HTTP/1.1 %s Status\r\nContent-Length: 9\r\nContent-Type: text/plain\r\n\r\nbody %s\n", rest, rest)
	case "redir":
		status, path, _ := strings.Cut(rest, "/")
		if status == "304" {
			return "HTTP/1.1 304 Not Modified\r\nLocation: /" + path + "\r\n\r\n"
		}
		return fmt.Sprintf("HTTP/1.1 %s Moved\r\nLocation: /%s\r\nContent-Length: 6\r\n\r\nmoved\n", status, path)
	case "redirabs":
		status, path, _ := strings.Cut(rest, "/")
		return fmt.Sprintf("HTTP/1.1 %s Moved\r\nLocation: http://$H/%s\r\nContent-Length: 6\r\n\r\nmoved\n", status, path)
	case "basic":
		if fields.Get("Authorization") == "" {
			return "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 5\r\n\r\nauth\n"
		}
	case "digest":
		return digestAnswer(fields.Get("Authorization"), "WWW-Authenticate", 401)
	case "range":
		return rangeAnswer(fields.Get("Range"))
	}
	if answers, ok := differentialSite[target]; ok {
		return answers[min(n, len(answers)-1)]
	}
	return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Type: text/plain\r\n\r\nhello\n"
}

func connectAnswer(target string, fields http.Header) string {
	switch host, _, _ := strings.Cut(target, ":"); host {
	case "refused.test":
		return "HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno\n"
	case "unwell.test":
		return "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
	case "auth.test":
		if fields.Get("Proxy-Authorization") == "" {
			return "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
		}
	case "digest.test":
		if answer := digestAnswer(fields.Get("Proxy-Authorization"), "Proxy-Authenticate", 407); strings.HasPrefix(answer, "HTTP/1.1 407") {
			return answer
		}
	}
	return "HTTP/1.1 200 Connection established\r\nX-Proxy: here\r\n\r\n"
}

func digestAnswer(given, header string, status int) string {
	if !strings.HasPrefix(given, "Digest ") {
		return fmt.Sprintf("HTTP/1.1 %d Denied\r\n%s: Digest realm=\"area\", nonce=\"abc123\", qop=\"auth\", algorithm=MD5, opaque=\"op\"\r\nContent-Length: 5\r\n\r\nauth\n", status, header)
	}
	return "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nopened\n"
}

// rangeAnswer serves 0123456789.
func rangeAnswer(asked string) string {
	const all = "0123456789"
	var from, to int
	n, _ := fmt.Sscanf(asked, "bytes=%d-%d", &from, &to)
	if n == 1 {
		to = len(all) - 1
	}
	if to < from || from < 0 || strings.Contains(asked, ",") || asked == "" {
		return "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + all
	}
	if from >= len(all) {
		return "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */10\r\nContent-Length: 0\r\n\r\n"
	}
	part := all[from:min(to+1, len(all))]
	return fmt.Sprintf("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes %d-%d/10\r\nContent-Length: %d\r\n\r\n%s", from, from+len(part)-1, len(part), part)
}

// differentialSite are the answers that are not generic, one for each request
// for the path; the last one stays.
var differentialSite = map[string][]string{
	"/chunked":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;ext=1\r\n, world\r\n0\r\n\r\n"},
	"/trailers":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 42\r\n\r\n"},
	"/badchunk":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n<close>"},
	"/cutchunk":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel<close>"},
	"/short":       {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nonly this<close>"},
	"/excess":      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more<close>"},
	"/close":       {"HTTP/1.1 200 OK\r\n\r\nuntil the end<close>"},
	"/http10":      {"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold\n<close>"},
	"/nobody":      {"HTTP/1.1 204 No Content\r\n\r\n"},
	"/noreason":    {"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nok\n"},
	"/lf":          {"HTTP/1.1 200 OK\nContent-Length: 3\nX-Lf: yes\n\nlf\n"},
	"/fold":        {"HTTP/1.1 200 OK\r\nX-Folded: one\r\n  two\r\nContent-Length: 3\r\n\r\nok\n"},
	"/oddcase":     {"HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\nx-ODD:  spaced  \r\nX-Empty:\r\nX-Two: a\r\nX-Two: b\r\n\r\nok\n"},
	"/hints":       {"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"},
	"/notmodified": {"HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"},
	"/empty":       {"<close>"},
	"/reset":       {"<reset>"},
	"/garbage":     {"SMTP ready\r\n\r\n<close>"},
	"/http09":      {"<html>old</html>\n<close>"},
	"/badstatus":   {"HTTP/1.1 abc OK\r\n\r\n<close>"},
	"/http3x":      {"HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n<close>"},
	"/halfhead":    {"HTTP/1.1 200 OK\r\nContent-Le<close>"},
	"/longline":    {"HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("l", 120<<10) + "\r\nContent-Length: 3\r\n\r\nok\n<close>"},
	"/bighead":     {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Many: 0123456789012345678901234567890123456789\r\n", 7000) + "Content-Length: 3\r\n\r\nok\n<close>"},
	"/switch":      {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw<close>"},
	"/spacecolon":  {"HTTP/1.1 200 OK\r\nX-Space : v\r\nContent-Length: 3\r\n\r\nok\n"},
	"/nocolon":     {"HTTP/1.1 200 OK\r\nnocolon\r\nContent-Length: 3\r\n\r\nok\n<close>"},
	"/status99":    {"HTTP/1.1 099 Low\r\nContent-Length: 3\r\n\r\nok\n<close>"},
	"/hugelength":  {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok\n<close>"},
	"/samelengths": {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nok\n"},
	"/tegzip":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1a\r\n" + gzipHello + "\r\n0\r\n\r\n"},
	"/teodd":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: odd\r\n\r\nhello<close>"},
	"/nulhead":     {"HTTP/1.1 200 OK\r\nX-Nul: a\x00b\r\nContent-Length: 0\r\n\r\n<close>"},
	"/badlength":   {"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nhello<close>"},
	"/twolengths":  {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello<close>"},
	"/stall":       {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\npart<stall>"},
	"/silent":      {"<stall>"},
	"/binary":      {"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\x00\x01\xff\n"},
	"/gzip":        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 26\r\n\r\n" + gzipHello},
	"/cutgzip":     {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + gzipHello[:20]},
	"/moregzip":    {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 52\r\n\r\n" + gzipHello + gzipHello},
	"/gzipandmore": {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 33\r\n\r\n" + gzipHello + "garbage"},
	"/emptygzip":   {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"},
	"/badgzip":     {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"},
	"/oddcoding":   {"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 6\r\n\r\nuryyb\n"},
	"/identity":    {"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 6\r\n\r\nhello\n"},
	"/expect":      {"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"},
	"/no100":       {"HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig\n<close>"},
	"/loop":        {"HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n"},
	"/toftp":       {"HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n"},
	"/tofile":      {"HTTP/1.1 302 Found\r\nLocation: file:///etc/hostname\r\nContent-Length: 0\r\n\r\n"},
	"/tospace":     {"HTTP/1.1 302 Found\r\nLocation: /a b?c d#e f\r\nContent-Length: 0\r\n\r\n"},
	"/touserinfo":  {"HTTP/1.1 302 Found\r\nLocation: http://a:b@$H/x\r\nContent-Length: 0\r\n\r\n"},
	"/tofragment":  {"HTTP/1.1 302 Found\r\nLocation: /next#frag\r\nContent-Length: 0\r\n\r\n"},
	"/torelative":  {"HTTP/1.1 302 Found\r\nLocation: deeper/../other?x=1\r\nContent-Length: 0\r\n\r\n"},
	"/toquery":     {"HTTP/1.1 302 Found\r\nLocation: ?only=query\r\nContent-Length: 0\r\n\r\n"},
	"/toscheme":    {"HTTP/1.1 302 Found\r\nLocation: //$H/schemeless\r\nContent-Length: 0\r\n\r\n"},
	"/toutf8":      {"HTTP/1.1 302 Found\r\nLocation: /caf\xc3\xa9\r\nContent-Length: 0\r\n\r\n"},
	"/tobad":       {"HTTP/1.1 302 Found\r\nLocation: http://[bad/\r\nContent-Length: 0\r\n\r\n"},
	"/nolocation":  {"HTTP/1.1 302 Found\r\nContent-Length: 3\r\n\r\nno\n"},
	"/tolocalhost": {"HTTP/1.1 302 Found\r\nLocation: http://other.test:1/x\r\nSet-Cookie: host=only\r\nContent-Length: 0\r\n\r\n"},
	"/setcookie":   {"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Path=/deep\r\nSet-Cookie: c=3; Max-Age=0\r\nSet-Cookie: d=4; Expires=Fri, 01 Jan 2038 00:00:00 GMT; HttpOnly\r\nContent-Length: 3\r\n\r\nok\n"},
	"/setsecure":   {"HTTP/1.1 200 OK\r\nSet-Cookie: s=1; Secure\r\nSet-Cookie: dom=1; Domain=example.com\r\nContent-Length: 3\r\n\r\nok\n"},
	"/cookiehop":   {"HTTP/1.1 302 Found\r\nSet-Cookie: hop=yes; path=/\r\nLocation: /after\r\nContent-Length: 0\r\n\r\n"},
	"/dispo":       {"HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"named.txt\"\r\nContent-Length: 3\r\n\r\nok\n"},
	"/dispopath":   {"HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"../../x/evil.txt\"\r\nContent-Length: 3\r\n\r\nok\n"},
	"/dated":       {"HTTP/1.1 200 OK\r\nLast-Modified: Tue, 15 Nov 1994 12:45:26 GMT\r\nContent-Length: 3\r\n\r\nok\n"},
	"/etag":        {"HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 3\r\n\r\nok\n"},
	"/weaketag":    {"HTTP/1.1 200 OK\r\nETag: W/\"v2\"\r\nContent-Length: 3\r\n\r\nok\n"},
	"/retryafter":  {"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 3\r\n\r\nno\n"},
	"/connclose":   {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nok\n<close>"},
}

// gzipHello is "hello\n", compressed without a name or time.
const gzipHello = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06\x00\x00\x00"
