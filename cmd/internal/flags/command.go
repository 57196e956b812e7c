package flags

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is the root command with every flag, for completion and docs: it
// takes any value and runs nothing. With full it has the sub-commands, given
// or, without any, those of Subcommands. Requests never come here: Parse does
// not need a command, and a word that names a sub-command may be a host.
func Command(full bool, subs ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use: usageLine, Short: "An HTTP client that waits its turn",
		Args: cobra.ArbitraryArgs, Run: func(*cobra.Command, []string) {},
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	table := Table()
	for i := range table {
		addFlag(root, &table[i])
	}
	if !full {
		return root
	}
	if len(subs) == 0 {
		for _, s := range Subcommands() {
			subs = append(subs, s.command(table))
		}
	}
	for _, s := range subs {
		if s.Name() == "help" {
			root.SetHelpCommand(s)
		}
	}
	root.AddCommand(subs...)
	return root
}

// command is s in the tree, with its flags.
func (s *Subcommand) command(table []Flag) *cobra.Command {
	c := &cobra.Command{
		Use: strings.TrimSpace(s.Name + " " + s.Args), Short: s.Short, ValidArgs: s.Words,
		Args: cobra.ArbitraryArgs, Run: func(*cobra.Command, []string) {}, DisableFlagParsing: !s.takesFlags(),
	}
	if !s.takesFlags() {
		return c
	}
	for i := range s.Flags {
		addFlag(c, &s.Flags[i])
	}
	for i := range table {
		if f := &table[i]; s.All || s.Retry && f.Category == CatRetry || slices.Contains(s.Borrowed, f.Name) {
			addFlag(c, f)
		}
	}
	if !s.Files {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	return c
}

// addFlag registers a row and what completes its value.
func addFlag(c *cobra.Command, f *Flag) {
	pf := &pflag.Flag{Name: f.Name, Shorthand: f.Short, Usage: f.Help, Value: docValue{f}}
	if f.Kind != Value {
		pf.NoOptDefVal = "true"
	}
	c.Flags().AddFlag(pf)
	if f.Kind != Value {
		return
	}
	if f.Dir {
		pf.Annotations = map[string][]string{cobra.BashCompSubdirsInDir: {}}
		return
	}
	if err := c.RegisterFlagCompletionFunc(f.Name, f.complete); err != nil {
		panic(err) // only a name twice in the table, which AddFlag refuses first
	}
}

// complete offers the words for f's value; the shell offers files where f takes one.
func (f *Flag) complete(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	head, item := "", typed
	if f.List {
		if i := strings.LastIndexByte(typed, ','); i >= 0 {
			head, item = typed[:i+1], typed[i+1:]
		}
		if item != "" && (item[0] == '+' || item[0] == '-') {
			head, item = head+item[:1], item[1:]
		}
	}
	for _, word := range f.Values {
		if strings.HasPrefix(word, item) {
			found = append(found, head+word)
		}
	}
	if f.File {
		return found, cobra.ShellCompDirectiveDefault
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// docValue takes everything: the tree that serves completion must not fail on
// a half-typed line.
type docValue struct{ f *Flag }

func (v docValue) String() string   { return v.f.Default }
func (v docValue) Set(string) error { return nil }

// Type tells completion, by cobra's convention, which flags to offer again.
func (v docValue) Type() string {
	if v.f.Repeats {
		return "stringArray"
	}
	return "string"
}

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// IsCompletionRequest reports whether args are what the completion scripts
// call bide with; they are then for Complete.
func IsCompletionRequest(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// Complete answers a completion script: words on w, one a line, then a directive.
func Complete(w io.Writer, args []string) error {
	root := Command(true)
	root.SetArgs(args)
	root.SetOut(w)
	root.SetErr(io.Discard)
	return root.Execute()
}

// WriteCompletion writes the completion script of a shell: bash, zsh, fish or
// powershell. Another word is a *UsageError. The scripts ask bide itself, so
// that they never lag behind it.
func WriteCompletion(w io.Writer, shell string) error {
	root := Command(false)
	switch shell {
	case "bash":
		return writeScript(w, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }, bashHelpers,
			"_get_comp_words_by_ref", "__bide_words",
			"_filedir", "__bide_filedir",
			`out=$(eval "${requestComp}" 2>/dev/null)`, `out=$(__bide_ask)`)
	case "zsh":
		return writeScript(w, root.GenZshCompletion, "",
			`words=("${=words[1,CURRENT]}")`, `words=("${(@)words[1,CURRENT]}")`,
			`out=$(eval ${requestComp} 2>/dev/null)`,
			`local program=${(Q)words[1]/#\~\//$HOME/}
    whence -p -- "$program" >/dev/null || program=bide
    out=$("$program" __complete "${(@Q)words[2,-1]}" 2>/dev/null)`)
	case "fish":
		return writeScript(w, func(w io.Writer) error { return root.GenFishCompletion(w, true) }, "",
			`(eval $requestComp 2> /dev/null)`, `($args[1] __complete $args[2..-1] (commandline -ct) 2> /dev/null)`)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return usagef("completion: %s is not one of %s", quote(shell), strings.Join(shells(), ", "))
}

// writeScript writes one of cobra's scripts with some of its text replaced.
// The replacements make it pass the words on the line as they are, where cobra
// evaluates them: a tab must not run the $(command) in a half-typed line. In
// bash they also make it work without the bash-completion package.
func writeScript(w io.Writer, generate func(io.Writer) error, helpers string, oldNew ...string) error {
	var script strings.Builder
	if err := generate(&script); err != nil {
		return err
	}
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(script.String(), oldNew[i]) {
			return fmt.Errorf("completion: the generated script no longer has %q", oldNew[i])
		}
	}
	_, err := io.WriteString(w, strings.NewReplacer(oldNew...).Replace(script.String())+helpers)
	return err
}

const bashHelpers = `
# Puts together again what bash has split at = and : (COMP_WORDBREAKS), up to
# the cursor, into words, cword, cur and prev.
__bide_words()
{
    local rest=${COMP_LINE:0:COMP_POINT} i word
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i == 0)) || [[ -z $rest || $rest == [[:blank:]]* ]]; then
            rest=${rest#"${rest%%[![:blank:]]*}"}
            words+=("")
        fi
        ((i == COMP_CWORD)) && word=$rest
        words[${#words[@]} - 1]+=$word
        rest=${rest#"$word"}
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
}

# Asks the program on the line, or bide where that is an alias.
__bide_ask()
{
    local program=${words[0]/#\~\//$HOME/}
    type -P -- "$program" >/dev/null || program=bide
    "$program" __complete "${words[@]:1}" 2>/dev/null
}

# Files, or with -d directories.
__bide_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local kind=-f name
    [[ ${1-} == -d ]] && kind=-d
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen "$kind" -- "$cur")
}
`
