package flags

import (
	"strings"
	"time"
)

// Kind says what stands after a flag's name.
type Kind uint8

// The kinds of flags. A Switch is one choice of several (--http2): unlike a
// Boolean it has no --no- form, as in curl.
const (
	Boolean Kind = iota
	Switch
	Value
)

// Category groups flags in help and in the reference.
type Category string

// The categories, in the order in which help lists them.
const (
	CatRequest    Category = "request"
	CatOutput     Category = "output"
	CatRetry      Category = "retry"
	CatTimeline   Category = "timeline"
	CatAuth       Category = "auth"
	CatTLS        Category = "tls"
	CatConnection Category = "connection"
	CatProxy      Category = "proxy"
	CatGeneral    Category = "general"
)

// CategoryInfo is a category with its one-line description.
type CategoryInfo struct {
	Name Category
	Help string
}

// Categories lists the categories in their fixed order.
func Categories() []CategoryInfo {
	return []CategoryInfo{
		{CatRequest, "Method, headers, body, redirects"},
		{CatOutput, "Where the response goes, what is printed"},
		{CatRetry, "Attempts, waits, deadlines, idempotency"},
		{CatTimeline, "The record of attempts and waits"},
		{CatAuth, "Credentials and cookies"},
		{CatTLS, "Certificates and TLS versions"},
		{CatConnection, "Names, addresses, protocol versions"},
		{CatProxy, "Proxies"},
		{CatGeneral, "Config files, help, notices"},
	}
}

// Flag is one row of the flag table.
type Flag struct {
	Name     string // without dashes
	Short    string // one letter, or ""
	Arg      string // name of the value in help; "" for Boolean and Switch
	Category Category
	Kind     Kind
	Help     string   // one line
	Long     string   // more lines for the man page and the reference; may be ""
	Default  string   // as help shows it; may be ""
	Values   []string // fixed words, for completion; List flags take several, joined by commas
	List     bool     // the value is a comma-separated list of Values
	Open     bool     // other values than Values are as good
	File     bool     // the value is a file name (an "@file" for Data flags)
	Dir      bool     // the value is a directory
	Env      bool     // BIDE_<NAME> is its variable
	OneLine  bool     // refused in the default config file: belongs to one command line
	Repeats  bool     // each occurrence adds; otherwise the last one wins
	Own      bool     // bide's own; otherwise curl's
	Common   bool     // on the first help screen
	Secret   bool     // its value is overwritten in argv and kept out of errors

	// Exactly one of these is set. They are plain functions, so that the whole
	// table is static data and costs nothing at start.
	on   func(p *parser, on bool) error
	flag func(p *parser) *bool
	set  func(p *parser, v string) error
	str  func(p *parser) *string
	dur  func(p *parser) *time.Duration
	// check validates a policy flag: its value is kept with its source and
	// applied when all sources are known.
	check func(v string) error
}

// Negation is the flag's hidden opposite ("--no-silent", "--buffer"), or ""
// for flags that have none.
func (f *Flag) Negation() string {
	if f.Kind != Boolean || f.Name == "no-fail" || f.Name == "fail" {
		return "" // --no-fail is a flag with a meaning of its own
	}
	if rest, ok := strings.CutPrefix(f.Name, "no-"); ok {
		return rest
	}
	return "no-" + f.Name
}

// negatedBy reports whether name is f's negation; it allocates nothing.
func (f *Flag) negatedBy(name string) bool {
	if f.Kind != Boolean || f.Name == "no-fail" || f.Name == "fail" {
		return false
	}
	if rest, ok := strings.CutPrefix(f.Name, "no-"); ok {
		return name == rest
	}
	rest, ok := strings.CutPrefix(name, "no-")
	return ok && rest == f.Name
}

// EnvName is the flag's environment variable, or "".
func (f *Flag) EnvName() string {
	if !f.Env {
		return ""
	}
	return "BIDE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Table is the flag table, in the order of categories and then of names. The
// rows are copies; their order is stable.
func Table() []Flag {
	all := make([]Flag, 0, 160)
	for _, c := range Categories() {
		first := len(all)
		for _, part := range tables() {
			for i := range part {
				if part[i].Category == c.Name {
					all = append(all, part[i])
				}
			}
		}
		sortFlags(all[first:])
	}
	return all
}

// tables are the parts of the table. They are never written to.
func tables() [7][]Flag {
	return [7][]Flag{requestFlags[:], outputFlags[:], retryFlags[:], secureFlags[:], linkFlags[:], connectionFlags[:], generalFlags[:]}
}
