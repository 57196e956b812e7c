package exitcode

import "github.com/bidehttp/bide/retry"

// Entry is one row of the table that --help, the man page, docs/exit-codes.md
// and the tests share.
type Entry struct {
	Code    Code
	Meaning string
}

// Table returns the exit codes in ascending order.
func Table() []Entry {
	return []Entry{
		{OK, "success"},
		{BadProtocol, "unsupported protocol, or --checksum does not match"},
		{Usage, "usage error; nothing was sent"},
		{BadURL, "malformed URL; nothing was sent"},
		{ResolveProxy, "the proxy's name could not be resolved"},
		{Resolve, "the host's name could not be resolved"},
		{Connect, "could not connect to any address"},
		{WeirdReply, "the answer is not HTTP that can be read"},
		{HTTP2, "HTTP/2 framing error"},
		{Truncated, "the body is incomplete"},
		{HTTPError, "final HTTP status of 400 or above"},
		{Output, "the output could not be written"},
		{Upload, "the upload cannot be done: a body of unknown length needs HTTP/1.1"},
		{Input, "a request body or input file could not be read"},
		{OutOfMemory, "out of memory"},
		{Timeout, "a time limit or the deadline was reached"},
		{Range, "the server does not do ranges"},
		{TLS, "TLS handshake failed"},
		{BadOption, "an option that the library underneath refuses"},
		{Interface, "the outgoing interface could not be used"},
		{TooManyRedirect, "too many redirects, or a next page (--paginate) that is refused"},
		{ResolveSyntax, "--resolve or --connect-to is malformed; nothing was sent"},
		{Empty, "the server answered nothing"},
		{Engine, "there is no such crypto engine"},
		{Send, "sending failed"},
		{Recv, "receiving failed, or a proxy refused the tunnel"},
		{ClientCert, "problem with the client certificate"},
		{Cipher, "the TLS cipher could not be used"},
		{Cert, "the server's certificate is not trusted"},
		{Decode, "the content coding could not be decoded, or a page is not what --slurp wants"},
		{TooLarge, "the body is over --max-filesize"},
		{Rewind, "the request body could not be sent again"},
		{Login, "login was denied"},
		{Temporary, "a transient status at the end of attempts, cap, time or budget: a later run may succeed"},
		{CACert, "problem with the CA certificates"},
		{CRL, "the file of revoked certificates could not be read"},
		{PinMismatch, "the server's public key is not the pinned one"},
		{HTTP2Stream, "HTTP/2 stream error"},
		{HTTP3, "HTTP/3 error"},
		{QUICConnect, "the QUIC connection could not be made"},
		{Proxy, "the proxy handshake failed"},
		{TooMuch, "an answer's head is larger than allowed"},
		{Interrupted, "interrupted by SIGINT"},
		{Terminated, "ended by SIGTERM"},
	}
}

// ForClass is the exit code of a failure of class c where its error does not
// name a more exact one (contract §3).
func ForClass(c retry.Class) Code {
	switch c {
	case retry.ClassNone:
		return OK
	case retry.ClassStatus:
		return HTTPError
	case retry.ClassResolve, retry.ClassNXDomain:
		return Resolve
	case retry.ClassConnect, retry.ClassProxy:
		return Connect
	case retry.ClassTLS:
		return TLS
	case retry.ClassCert:
		return Cert
	case retry.ClassProxyRefused, retry.ClassProtocol:
		return Recv
	case retry.ClassRefused:
		return HTTP2Stream
	case retry.ClassClosed:
		return Empty
	case retry.ClassTimeout:
		return Timeout
	case retry.ClassTruncated:
		return Truncated
	case retry.ClassRedirect:
		return TooManyRedirect
	case retry.ClassDecode:
		return Decode
	case retry.ClassChecksum:
		return BadProtocol
	case retry.ClassSize:
		return TooLarge
	case retry.ClassInput:
		return Input
	case retry.ClassOutput:
		return Output
	case retry.ClassCanceled:
		return Interrupted
	default:
		return Usage
	}
}

// Coder is an error that knows its own exit code.
type Coder interface{ ExitCode() Code }
