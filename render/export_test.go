package render

// Samples are the documents of the golden tests.
func Samples() map[string]*Document { return samples() }

// Reasons is the list that Consistent knows.
func Reasons() []string { return reasons() }

// Update reports whether -update was given.
func Update() bool { return *update }
