package retry

// Set is a set of statuses and classes; the zero value is empty. It is a plain
// value: comparable, copied by assignment, no allocation on look-up.
type Set struct {
	statuses [16]uint64
	removed  [16]uint64 // statuses taken out by name: conditional defaults (409, 413, 421) obey it
	classes  uint32
}
