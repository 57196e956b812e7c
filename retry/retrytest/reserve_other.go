//go:build !unix

package retrytest

// reserve keeps nothing here.
func reserve(string) (release func()) { return func() {} }
