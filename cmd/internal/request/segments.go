package request

import (
	"errors"
	"io"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/bounded"
)

// dataBody is a row of segments: texts, files and spooled streams.
type dataBody struct {
	segments []segment
}

// segment is one of: a text; a regular file with its transform; a spool.
type segment struct {
	text   string
	file   *frozen
	t      transform // nil: as it is
	spool  *spool
	stream *onceBody
	size   int64 // of what it gives, -1 unknown
}

// literal adds text, to the segment before where that is text as well.
func (b *dataBody) literal(s string) {
	if n := len(b.segments); n > 0 && b.segments[n-1].isText() {
		b.segments[n-1].text += s
		b.segments[n-1].size += int64(len(s))
		return
	}
	b.segments = append(b.segments, segment{text: s, size: int64(len(s))})
}

func (s *segment) isText() bool { return s.file == nil && s.spool == nil && s.stream == nil }

// addFile adds a file's bytes through t.
func (b *dataBody) addFile(name string, t transform, files *Files) error {
	info, stream, err := files.source(name)
	if err != nil {
		return err
	}
	if info == nil {
		return b.addStream(name, stream, t, files)
	}
	s := segment{file: &frozen{files: files, name: name, info: info}, t: t, size: info.Size()}
	if t != nil {
		if s.size, err = s.measure(); err != nil {
			return err
		}
	}
	b.segments = append(b.segments, s)
	return nil
}

func (b *dataBody) addStream(name string, stream io.ReadCloser, t transform, files *Files) error {
	what := streamName(name)
	if files != nil && files.NoSpool {
		s := segment{stream: &onceBody{what: what, r: stream}, t: t, size: -1}
		b.segments = append(b.segments, s)
		return nil
	}
	defer stream.Close()
	var r io.Reader = stream
	if files != nil && files.limit > 0 {
		r = bounded.Reader(r, files.limit)
	}
	if t != nil {
		r = newTransformReader(r, t)
	}
	sp, err := newSpool(r, what, files.tempDir())
	if err != nil {
		return err
	}
	b.segments = append(b.segments, segment{spool: sp, size: sp.size})
	return nil
}

func streamName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// measure reads the file once to learn the length of what t makes of it, so
// that Content-Length is right without holding the bytes.
func (s *segment) measure() (int64, error) {
	r, err := s.open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		return 0, sourceError(s.file.name, err)
	}
	return n, nil
}

func (s *segment) open() (io.ReadCloser, error) {
	switch {
	case s.spool != nil:
		return s.spool.open()
	case s.isText():
		return io.NopCloser(strings.NewReader(s.text)), nil
	}
	var r io.ReadCloser
	var err error
	if s.stream != nil {
		r, _, err = s.stream.Open()
	} else {
		r, err = s.file.open()
	}
	if err != nil || s.t == nil {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{newTransformReader(r, s.t), r}, nil
}

func (s *segment) replay() error {
	switch {
	case s.file != nil:
		return s.file.check()
	case s.stream != nil:
		return s.stream.Replay()
	}
	return nil
}

// simplify gives the plainest body that is the same: bytes, or a whole file
// (which can go by sendfile).
func (b *dataBody) simplify() Body {
	if len(b.segments) != 1 {
		return b
	}
	switch s := b.segments[0]; {
	case s.isText():
		return Bytes(s.text)
	case s.file != nil && s.t == nil:
		return &fileBody{file: *s.file}
	}
	return b
}

// Open gives all segments in a row, and their length.
func (b *dataBody) Open() (io.ReadCloser, int64, error) {
	var row rowReader
	var size int64
	for i := range b.segments {
		s := &b.segments[i]
		r, err := s.open()
		if err != nil {
			row.Close()
			return nil, 0, err
		}
		row.closers = append(row.closers, r)
		row.readers = append(row.readers, r)
		if s.size < 0 || size < 0 {
			size = -1
		} else {
			size += s.size
		}
	}
	row.Reader = io.MultiReader(row.readers...)
	return &row, size, nil
}

// Replay asks every segment.
func (b *dataBody) Replay() error {
	for i := range b.segments {
		if err := b.segments[i].replay(); err != nil {
			return err
		}
	}
	return nil
}

// Close removes what was spooled.
func (b *dataBody) Close() error {
	var errs []error
	for _, s := range b.segments {
		if s.spool != nil {
			errs = append(errs, s.spool.Close())
		}
		if s.stream != nil {
			errs = append(errs, s.stream.Close())
		}
	}
	return errors.Join(errs...)
}

type rowReader struct {
	io.Reader
	readers []io.Reader
	closers []io.Closer
}

func (r *rowReader) Close() error {
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
