package formdata

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// likeCurl are argument lists; "|" separates arguments, S: before one is --form-string.
var likeCurl = [...]string{
	"a=b", "a=b|c=d", "f=@a.txt", "f=@a.txt;type=text/x", "f=@a.txt;type=text/plain; charset=utf-8;filename=z",
	"f=@a.txt;filename=z;type=text/plain; charset=utf-8", "f=@a.txt,b.html", `f=@a.txt;type=a/b,b.html;filename="q,r"`,
	`f=@"a.txt",c.bin,d.png`, "f=<a.txt", "f=<a.txt;type=x/y", "f=<-", "f=@-", "f=@-;filename=in.txt", "f=@-|g=@-",
	"f=@empty", "f=@./a.txt", "=x", "=@a.txt", "a=", "a=  b  ", `a="b;c"`, `a="b\"c\\d"`, `a="b`, `a="b" trailing`,
	"a=b;type=text/html", "a=b;filename=x.html", "a=b;filename=x.unknown", "a=b;filename=", "f=@b.html;filename=", "f=@c.bin;filename=",
	`a=b;headers="X-A: 1";headers=X-B: 2`, "a=b;headers=@hdr", `a=b;headers=<hdr;headers="Content-Disposition: x"`, "a=b;headers=",
	`a=b;headers="Content-Type: text/y"`, `a=b;headers="Content-Type: text/y";type=text/z`, `a=b;headers="Content-Transfer-Encoding: q";encoder=base64`,
	"a=b;encoder=base64", "f=@d.png;encoder=base64", "f=@a.txt;encoder=quoted-printable", "f=@d.png;encoder=quoted-printable", "f=@lines;encoder=quoted-printable",
	"a=b c=d e ;encoder=quoted-printable", "a=b;encoder=8bit|a=b;encoder=BINARY|a=b;encoder=7bit", `q"n\=v`, `f=@a.txt;filename=q"n\x`,
	"S:a=@b;type=x", "S:a=<b|S:=(|S:=)", "x=(;type=multipart/alternative|a=1|b=2;type=text/html|=)|c=d", "=(;type=multipart/mixed|a=1|=)",
	`x=(|y=(;headers="X: y"|a=1|=)|=)`, "x=(", "x=(|=)", "=(|=)", "a=b;type=x/y;charset=z;foo", "a=b;TYPE=x/y", "a=b;foo=bar;type=x/y", "a=b;;type=x/y",
	"a=b;type=x/y;type=p/q", "a=b;type=x/y;filename=n;type=p/q", "x=(;filename=foo;encoder=base64|a=b", "f=@a.TXT", "f=@a.txt;filename=x.JPeG",
	"a=é;type=text/plain", "n=@ a.txt ;type= text/plain ", `n=@"a.txt" ; type=text/plain ; filename = x`, "x=(;type=multipart/form-data|a=b|f=@a.txt|=)",
}

func TestLikeCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "one\n", "a.TXT": "one\n", "b.html": "two", "c.bin": "\x00\x01\x02", "d.png": strings.Repeat("\x00\xfe =\r\n?", 40), "empty": "",
		"lines": "a \r\nb\t\r\n\r\n" + strings.Repeat("long ", 40) + "\n" + strings.Repeat("é", 60), "hdr": "X-One: 1\r\n# c\r\nX-Two: a\r\n  b\r\nContent-Type: text/x\r\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	s := newRecorder(t)
	for _, escape := range []bool{false, true} {
		for _, row := range likeCurl {
			var args []Arg
			command := []string{"-q", "-sS", "-m", "10"}
			if escape {
				command = append(command, "--form-escape")
			}
			for text := range strings.SplitSeq(row, "|") {
				text, literal := strings.CutPrefix(text, "S:")
				args = append(args, Arg{Text: text, Literal: literal})
				flag := "-F"
				if literal {
					flag = "--form-string"
				}
				command = append(command, flag, text)
			}
			const input = "standard \xff input\n"
			cmd := exec.Command(curl, append(command, s.url)...)
			cmd.Stdin = strings.NewReader(input)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("curl %q: %v\n%s", command, err, out)
			}
			form, err := build(args, input, Options{Escape: escape})
			if err != nil {
				t.Errorf("%s: %v", row, err)
				continue
			}
			got := form.ContentType() + "\n" + read(t, form)
			_, size, _ := form.Open()
			want := <-s.seen
			if normal(got) != normal(want.contentType+"\n"+want.body) {
				t.Errorf("%s: we send\n%q\ncurl sends\n%q", row, normal(got), normal(want.contentType+"\n"+want.body))
			}
			if (size < 0) != want.chunked {
				t.Errorf("%s: we know %d as the length, curl sends chunks: %v", row, size, want.chunked)
			}
		}
	}
}

// normal replaces boundaries by their order: curl 7.88's are shorter.
func normal(s string) string {
	for i, m := range regexp.MustCompile(`boundary=(-{24}[0-9A-Za-z]+)`).FindAllStringSubmatch(s, -1) {
		s = strings.ReplaceAll(s, m[1], "B"+strconv.Itoa(i))
	}
	return s
}

// recorder is a loopback server that tells what it was sent.
type recorder struct {
	url  string
	seen chan sent
}

type sent struct {
	contentType, body string
	chunked           bool
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &recorder{url: "http://" + l.Addr().String() + "/", seen: make(chan sent, 1)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.serve(c)
		}
	}()
	return r
}

func (r *recorder) serve(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	if req.Header.Get("Expect") != "" {
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	var body bytes.Buffer
	body.ReadFrom(req.Body)
	r.seen <- sent{req.Header.Get("Content-Type"), body.String(), req.ContentLength < 0}
	io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}
