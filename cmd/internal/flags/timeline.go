package flags

// TimelineOptions is the command line of bide timeline.
type TimelineOptions struct {
	Options // of Global, what is about output counts
	Files   []string
	Summary bool
	Format  string
}

func timelineLine(to *TimelineOptions) *subline {
	return &subline{name: "timeline", own: timelineFlags(), borrowed: timelineBorrows(), words: true, goal: to}
}

func timelineBorrows() []string { return []string{"color", "no-redact", "redact-path", "help"} }

func timelineFlags() []Flag {
	goal := func(p *parser) *TimelineOptions { return p.sub.goal.(*TimelineOptions) }
	return []Flag{
		{Name: "summary", Own: true, Help: "All timelines in figures instead of each",
			Long: "Outcomes by reason, attempts, amplification, percentiles of durations and waits, by origin.",
			flag: func(p *parser) *bool { return &goal(p).Summary }},
		formatRow(func(p *parser) *string { return &goal(p).Format }),
	}
}

// ParseTimeline reads the command line of bide timeline (without that word).
// The error is a *UsageError.
func ParseTimeline(args []string, env Env) (*TimelineOptions, error) {
	to := &TimelineOptions{Format: FormatHuman}
	o, words, err := timelineLine(to).parse(args, env)
	if err != nil {
		return nil, err
	}
	to.Options, to.Files = *o, words
	return to, nil
}

func timelineCommand() Subcommand {
	return Subcommand{
		Name: "timeline", Args: "[FILE...]", Short: "Show saved timelines again",
		Long: "FILE holds documents of --timeline json, events of --timeline jsonl, or both; - and no FILE are standard input. " +
			"Exit code 26 where a FILE cannot be read or holds something else; what could be read is shown all the same.",
		Flags: timelineFlags(), Borrowed: timelineBorrows(), Files: true,
	}
}
