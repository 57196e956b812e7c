package flags

import (
	"fmt"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/retry"
)

// Subcommand describes a command beside the root command, for help, docs and
// completion. Package cmd runs them.
type Subcommand struct {
	Name  string
	Args  string // as in a usage line
	Short string
	Words []string // fixed arguments, for completion

	// Of a command with flags:
	Long     string
	Flags    []Flag   // its own
	Borrowed []string // names of the root command's that it takes, too
	Retry    bool     // the retry flags are among them
	Files    bool     // its arguments are files
	All      bool     // it takes every flag of the root command
}

// Subcommands lists them in the order of help.
func Subcommands() []Subcommand {
	return []Subcommand{
		waitCommand(),
		planCommand(),
		simulateCommand(),
		timelineCommand(),
		mockCommand(),
		{Name: "demo", Short: "The main job on an embedded scripted server: 429, 503, 200"},
		{Name: "completion", Args: "SHELL", Short: "Print the completion script for bash, zsh, fish or powershell", Words: shells()},
		{Name: "version", Short: "Print version, commit, Go and features"},
		{Name: "help", Args: "[TOPIC]", Short: "Help about a command, a category or a flag", Words: topics()},
	}
}

const usageLine = "bide [flags] URL..."

// topics are the words that WriteHelp knows, beside flags and commands.
func topics() []string {
	words := []string{"all"}
	for _, c := range Categories() {
		words = append(words, string(c.Name))
	}
	return append(words, "exit-codes", "reasons")
}

// WriteHelp writes help for a topic: "" one screen, "all", a category,
// "exit-codes", "reasons", a flag with or without its dashes, or a command. An
// unknown topic is a *UsageError that lists the known ones.
func WriteHelp(w io.Writer, topic string) error {
	h := &helpWriter{}
	if !h.topic(topic) {
		return usagef("no help on %s; topics: %s, or a flag", quote(topic), strings.Join(topics(), ", "))
	}
	_, err := io.WriteString(w, h.String())
	return err
}

// WriteCommandHelp writes the help of a sub-command.
func WriteCommandHelp(w io.Writer, name string) error {
	h := &helpWriter{}
	h.command(name)
	_, err := io.WriteString(w, h.String())
	return err
}

// helpWidth is where help lines are wrapped.
const helpWidth = 80

type helpWriter struct{ strings.Builder }

func (h *helpWriter) line(format string, a ...any) { fmt.Fprintf(h, format+"\n", a...) }

func (h *helpWriter) topic(topic string) bool {
	switch topic {
	case "":
		h.screen()
		return true
	case "all":
		h.all()
		return true
	case "exit-codes":
		h.exitCodes()
		return true
	case "reasons":
		h.reasons()
		return true
	}
	for _, c := range Categories() {
		if topic == string(c.Name) {
			h.category(c)
			if c.Name == CatRetry {
				h.line("")
				h.reasons()
			}
			for _, s := range Subcommands() {
				if s.Name == topic {
					h.line("")
					h.command(topic)
				}
			}
			return true
		}
	}
	return h.command(topic) || h.oneFlag(topic)
}

// screen is plain -h: what most people need, on one screen of 24 lines.
func (h *helpWriter) screen() {
	h.line("Usage: %s", usageLine)
	for _, f := range Table() {
		if f.Common {
			h.flagLine(&f)
		}
	}
	var names []string
	for _, s := range Subcommands() {
		names = append(names, s.Name)
	}
	h.wrapped("Commands: ", 2, strings.Join(names, ", ")+". More: -h all, or -h "+strings.Join(topics()[1:], " | ")+", or -h --FLAG.")
}

func (h *helpWriter) all() {
	h.line("Usage: %s", usageLine)
	for _, s := range Subcommands() {
		h.line("       %s", strings.TrimSpace("bide "+s.Name+" "+s.Args))
	}
	for _, c := range Categories() {
		h.line("")
		h.category(c)
	}
	h.line("")
	h.exitCodes()
	h.line("")
	h.reasons()
}

func (h *helpWriter) category(c CategoryInfo) {
	h.line("%s: %s", c.Name, c.Help)
	for _, f := range Table() {
		if f.Category == c.Name {
			h.flagLine(&f)
		}
	}
}

// names is "-o, --output FILE".
func (f *Flag) names() string {
	s := "    "
	if f.Short != "" {
		s = "-" + f.Short + ", "
	}
	s += "--" + f.Name
	if f.Arg != "" {
		s += " " + f.Arg
	}
	return s
}

func (h *helpWriter) flagLine(f *Flag) {
	const column = 32
	text := f.Help
	if f.Default != "" {
		text += " [" + f.Default + "]"
	}
	names := " " + f.names()
	if len(names) >= column {
		h.line("%s", names)
		names = ""
	}
	h.wrapped(fmt.Sprintf("%-*s", column, names), column, text)
}

