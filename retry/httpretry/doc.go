// Package httpretry puts net/http on the retry engine.
package httpretry
