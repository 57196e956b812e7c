package transport

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/auth"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// errReconnect: the proxy closes after its challenge, which is to be answered on
// another connection.
var errReconnect = errors.New("the proxy closed the connection after its challenge")

// challenged reports whether the CONNECT answer at hand is a challenge that can
// be answered.
func (m *maker) challenged() bool {
	if m.facts.ProxyStatus != 407 || m.tunnelAuth == nil || len(m.facts.ProxyBlocks) == 0 {
		return false
	}
	block := m.facts.ProxyBlocks[len(m.facts.ProxyBlocks)-1]
	if !m.tunnelAuth.Challenged(fieldValues(block, "Proxy-Authenticate")) {
		return false
	}
	m.challenges++
	return m.challenges <= auth.MaxChallenges
}

// readOn passes over the body of the challenge, so that its connection can
// carry the answer; errReconnect where it cannot.
func (m *maker) readOn(br *bufio.Reader) *Error {
	block := m.facts.ProxyBlocks[len(m.facts.ProxyBlocks)-1]
	again := m.fail(retry.ClassProxy, exitcode.Recv, retry.PhaseConnect, "Proxy CONNECT aborted", errReconnect)
	options := strings.ToLower(strings.Join(append(fieldValues(block, "Connection"), fieldValues(block, "Proxy-Connection")...), ","))
	if strings.Contains(options, "close") || strings.HasPrefix(string(block), "HTTP/1.0") && !strings.Contains(options, "keep-alive") {
		return again
	}
	var err error
	if strings.Contains(strings.ToLower(strings.Join(fieldValues(block, "Transfer-Encoding"), ",")), "chunked") {
		err = skipChunks(br, maxConnectHead)
	} else if lengths := fieldValues(block, "Content-Length"); len(lengths) > 0 {
		err = skipBytes(br, lengths[0], 10)
	} else {
		err = errReconnect
	}
	if err != nil {
		return again
	}
	return nil
}

var errLongBody = errors.New("the body is too long to be passed over")

// skipBytes passes over as many bytes as text says, in that base.
func skipBytes(br *bufio.Reader, text string, base int) error {
	n, err := strconv.ParseUint(strings.TrimSpace(text), base, 31)
	if err != nil {
		return err
	}
	if n > maxConnectHead {
		return errLongBody
	}
	_, err = io.CopyN(io.Discard, br, int64(n))
	return err
}

// skipChunks passes over a chunked body and its trailer (RFC 9112 §7.1).
func skipChunks(br *bufio.Reader, limit int) error {
	for last := false; ; {
		line, err := br.ReadSlice('\n')
		if err != nil {
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if limit -= len(line); limit < 0 {
			return errLongBody
		}
		if last {
			if text == "" {
				return nil
			}
			continue
		}
		size, _, _ := strings.Cut(text, ";")
		if last = strings.Trim(strings.TrimSpace(size), "0") == ""; last {
			continue
		}
		before := br.Buffered()
		if err := skipBytes(br, size, 16); err != nil {
			return err
		}
		limit -= before
		if _, err := br.ReadSlice('\n'); err != nil {
			return err
		}
	}
}
