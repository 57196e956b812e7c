package auth

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestSigV4Vectors holds vectors of AWS's own test suite for Signature Version 4.
func TestSigV4Vectors(t *testing.T) {
	for name, tt := range map[string]struct {
		method, path, query string
		signature           string
	}{
		"get-vanilla":                      {"GET", "/", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"get-vanilla-query-order-key-case": {"GET", "/", "Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"post-vanilla":                     {"POST", "/", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		"get-utf8":                         {"GET", "/\u1234", "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
		"get-space":                        {"GET", "/example space/", "", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSigV4("aws:amz:us-east-1:service")
			if err != nil {
				t.Fatal(err)
			}
			signed, err := s.Sign(SignRequest{
				Method: tt.method, Host: "example.amazonaws.com", HostName: "example.amazonaws.com",
				Path: tt.path, Query: tt.query, Now: time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC),
			}, "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
			if err != nil {
				t.Fatal(err)
			}
			want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + tt.signature
			if signed[0] != [2]string{"Authorization", want} || signed[1] != [2]string{"X-Amz-Date", "20150830T123600Z"} {
				t.Errorf("got  %q\nwant %q", signed, want)
			}
		})
	}
}

// TestSigV4Fields: what is added, what is signed, where names come from.
func TestSigV4Fields(t *testing.T) {
	for name, tt := range map[string]struct {
		flag, host string
		header     [][2]string
		want       string // error, or part of Authorization
		extra      string // names of the other fields
	}{
		"from_the_host":  {"aws:amz", "svc.reg.example.com", nil, "/reg/svc/aws4_request, SignedHeaders=host;x-amz-date,", "X-Amz-Date"},
		"goog":           {"goog:goog4:r:s", "h", nil, "GOOG4-HMAC-SHA256 Credential=u/20260102/r/s/goog4_request, SignedHeaders=host;x-goog4-date,", "X-Goog4-Date"},
		"one_provider":   {"xyz", "s.r.c", nil, "XYZ4-HMAC-SHA256 Credential=u/20260102/r/s/xyz4_request, SignedHeaders=host;x-xyz-date,", "X-Xyz-Date"},
		"s3":             {"aws:amz:r:s3", "h", nil, "SignedHeaders=host;x-amz-content-sha256;x-amz-date,", "X-Amz-Date x-amz-content-sha256"},
		"own_date":       {"aws:amz:r:s", "h", [][2]string{{"x-amz-date", "20010203T040506Z"}}, "Credential=u/20010203/r/s/", ""},
		"own_fields":     {"aws:amz:r:s", "h", [][2]string{{"X-B", "2"}, {"X-a", " 1   1 "}, {"Authorization", "no"}}, "SignedHeaders=host;x-a;x-amz-date;x-b,", "X-Amz-Date"},
		"no_service":     {"aws:amz", "localhost", nil, "the service is neither", ""},
		"no_region":      {"aws:amz::s", "localhost", nil, "the region is neither", ""},
		"date_too_short": {"aws:amz:r:s", "h", [][2]string{{"X-Amz-Date", "2001"}}, "is not a date", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSigV4(tt.flag)
			if err != nil {
				t.Fatal(err)
			}
			signed, err := s.Sign(SignRequest{Method: "GET", Host: tt.host, HostName: tt.host, Path: "/", Header: tt.header, Now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}, "u", "p")
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				return
			}
			var extra []string
			for _, f := range signed[1:] {
				extra = append(extra, f[0])
			}
			if !strings.Contains(signed[0][1], tt.want) || strings.Join(extra, " ") != tt.extra {
				t.Errorf("got %q, want %q with %q", signed, tt.want, tt.extra)
			}
		})
	}
}

// TestR8_2SignatureCoversTheBody: another body has another signature.
func TestR8_2SignatureCoversTheBody(t *testing.T) {
	s, _ := ParseSigV4("aws:amz:r:s")
	sign := func(body string) string {
		signed, err := s.Sign(SignRequest{Method: "POST", Host: "h", Path: "/", Body: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(body)), nil
		}}, "u", "p")
		if err != nil {
			t.Fatal(err)
		}
		return signed[0][1]
	}
	if first := sign("a"); first == sign("b") || first != sign("a") {
		t.Error("the signature does not depend on the body alone")
	}
}

func TestParseSigV4Refuses(t *testing.T) {
	for _, bad := range []string{":amz", "a b", "aws:" + strings.Repeat("x", 65), "aws:amz:r\n"} {
		if _, err := ParseSigV4(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzSigV4(f *testing.F) {
	f.Add("aws:amz:us-east-1:s3", "/a%20b", "b=2&a=1&a")
	f.Add("x", "", "%zz&=&%")
	f.Fuzz(func(t *testing.T, flag, path, query string) {
		s, err := ParseSigV4(flag)
		if err != nil {
			return
		}
		signed, err := s.Sign(SignRequest{Method: "GET", Host: "a.b.c", HostName: "a.b.c", Path: path, Query: query}, "u", "p")
		if err != nil {
			t.Skip()
		}
		for _, line := range signed {
			if strings.ContainsAny(line[0]+line[1], "\r\n\x00") {
				t.Errorf("%q breaks out of its line: %q", flag, signed)
			}
		}
		if again := canonicalQuery(canonicalQuery(query)); again != canonicalQuery(query) {
			t.Errorf("%q has two canonical forms: %q", query, again)
		}
	})
}
