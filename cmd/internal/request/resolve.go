package request

import (
	"errors"
	"strings"

	"github.com/bidehttp/bide/retry"
)

// Resolve gives the URL that a Location (or any reference from a server) means
// when seen from u: RFC 3986 §5.2, with curl's leniency towards servers: spaces
// become %20 in the path and + in the query, bytes above 0x7f become %XX,
// surrounding blanks are ignored. A relative reference keeps u's userinfo, one
// with a host of its own does not. Only the reference's own fragment is kept.
// Errors are *Error of class redirect, exit 1 for a refused scheme, else 3.
func (u *URL) Resolve(location string) (*URL, error) {
	v, err := u.resolve(strings.Trim(location, " \t"))
	if err != nil {
		err.Class = retry.ClassRedirect
		if f, ok := errors.AsType[*fault](err); ok {
			f.redirect = true
		}
		return nil, err
	}
	return v, nil
}

func (u *URL) resolve(ref string) (*URL, *Error) {
	p := urlParser{lenient: true, pathAsIs: u.pathAsIs}
	if err := p.scan(ref); err != nil {
		return nil, err
	}
	if schemeLen(ref) > 0 {
		return p.parse(ref)
	}
	if strings.HasPrefix(ref, "//") {
		return p.parse(u.Scheme + ":" + ref)
	}
	v := *u
	v.Fragment, v.hasFragment = "", false
	switch {
	case ref == "" || ref[0] == '#':
		_, v.Fragment, v.hasFragment = strings.Cut(ref, "#")
		v.Fragment = escapeRaw(v.Fragment, "%20")
		return &v, nil
	case ref[0] == '?':
		p.setTail(&v, ref)
		v.Path = u.Path
	case ref[0] == '/':
		p.setTail(&v, ref)
	default:
		base := u.Path[:strings.LastIndexByte(u.Path, '/')+1]
		p.pathAsIs = false // merged paths have no dots (RFC 3986 §5.2.3)
		p.setTail(&v, base+ref)
	}
	v.Fragment = escapeRaw(v.Fragment, "%20")
	return &v, nil
}

// WithUploadName gives the URL to which -T sends a file: one whose path ends
// in "/" and has no query gets the file's last path element, percent-encoded
// (curl 8). An empty name (stdin) changes nothing.
func (u *URL) WithUploadName(file string) *URL {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	if name == "" || u.HasQuery || !strings.HasSuffix(u.Path, "/") {
		return u
	}
	v := *u
	v.Path += urlEncodeLower(name)
	return &v
}

// WithHost gives the URL with the host that a Host header names, whose port does
// not count; what names none changes nothing.
func (u *URL) WithHost(header string) *URL {
	a := *u.Authority
	if a.set(strings.Trim(header, " \t")) != nil {
		return u
	}
	a.Port = u.Port
	return u.with(&a)
}

// WithScheme gives the URL with another scheme; a port that stands in it stays.
func (u *URL) WithScheme(scheme string) *URL {
	a := *u.Authority
	a.Scheme = scheme
	return u.with(&a)
}

// with gives the URL with a, which is new, in the place of its Authority.
func (u *URL) with(a *Authority) *URL {
	a.settle()
	v := *u
	v.Authority = a
	return &v
}

// WithQuery gives the URL with more query text after what it has (-G,
// --url-query). As in curl, %XX in that text is sent in lower case, and a "#" begins
// a fragment: a query cannot hold it.
func (u *URL) WithQuery(text string) (*URL, error) {
	if err := (urlParser{}).scan(text); err != nil {
		return nil, err
	}
	v := *u
	if query, fragment, ok := strings.Cut(text, "#"); ok {
		text = query
		v.Fragment, v.hasFragment = fragment, true
	}
	if v.Query != "" && text != "" {
		text = "&" + text
	}
	v.Query, v.HasQuery = v.Query+lowerEscapes(text), true
	return &v, nil
}

// lowerEscapes writes the digits of each %XX in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' && unhex(b[i+1]) >= 0 && unhex(b[i+2]) >= 0 {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}
