package formdata

import (
	"bufio"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// maxHeaders bounds a file of headers; no server takes a tenth of it.
const maxHeaders = 1 << 20

// readHeaders reads a file of headers: one a line, a line that starts with a
// blank continues the one before, "#" in the first column starts a comment.
func readHeaders(r io.Reader) ([]string, error) {
	var lines []string
	current := ""
	flush := func() {
		if h := strings.TrimRight(current, spaces); h != "" {
			lines = append(lines, h)
		}
		current = ""
	}
	s := bufio.NewScanner(bounded.Reader(r, maxHeaders))
	s.Buffer(nil, maxHeaders+1)
	for s.Scan() {
		line := strings.ReplaceAll(s.Text(), "\r", "")
		if line == "" {
			continue
		}
		if !isSpace(line[0]) {
			flush()
		}
		if line[0] != '#' {
			current += line
		}
	}
	flush()
	return lines, s.Err()
}

// find gives the value of the first header of that name.
func find(headers []string, name string) (string, bool) {
	for _, h := range headers {
		if isHeader(h, name) {
			return strings.TrimLeft(h[len(name)+1:], " "), true
		}
	}
	return "", false
}

func isHeader(line, name string) bool {
	return len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(line[:len(name)], name)
}

// matches reports whether the media type of a Content-Type value is want.
func matches(contentType, want string) bool {
	if len(contentType) < len(want) || !strings.EqualFold(contentType[:len(want)], want) {
		return false
	}
	return len(contentType) == len(want) || strings.IndexByte(" \t\r\n;", contentType[len(want)]) >= 0
}

// guess is curl's small table of file names' ends.
func guess(filename string) string {
	table := [...]struct{ end, contentType string }{
		{".gif", "image/gif"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".png", "image/png"},
		{".svg", "image/svg+xml"}, {".txt", "text/plain"}, {".htm", "text/html"}, {".html", "text/html"},
		{".pdf", "application/pdf"}, {".xml", "application/xml"},
	}
	for _, row := range table {
		if n := len(filename) - len(row.end); n >= 0 && strings.EqualFold(filename[n:], row.end) {
			return row.contentType
		}
	}
	return ""
}
