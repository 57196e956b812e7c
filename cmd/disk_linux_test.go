package cmd_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of 1 MiB and that many inodes; "" where this
// machine does not let root mount.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Logf("mounting is not allowed here (%v): /dev/full stands for it", err)
		return ""
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestFullDisk: a disk without room ends an operation with one clear line, at
// once where that can be known, without another attempt, and leaves what was there.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount a small file system")
	}
	dir := smallDisk(t, "size=1m")
	if dir == "" {
		return
	}
	bide := buildBide(t)
	var requests atomic.Int64
	address := rawServer(t, answering(func(w io.Writer) {
		requests.Add(1)
		_, _ = io.WriteString(w, reply(strings.Repeat("x", 3<<20), `ETag: "e"`, "Set-Cookie: a=b; max-age=60"))
	}))
	url := "http://" + address + "/"
	file := filepath.Join(dir, "f")
	run := func(t *testing.T, code int, sent int64, line string, args ...string) {
		t.Helper()
		requests.Store(0)
		e := runBuilt(t, bide, append(append([]string{"-sS"}, args...), url)...)
		wantHostile(t, e, code, line)
		if n := requests.Load(); n != sent {
			t.Errorf("%d requests, want %d", n, sent)
		}
	}
	names := func(t *testing.T, want ...string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("the disk holds %q, want %q", got, want)
		}
	}
	const full = `^bide: \(23\) cannot write .*: no space left on device`
	writeFile(t, file, "as it was")
	t.Run("in_the_middle", func(t *testing.T) {
		run(t, 23, 1, full, "-o", file)
		names(t, "f")
		if b, _ := os.ReadFile(file); string(b) != "as it was" {
			t.Errorf("the file became %.20q", b)
		}
	})
	t.Run("the_part_stays", func(t *testing.T) {
		run(t, 23, 1, full, "-C", "-", "-o", file+"2")
		names(t, "f", "f2.part", "f2.part.json")
		for _, suffix := range []string{"2.part", "2.part.json"} {
			_ = os.Remove(file + suffix)
		}
	})
	pad := filepath.Join(dir, "pad")
	f, err := os.Create(pad)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(f, zeros{}) // until it is full
	_ = f.Close()
	t.Run("from_the_start", func(t *testing.T) {
		run(t, 23, 1, full, "-o", file)
		names(t, "f", "pad")
	})
	for name, args := range map[string][]string{
		"headers":  {"-D", filepath.Join(dir, "x")},
		"trace":    {"--trace", filepath.Join(dir, "x")},
		"timeline": {"--timeline-file", filepath.Join(dir, "x")},
		"jar":      {"-c", filepath.Join(dir, "x")},
		"etag":     {"--etag-save", filepath.Join(dir, "x")},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, 23, 1, `no space left on device`, append(args, "-o", os.DevNull)...)
			_ = os.Remove(filepath.Join(dir, "x"))
			names(t, "f", "pad")
		})
	}
	t.Run("spool", func(t *testing.T) {
		big := filepath.Join(t.TempDir(), "big")
		writeFile(t, big, strings.Repeat("x", 2<<20))
		requests.Store(0)
		e := runBuilt(t, "/bin/sh", "-c", `cat "$2" | TMPDIR="$3" "$1" -sS -T - "$4"`, "sh", bide, big, dir, url)
		wantHostile(t, e, 26, `^bide: \(26\) cannot spool standard input for a retry \(--no-spool streams it once\): .*no space left on device`)
		if n := requests.Load(); n != 0 {
			t.Errorf("%d requests went out", n)
		}
		names(t, "f", "pad")
	})
	t.Run("no_inode", func(t *testing.T) {
		dir := smallDisk(t, "size=1m,nr_inodes=1")
		run(t, 23, 1, full, "-o", filepath.Join(dir, "f"))
	})
	t.Run("read_only", func(t *testing.T) {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		run(t, 23, 1, `read-only file system`, "-o", filepath.Join(dir, "new"))
		run(t, 23, 1, `read-only file system`, "-o", file)
	})
}

// TestVanishingFolder: the folder of a file goes while the body comes.
func TestVanishingFolder(t *testing.T) {
	bide := buildBide(t)
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	address := rawServer(t, func(c net.Conn) {
		answering(func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
			for {
				if entries, _ := os.ReadDir(dir); len(entries) > 0 {
					break
				}
			}
			_ = os.RemoveAll(dir)
			_, _ = io.WriteString(w, "def")
		})(c)
	})
	e := runBuilt(t, bide, "-sS", "-o", filepath.Join(dir, "f"), "http://"+address+"/")
	wantHostile(t, e, 23, `^bide: \(23\) cannot write .*/d/f: no such file or directory`)
}
