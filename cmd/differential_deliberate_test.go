package cmd_test

// deliberate is a case in which bide differs from curl on purpose.
type deliberate struct {
	in  string // what differs, in the order of seen.parts
	row string // of the table in docs/from-curl.md, which says why
}

// deliberateDifferences are all of them, by case. A row whose case no longer
// differs, or differs in something else, fails the test.
var deliberateDifferences = map[string]deliberate{
	"f-500": {"exit code, stderr", "exit code of HTTP errors"},

	"next-fail": {"exit code", "exit code of several URLs"},
	"many-fail": {"exit code", "exit code of several URLs"},

	"short":       {"stdout", "stdout"},
	"stall-m":     {"stdout", "stdout"},
	"cutchunk":    {"stdout", "stdout"},
	"badchunk":    {"stdout", "stdout"},
	"https-short": {"stdout", "stdout"},
	"short-i":     {"stdout", "stdout"},
	"cutchunk-D":  {"stdout", "stdout"},

	"f-o":           {"stderr", "`-o F`"},
	"notmodified-o": {"stderr", "`-o F`"},
	"short-o":       {"files", "`-o F`"},
	"L-max-o":       {"files", "`-o F`"},

	"C-file":            {"stderr", "`-C -`"},
	"C-file-i":          {"stderr", "`-C -`"},
	"C-d":               {"exit code, stderr", "`-C` with `-d`, `-r`, `-I`, `-J`, `--raw` or another method than GET"},
	"C-no-clobber":      {"requests, exit code, stderr, files", "`-C` with `--no-clobber` or `--remove-on-error`"},
	"C-remove-on-error": {"requests, exit code, stderr, files", "`-C` with `--no-clobber` or `--remove-on-error`"},
	"C-T-L":             {"requests", "`-C` with `-T` and a redirect"},

	"compressed-cut":      {"exit code, stdout, stderr", "a coded body that is cut off, or has more behind its end"},
	"compressed-members":  {"exit code, stdout, stderr", "a coded body that is cut off, or has more behind its end"},
	"compressed-and-more": {"exit code, stdout, stderr", "a coded body that is cut off, or has more behind its end"},

	"L-cookie-b-other": {"requests", "cookies of `-b` text"},

	"d-file-missing":     {"requests, exit code, stdout, stderr", "a file that cannot be read"},
	"H-file-missing":     {"requests, exit code, stdout, stderr", "a file that cannot be read"},
	"w-file-missing":     {"requests, exit code, stdout, stderr", "a file that cannot be read"},
	"T-missing":          {"stderr", "a file that cannot be read"},
	"netrc-file-missing": {"requests, exit code, stdout, stderr", "a file that cannot be read"},
	"b-file-missing":     {"stderr", "a file that cannot be read"},

	"c-unwritable": {"exit code, stderr", "a file that cannot be written"},
	"D-bad":        {"exit code, stderr", "a file that cannot be written"},

	"config-dashes": {"requests, stderr", "`--option=value`"},
	"o-long-equals": {"requests, exit code, stderr, files", "`--option=value`"},

	"parsing-ambiguous": {"requests, exit code, stdout, stderr", "abbreviated options"},

	"H-no-colon":            {"requests, exit code, stdout, stderr", "header lines that are none"},
	"H-space-name":          {"requests, exit code, stdout, stderr", "header lines that are none"},
	"parsing-unicode-quote": {"requests, exit code, stdout, stderr", "header lines that are none"},

	"config-stdin": {"requests, exit code, stdout, stderr", "what is wrong in a config file"},

	"connect-to-bad":           {"requests, exit code, stdout, stderr", "malformed `--connect-to`, `--cert-type`"},
	"cert-type-bad":            {"exit code, stderr", "malformed `--connect-to`, `--cert-type`"},
	"capath-none":              {"exit code, stderr", "a file that cannot be read"},
	"d-at-file-equals":         {"requests, exit code, stdout, stderr", "`--option=value`"},
	"https-proxy-cert-missing": {"stderr", "error and warning texts"},

	"put-T-stdin-307": {"requests, exit code, stdout, stderr", "a redirected `-T -`"},

	"next-first":    {"requests, exit code, stdout, stderr", "`--next` without a URL before or after it"},
	"next-trailing": {"requests, stdout", "`--next` without a URL before or after it"},

	"sigv4-s3": {"requests", "`--aws-sigv4` for s3"},

	"T": {"requests", "`Expect: 100-continue`"},

	"d-chunked-big": {"requests", "chunks of an upload"},
	"d-chunked-10":  {"requests", "chunks of an upload"},

	"d-417":     {"requests", "417"},
	"d-big-417": {"requests", "417"},

	"twolengths": {"exit code, stdout, stderr", "answers that contradict themselves"},
	"hugelength": {"exit code, stdout, stderr", "answers that contradict themselves"},
	"switch":     {"exit code, stdout, stderr", "answers that contradict themselves"},
	"tegzip":     {"exit code, stdout, stderr", "a transfer coding that was not asked for"},
	"teodd":      {"stderr", "a transfer coding that was not asked for"},
	"longline":   {"exit code, stderr", "a header line over 100 KiB"},
	"halfhead":   {"exit code, stderr", "answers that contradict themselves"},

	"L-ftp": {"exit code, stderr", "other protocols"},

	"parsing-abbreviated":  {"stderr", "errors of usage"},
	"local-port-bad":       {"stderr", "errors of usage"},
	"tls-max-bad":          {"stderr", "errors of usage"},
	"parsing-empty-o":      {"stderr", "error and warning texts"},
	"O-no-name":            {"requests, exit code, stderr, files", "`-O` and a URL without a file name"},
	"O-slash":              {"requests, exit code, stderr, files", "`-O` and a URL without a file name"},
	"O-dotdot":             {"requests, stderr", "error and warning texts"},
	"o-dir":                {"stderr", "error and warning texts"},
	"o-output-dir-missing": {"stderr", "error and warning texts"},
	"https-cert-missing":   {"stderr", "error and warning texts"},
	"badstatus":            {"stderr", "error and warning texts"},
	"stderr-file":          {"files", "error and warning texts"},
	"stderr-stdout":        {"stdout", "error and warning texts"},

	"v-basic":             {"stderr", "`-v`"},
	"v-expect":            {"stderr", "`-v`, `--trace`"},
	"v-f":                 {"stderr", "`-v`, `--trace`"},
	"v-empty":             {"stderr", "`-v`, `--trace`"},
	"v-short":             {"stdout", "stdout"},
	"v-hints":             {"stderr", "`-v`, `--trace`"},
	"v-trailers":          {"stderr", "`-v`, `--trace`"},
	"trace-ascii-chunked": {"files", "`-v`, `--trace`"},

	"max-filesize-chunked": {"exit code, stdout, stderr", "`--max-filesize`"},

	"F-chunked":            {"requests", "a multipart boundary"},
	"F-content-type-empty": {"requests", "a multipart boundary"},
	"F-quoted-printable":   {"requests", "a multipart boundary"},
	"F-missing":            {"stderr", "a file that cannot be read"},
	"F-and-I":              {"stderr", "error and warning texts"},
	"F-bad-name":           {"stderr", "error and warning texts"},
	"F-bad-type":           {"stderr", "error and warning texts"},
	"F-bad-group":          {"stderr", "error and warning texts"},
	"etag-save-bad":        {"stderr", "error and warning texts"},
	"J-exists":             {"stderr", "error and warning texts"},
	"limit-rate-bad":       {"stderr", "error and warning texts"},
	"proto-redir":          {"stderr", "error and warning texts"},
	"z-304":                {"stderr", "`-o F`"},
	"z-newer-o":            {"stderr", "`-o F`"},
	"remove-on-error":      {"stderr", "`-o F`"},
	"speed-slow":           {"stdout", "stdout"},
	"etag-compare-missing": {"requests, exit code, stdout, stderr", "`--etag-compare F`, F not there"},

	"fail-both": {"requests, exit code, stdout, stderr", "`-f` with `--fail-with-body`"},

	"T-query": {"requests", "`-T` and a URL that ends in `/` and has a query"},
	"J-i":     {"requests, exit code, stderr, files", "`-J` with `-i`"},

	"w-many":        {"stdout", "`-w`"},
	"https-w":       {"stdout", "`-w`"},
	"w-json":        {"stdout", "`-w`"},
	"w-header-json": {"stdout", "`-w`"},
	"w-url-parts":   {"stdout, stderr", "`-w`"},

	"c-stdout": {"stdout", "a cookie's life"},
}

// sameAsCurl are cases of deliberateDifferences that --as-curl makes the same.
var sameAsCurl = []string{
	"short", "stall-m", "cutchunk", "badchunk", "https-short", "short-i", "cutchunk-D", "v-short",
	"hugelength", "C-file", "C-file-i", "short-o", "L-max-o", "f-o", "v-basic",
}
