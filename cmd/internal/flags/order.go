package flags

import "slices"

// sortFlags sorts by name.
func sortFlags(list []Flag) {
	slices.SortFunc(list, func(a, b Flag) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
}
