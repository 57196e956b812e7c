package auth

import (
	"bytes"
	"strings"
	"testing"
)

func fixed(p []byte) { copy(p, bytes.Repeat([]byte{7}, len(p))) }

// TestDigestVectors holds the examples of RFC 7616 §3.9, the last as its
// errata correct it.
func TestDigestVectors(t *testing.T) {
	const realm = `Digest realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", algorithm=`
	for name, tt := range map[string]struct {
		challenge, user, password, uri, cnonce, response string
	}{
		"MD5":     {realm + "MD5", "Mufasa", "Circle of Life", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "8ca523f5e9506fed4657c9700eebdbec"},
		"SHA-256": {realm + "SHA-256", "Mufasa", "Circle of Life", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"},
		"SHA-512-256": {
			`Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true`,
			"J\u00e4s\u00f8n Doe", "Secret, or not?", "/doe.json", "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Session{Allowed: Digest, User: tt.user, Password: tt.password, Random: fixed}
			if !s.Challenged([]string{tt.challenge}) {
				t.Fatal("the challenge was not taken")
			}
			s.cnonce = tt.cnonce
			value, probing := s.Authorization("GET", tt.uri)
			if probing || !strings.Contains(value, `response="`+tt.response+`"`) {
				t.Errorf("got %s, probing %v; want response %s", value, probing, tt.response)
			}
		})
	}
}

