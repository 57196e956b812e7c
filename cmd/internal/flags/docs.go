package flags

import (
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

//go:generate go run ./gen

// Artifact is a file that is generated from the flag table.
type Artifact struct {
	Path  string // from the module's root, with slashes
	Write func(io.Writer) error
}

// Artifacts lists the generated files. They depend on the tables alone: no
// date, no version. A test holds the committed ones current.
func Artifacts() []Artifact {
	completion := func(shell string) func(io.Writer) error {
		return func(w io.Writer) error { return WriteCompletion(w, shell) }
	}
	return []Artifact{
		{"completion/bide.bash", completion("bash")},
		{"completion/bide.zsh", completion("zsh")},
		{"completion/bide.fish", completion("fish")},
		{"completion/bide.ps1", completion("powershell")},
		{"docs/reference.md", WriteReference},
		{"docs/exit-codes.md", WriteExitCodes},
		{"docs/man/bide.1", WriteMan},
	}
}

// files are the config files, for the man page and the reference.
func files() [][2]string {
	return [][2]string{
		{"$XDG_CONFIG_HOME/bide/config", "The default config file; without that variable ~/.config/bide/config. One flag a line, in curl's notation. -q as the first flag skips it. Command-line flags win over variables, variables over config files."},
	}
}

// examples are command lines with what they do, for the man page.
func examples() [][2]string {
	return [][2]string{
		{"bide https://api.example.com/items", "Up to 3 attempts at what is transient; the last answer's body to standard output."},
		{"bide --attempts 5 --deadline 60s https://api.example.com/items", "Up to 5, and an end within a minute whatever happens."},
		{"bide --idempotency-key auto --json '{\"amount\":5}' https://api.example.com/payments", "A POST that may be sent again, since every attempt carries the same key."},
		{"bide -o data.tar.gz https://example.com/data.tar.gz", "The file is the old one or the whole new one, never a part."},
		{"bide wait --deadline 60s http://localhost:8080/health tcp://localhost:5432", "Go on when both are there; exit 75 after a minute."},
		{"bide --poll --deadline 10m --idempotency-key auto --json @job.json https://api.example.com/jobs", "Start a job, and wait for its result where the server's 202 says."},
		{"bide --timeline json https://api.example.com/items | jq '.attempts[].status'", "The statuses of all attempts."},
		{"bide --no-fail -s -o body.json -w '%{http_code}' https://api.example.com/items", "The status code, and the body whatever it is."},
	}
}

// WriteReference writes docs/reference.md.
func WriteReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!-- Generated from the flag table (go generate ./cmd/internal/flags). Do not edit. -->\n\n# Reference\n\n```\n" + usageLine + "\n")
	for _, s := range Subcommands() {
		b.WriteString(strings.TrimSpace("bide "+s.Name+" "+s.Args) + "\n")
	}
	b.WriteString("```\n\n## Commands\n\n| command | |\n|---|---|\n")
	for _, s := range Subcommands() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSpace(s.Name+" "+s.Args), markdownCell(s.Short))
	}
	b.WriteString("\n" + durationText + "\n")
	for _, s := range Subcommands() {
		markdownCommand(&b, &s)
	}
	table := Table()
	for _, c := range Categories() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", title(string(c.Name)), c.Help)
		for i := range table {
			if table[i].Category == c.Name {
				markdownFlag(&b, &table[i])
			}
		}
	}
	b.WriteString("\n## Environment\n\n| variable | flag |\n|---|---|\n")
	for i := range table {
		if env := table[i].EnvName(); env != "" {
			fmt.Fprintf(&b, "| `%s` | `--%s` |\n", env, table[i].Name)
		}
	}
	b.WriteString("\n## Files\n")
	for _, f := range files() {
		fmt.Fprintf(&b, "\n`%s`: %s\n", f[0], f[1])
	}
	b.WriteString("\n## Exit codes\n")
	markdownExitCodes(&b)
	b.WriteString("\n## Reasons for stopping\n")
	markdownReasons(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

const durationText = "D is a duration: seconds with decimals (2, 0.5), or with units (500ms, 1m30s). 0 is no limit. N is a whole number."

// markdownCommand writes the flags of a sub-command that has some.
func markdownCommand(b *strings.Builder, s *Subcommand) {
	if !s.takesFlags() {
		return
	}
	fmt.Fprintf(b, "\n## bide %s\n\n%s. %s\n\n%s\n", s.Name, markdownText(s.Short), markdownText(s.Long), markdownText(s.borrows()))
	for i := range s.Flags {
		markdownFlag(b, &s.Flags[i])
	}
}

func title(s string) string {
	if s == "tls" {
		return "TLS"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func markdownFlag(b *strings.Builder, f *Flag) {
	fmt.Fprintf(b, "\n### `%s`\n\n%s.", strings.TrimSpace(f.names()), markdownText(f.Help))
	if f.Long != "" {
		b.WriteString(" " + markdownText(f.Long))
	}
	b.WriteString("\n")
	if facts := f.facts(); len(facts) > 0 {
		b.WriteString("\n" + markdownText(strings.Join(facts, " ")) + "\n")
	}
}

// markdownText escapes what Markdown would read as markup.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`, "~", `\~`).Replace(s)
}

func markdownCell(s string) string { return strings.ReplaceAll(markdownText(s), "|", `\|`) }

// WriteMan writes the man page bide(1), in roff.
func WriteMan(w io.Writer) error {
	var b strings.Builder
	b.WriteString(".\\\" Generated from the flag table (go generate ./cmd/internal/flags). Do not edit.\n")
	b.WriteString(".TH BIDE 1 \"\" \"bide\" \"User Commands\"\n.nh\n.ad l\n")
	b.WriteString(".SH NAME\nbide \\- an HTTP client that waits its turn\n.SH SYNOPSIS\n.B bide\n[flags] URL...\n")
	for _, s := range Subcommands() {
		fmt.Fprintf(&b, ".br\n.B bide %s\n%s", roff(s.Name), roffLine(s.Args))
	}
	b.WriteString(".SH DESCRIPTION\n")
	b.WriteString(roffLine("bide requests URLs with curl's flags. A request that fails for a passing reason is sent again when that is safe: never before the time that the server names in Retry-After, and within the bounds that you set. Each attempt and each wait is on record: the timeline."))
	b.WriteString(".PP\n" + roffLine(durationText))
	b.WriteString(".SH COMMANDS\n")
	for _, s := range Subcommands() {
		roffItem(&b, strings.TrimSpace(s.Name+" "+s.Args), s.Short+".")
	}
	for _, s := range Subcommands() {
		manCommand(&b, &s)
	}
	b.WriteString(".SH FLAGS\n")
	table := Table()
	for _, c := range Categories() {
		fmt.Fprintf(&b, ".SS %s\n%s", title(string(c.Name)), roffLine(c.Help+"."))
		for i := range table {
			if f := &table[i]; f.Category == c.Name {
				roffItem(&b, strings.TrimSpace(f.names()), strings.Join(append([]string{f.Help + ".", f.Long}, f.facts()...), " "))
			}
		}
	}
	b.WriteString(".SH EXAMPLES\n")
	for _, e := range examples() {
		roffItem(&b, e[0], e[1])
	}
	manTables(&b, table)
	_, err := io.WriteString(w, b.String())
	return err
}

// manCommand writes the flags of a sub-command that has some.
func manCommand(b *strings.Builder, s *Subcommand) {
	if !s.takesFlags() {
		return
	}
	fmt.Fprintf(b, ".SS bide %s\n%s.PP\n%s", roff(s.Name), roffLine(s.Long), roffLine(s.borrows()))
	for i := range s.Flags {
		f := &s.Flags[i]
		roffItem(b, strings.TrimSpace(f.names()), strings.Join(append([]string{f.Help + ".", f.Long}, f.facts()...), " "))
	}
}

func manTables(b *strings.Builder, table []Flag) {
	b.WriteString(".SH ENVIRONMENT\n")
	for i := range table {
		if env := table[i].EnvName(); env != "" {
			roffItem(b, env, "As --"+table[i].Name+".")
		}
	}
	b.WriteString(".SH FILES\n")
	for _, f := range files() {
		roffItem(b, f[0], f[1])
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitcode.Table() {
		roffItem(b, fmt.Sprint(int(e.Code)), e.Meaning+".")
	}
	b.WriteString(".SH REASONS FOR STOPPING\n")
	for _, r := range retry.Reasons() {
		roffItem(b, string(r), reasonMeaning(r)+".")
	}
	b.WriteString(".SH SEE ALSO\n.BR curl (1)\n")
}

func roffItem(b *strings.Builder, term, text string) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s", roff(term), roffLine(text))
}

// roff escapes a text for roff.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
}

// roffLine is a text line: one that starts with a point would be a request.
func roffLine(s string) string {
	s = roff(strings.Join(strings.Fields(s), " "))
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	if s == "" {
		return ""
	}
	return s + "\n"
}