// wrapped writes text after a prefix, and goes on at an indent.
func (h *helpWriter) wrapped(prefix string, indent int, text string) {
	line := prefix
	empty := true
	for word := range strings.FieldsSeq(text) {
		if !empty && len(line)+1+len(word) > helpWidth {
			h.line("%s", line)
			line, empty = strings.Repeat(" ", indent), true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	h.line("%s", line)
}

func (h *helpWriter) command(name string) bool {
	for _, s := range Subcommands() {
		if s.Name == name {
			h.line("Usage: %s", strings.TrimSpace("bide "+s.Name+" "+s.Args))
			h.line("%s.", s.Short)
			h.commandFlags(&s)
			return true
		}
	}
	return false
}

// oneFlag is the whole text of one flag.
func (h *helpWriter) oneFlag(topic string) bool {
	name := strings.TrimLeft(topic, "-")
	isShort := len(name) == 1 && len(topic) <= 2
	for _, f := range Table() {
		if f.Name == name || isShort && f.Short == name {
			h.flagText(&f, "")
			return true
		}
	}
	found := false
	for _, s := range Subcommands() {
		for i := range s.Flags {
			if s.Flags[i].Name == name {
				h.flagText(&s.Flags[i], "bide "+s.Name+" ")
				found = true
			}
		}
	}
	return found
}

func (h *helpWriter) flagText(f *Flag, before string) {
	h.line("%s", before+strings.TrimSpace(f.names()))
	h.wrapped("  ", 2, f.Help+".")
	if f.Long != "" {
		h.wrapped("  ", 2, f.Long)
	}
	for _, fact := range f.facts() {
		h.wrapped("  ", 2, fact)
	}
}

// facts are what follows from the table: one sentence each.
func (f *Flag) facts() []string {
	var facts []string
	if f.Default != "" {
		facts = append(facts, "Default: "+f.Default+".")
	}
	if len(f.Values) > 0 && !f.List && !f.Open {
		facts = append(facts, "Values: "+strings.Join(f.Values, ", ")+".")
	}
	if f.Name == "retry-on" {
		facts = append(facts, "Classes: "+strings.Join(retryClasses(), ", ")+".")
	}
	if f.Repeats {
		facts = append(facts, "May be given several times.")
	}
	if env := f.EnvName(); env != "" {
		facts = append(facts, "Variable: "+env+".")
	}
	if f.OneLine {
		facts = append(facts, "Not taken from variables or the default config file.")
	}
	if neg := f.Negation(); neg != "" && !f.Repeats {
		facts = append(facts, "--"+neg+" turns it off again.")
	}
	return facts
}

// retryClasses are the classes that --retry-on knows, from the engine's table.
func retryClasses() []string {
	var words []string
	for _, c := range retry.Classes() {
		if c.Selectable {
			words = append(words, string(c.Class))
		}
	}
	return words
}

func (h *helpWriter) exitCodes() {
	h.line("exit codes:")
	for _, e := range exitcode.Table() {
		h.wrapped(fmt.Sprintf("  %3d  ", e.Code), 7, e.Meaning)
	}
}

func (h *helpWriter) reasons() {
	h.line("reasons for stopping:")
	for _, r := range retry.Reasons() {
		h.wrapped(fmt.Sprintf("  %-24s", r), 26, reasonMeaning(r))
	}
}

// reasonMeaning says a reason of contract R10.2 in words; a test holds it
// complete against the engine's list.
func reasonMeaning(r retry.Reason) string {
	switch r {
	case retry.Success:
		return "a complete answer, and its body written"
	case retry.HTTPError:
		return "a final status that is not worth another attempt"
	case retry.AttemptsExhausted:
		return "the last of --attempts failed"
	case retry.RetryAfterExceedsCap:
		return "the server asked for a longer wait than --cap"
	case retry.RetryTimeExceeded:
		return "no retry may start after --retry-max-time"
	case retry.DeadlineBeforeRetry:
		return "the wait would not leave time before the deadline"
	case retry.DeadlineExceeded:
		return "the deadline passed during an attempt"
	case retry.UnsafeMethod:
		return "the request may have been acted on and must not be repeated without a key"
	case retry.NotReplayable:
		return "the body cannot be sent again"
	case retry.BodyChanged:
		return "the body's file changed between attempts"
	case retry.BudgetExhausted:
		return "the shared retry budget is spent"
	case retry.OutputCommitted:
		return "part of the body is already written and cannot be continued"
	case retry.TransportError:
		return "a failure below HTTP that is not worth another attempt"
	case retry.RedirectError:
		return "too many redirects, or one that is refused"
	case retry.ChecksumMismatch:
		return "the body is not what --checksum says"
	case retry.InputError:
		return "a file to send could not be read"
	case retry.OutputError:
		return "the output could not be written"
	case retry.Usage:
		return "the request could not be made from what was given"
	case retry.Canceled:
		return "a signal or the caller ended it"
	}
	return ""
}