// TestDigestFields holds curl's order and quoting.
func TestDigestFields(t *testing.T) {
	for name, tt := range map[string]struct{ challenge, want string }{
		"all": {
			`Digest qop="auth-int,auth" , ALGORITHM=md5, opaque="o\"p", nonce="n", realm="r\\x"`,
			`Digest username="u\"x", realm="r\\x", nonce="n", uri="/", cnonce="C", nc=00000001, qop=auth, response="R", opaque="o\"p", algorithm=md5`,
		},
		"no_qop":       {`Digest realm="r", nonce="n"`, `Digest username="u\"x", realm="r", nonce="n", uri="/", response="R"`},
		"empty_opaque": {`Digest nonce=n, opaque=""`, `Digest username="u\"x", realm="", nonce="n", uri="/", response="R", opaque=""`},
		"auth-int":     {`digest nonce=n, qop="auth-int"`, `Digest username="u\"x", realm="", nonce="n", uri="/", cnonce="C", nc=00000001, qop=auth-int, response="R"`},
		"session":      {`Digest nonce=n, qop=auth, algorithm=SHA-256-sess`, `Digest username="u\"x", realm="", nonce="n", uri="/", cnonce="C", nc=00000001, qop=auth, response="R", algorithm=SHA-256-sess`},
	} {
		t.Run(name, func(t *testing.T) {
			s := Session{Allowed: Digest, User: `u"x`, Password: "p", Random: fixed}
			if !s.Challenged([]string{tt.challenge}) {
				t.Fatal("the challenge was not taken")
			}
			s.cnonce = "C"
			value, _ := s.Authorization("GET", "/")
			before, rest, _ := strings.Cut(value, `response="`)
			_, after, _ := strings.Cut(rest, `"`)
			if got := before + `response="R"` + after; got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestSession holds which challenges are answered, and how often.
func TestSession(t *testing.T) {
	const digest, stale, basic = `Digest realm="r", nonce="n", qop="auth"`, `Digest realm="r", nonce="m", qop="auth", stale=TRUE`, `Basic realm="r"`
	for name, tt := range map[string]struct {
		allowed Scheme
		answers [][]string // of WWW-Authenticate, one list for each 401
		want    string     // y or n for each
		last    string     // prefix of the value after them
	}{
		"basic_is_final":        {Basic, [][]string{{basic}}, "n", "Basic dTpw"},
		"digest":                {Digest, [][]string{{digest}}, "y", `Digest username="u", realm="r", nonce="n"`},
		"digest_refused":        {Digest, [][]string{{digest}, {digest}}, "yn", ""},
		"digest_stale":          {Digest, [][]string{{digest}, {stale}}, "yy", `Digest username="u", realm="r", nonce="m"`},
		"digest_not_offered":    {Digest, [][]string{{basic}}, "n", ""},
		"any_prefers_digest":    {Any, [][]string{{basic, digest}}, "y", "Digest "},
		"any_takes_basic":       {Any, [][]string{{basic}, {basic}}, "yn", "Basic dTpw"},
		"any_in_one_line":       {Any, [][]string{{`Basic realm="r", Digest realm="r", nonce="n"`}}, "y", "Digest "},
		"any_unknown":           {Any, [][]string{{"Negotiate", "NTLM"}}, "n", ""},
		"no_challenge_at_all":   {Any, [][]string{nil}, "n", ""},
		"unknown_algorithm":     {Digest, [][]string{{`Digest nonce="n", algorithm=SHA-1`}}, "n", ""},
		"session_without_qop":   {Digest, [][]string{{`Digest nonce="n", algorithm=MD5-sess`}}, "n", ""},
		"no_nonce":              {Digest, [][]string{{`Digest realm="r"`}}, "n", ""},
		"the_name_is_not_a_bit": {Any, [][]string{{`Digestive nonce="n"`}}, "n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := Session{Allowed: tt.allowed, User: "u", Password: "p", Random: fixed}
			got := ""
			for _, values := range tt.answers {
				s.Authorization("GET", "/")
				if s.Challenged(values) {
					got += "y"
				} else {
					got += "n"
				}
			}
			value, _ := s.Authorization("GET", "/")
			if got != tt.want || !strings.HasPrefix(value, tt.last) || tt.last == "" && value != "" {
				t.Errorf("answered %s, then %q; want %s, then %q...", got, value, tt.want, tt.last)
			}
		})
	}
}

// TestNonceCount: one nonce serves several requests, each with its own count.
func TestNonceCount(t *testing.T) {
	s := Session{Allowed: Digest, User: "u", Password: "p", Random: fixed}
	if _, probing := s.Authorization("POST", "/"); !probing {
		t.Error("the first request does not wait for its challenge")
	}
	s.Challenged([]string{`Digest realm="r", nonce="n", qop="auth"`})
	one, _ := s.Authorization("GET", "/")
	two, _ := s.Authorization("GET", "/")
	if !strings.Contains(one, "nc=00000001") || !strings.Contains(two, "nc=00000002") {
		t.Errorf("counts in %s and %s", one, two)
	}
	s.Challenged([]string{`Digest realm="r", nonce="m", qop="auth", stale=true`})
	if three, _ := s.Authorization("GET", "/"); !strings.Contains(three, "nc=00000001") {
		t.Errorf("a new nonce starts again: %s", three)
	}
}

func FuzzChallenges(f *testing.F) {
	f.Add(`Digest realm="r\"x", nonce="n", qop="auth,auth-int"`)
	f.Add(`Basic realm="a, Digest nonce=b"`)
	f.Add(`Digest nonce=n, opaque="never ends`)
	f.Add("Digest ,,=,= \x00nonce=\xff")
	f.Fuzz(func(t *testing.T, value string) {
		s := Session{Allowed: Any, User: "u", Password: "p", Random: fixed}
		if !s.Challenged([]string{value}) {
			return
		}
		got, probing := s.Authorization("GET", "/")
		if probing || !strings.HasPrefix(got, "Digest ") && !strings.HasPrefix(got, "Basic ") {
			t.Errorf("%q gives %q", value, got)
		}
		if s.Allowed == Digest && strings.Count(strings.ReplaceAll(strings.ReplaceAll(got, `\\`, ""), `\"`, ""), `"`)%2 != 0 {
			t.Errorf("%q: a quotation without end in %q", value, got)
		}
	})
}
