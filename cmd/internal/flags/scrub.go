package flags

// ArgSpan is a part of one argument: bytes Start to End of args[Index].
type ArgSpan struct {
	Index, Start, End int
}

// ScrubArgs overwrites the given parts of the process's own argument list, so
// that ps and /proc no longer show them (R11.3). args must be os.Args[1:]
// itself, as Parse was given it; afterwards it is changed in place and must not
// be relied on. It does nothing, safely, where the platform does not allow it
// or args is not the process's argument list.
func ScrubArgs(args []string, spans []ArgSpan) {
	if len(spans) > 0 {
		scrub(args, spans)
	}
}
