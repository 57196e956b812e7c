package curldate

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/bidehttp/bide/httpdate"
)

// dates are what curl's manual names, and what lies beside it.
var dates = [...]string{
	"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Nov  6 08:49:37 1994",
	"06 Nov 1994 08:49:37 GMT", "06-Nov-94 08:49:37 GMT", "1994 Nov 6 08:49:37", "GMT 08:49:37 06-Nov-94 Sunday", "94 6 Nov 08:49:37",
	"1994 Nov 6", "06-Nov-94", "Sun Nov 6 94", "1994.Nov.6", "Sun/Nov/6/94/GMT", "Sun, 06 Nov 1994 08:49:37 CET", "06 Nov 1994 08:49:37 EST",
	"Sun, 12 Sep 2004 15:05:58 -0700", "Sat, 11 Sep 2004 21:32:11 +0200", "20040912 15:05:58 -0700", "20040911 +0200", "20040911",
	"Thu, 01-Jan-1970 00:59:58 GMT", "1 Jan 2000", "2000 Jan 1 1:2", "Jan 1 00", "Jan 1 70", "Jan 1 71", "31 Feb 2001", "32 Jan 2001",
	"2005-01-01", "2005-01-01T00:00:00Z", "01/02/2003", "12 Dec 12:00", "12 Dec 2001 24:00", "12 Dec 2001 12:60", "12 Dec 2001 12:00:60", "12 Dec 2001 12:00:61",
	"", " ", "x", "Sun", "Sun Mon 1 Jan 2000", "1 Jan Feb 2000", "1 Jan 2000 GMT UTC", "1 Jan 2000 UT", "1 Jan 2000 XYZ", "1 January 2000", "Tues 4 Jan 2000",
	"1 Jan 2000 A", "1 Jan 2000 i", "1 Jan 2000 J", "1 Jan 2000 K", "1 Jan 2000 M", "1 Jan 2000 N", "1 Jan 2000 Y", "1 Jan 2000 Z", "1 Jan 2000 +1400", "1 Jan 2000 +1500", "1 Jan 2000 -100",
	"1 Jan 1582", "1 Jan 1583", "99999999999 Jan 1", "1 2 3 4", "20041301", "20041232", "1 Jan 2000 1 1 1 1 1", "now", "tomorrow",
	"1 Jan 2000 AHST", "1 Jan 2000 IDLE", "1 Jan 2000 NZDT", "1 Jan 2000 BST", "1 Jan 2000 WAT", "1 Jan 2000 MESZ", "abcdefghijklmnop", "1 Jan 2000 12:00 13:00",
}

// TestLikeCurl compares with the condition that curl sends.
func TestLikeCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seen := make(chan string, 1)
	go record(l, seen)
	for _, text := range dates {
		// "+" keeps curl from reading a sign.
		out, err := exec.Command(curl, "-q", "-sS", "-m", "10", "-z", "+"+text, "http://"+l.Addr().String()).CombinedOutput()
		if err != nil {
			t.Fatalf("curl -z %q: %v\n%s", text, err, out)
		}
		want, got := <-seen, ""
		if at, ok := Parse(text); ok {
			got = httpdate.Format(at)
		}
		if got != want {
			t.Errorf("%q: %q, curl says %q", text, got, want)
		}
	}
}

func record(l net.Listener, seen chan<- string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.SetDeadline(time.Now().Add(10 * time.Second))
		if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			seen <- r.Header.Get("If-Modified-Since")
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		c.Close()
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"Sun, 06 Nov 1994 08:49:37 GMT": "1994-11-06T08:49:37Z", "20040911 12:05:58 -0700": "2004-09-11T19:05:58Z", "1 jan 2000 CET": "1999-12-31T23:00:00Z",
	} {
		if got, ok := Parse(text); !ok || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
	for _, text := range []string{"2005-01-01", "nonsense", "", "12 Dec"} {
		if got, ok := Parse(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzParse: what is written in HTTP's own form is read back.
func FuzzParse(f *testing.F) {
	for _, text := range dates {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := Parse(text)
		if !ok || at.Year() < 1583 || at.Year() > 9999 {
			return
		}
		if again, ok := Parse(httpdate.Format(at)); !ok || !again.Equal(at) {
			t.Errorf("%q is %v, then %v %v", text, at, again, ok)
		}
	})
}
