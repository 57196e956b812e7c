// Package exitcode is the one table of exit codes: contract §3 and R10.3.
package exitcode

// Code is a process exit code.
type Code int

// The exit codes. Names follow curl's meaning where the number is curl's.
const (
	OK              Code = 0
	BadProtocol     Code = 1 // unsupported protocol; also a checksum mismatch
	Usage           Code = 2
	BadURL          Code = 3
	ResolveProxy    Code = 5
	Resolve         Code = 6
	Connect         Code = 7
	WeirdReply      Code = 8
	HTTP2           Code = 16
	Truncated       Code = 18
	HTTPError       Code = 22
	Output          Code = 23
	Upload          Code = 25
	Input           Code = 26
	OutOfMemory     Code = 27
	Timeout         Code = 28
	Range           Code = 33
	TLS             Code = 35
	BadOption       Code = 43
	Interface       Code = 45
	TooManyRedirect Code = 47
	ResolveSyntax   Code = 49
	Empty           Code = 52
	Engine          Code = 53 // of curl's --engine
	Send            Code = 55
	Recv            Code = 56
	ClientCert      Code = 58
	Cipher          Code = 59
	Cert            Code = 60
	Decode          Code = 61
	TooLarge        Code = 63
	Rewind          Code = 65
	Login           Code = 67
	Temporary       Code = 75 // EX_TEMPFAIL: a later run may succeed
	CACert          Code = 77
	CRL             Code = 82
	PinMismatch     Code = 90
	HTTP2Stream     Code = 92
	HTTP3           Code = 95
	QUICConnect     Code = 96
	Proxy           Code = 97
	TooMuch         Code = 100
	Interrupted     Code = 130
	Terminated      Code = 143
)
