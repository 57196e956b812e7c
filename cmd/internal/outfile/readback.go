package outfile

import "io"

// ReadBack reads what a regular file in the making holds so far, also while it
// is being written to.
type ReadBack interface {
	io.ReaderAt
	Size() (int64, error)
}

// ReadBack is nil where the path is no regular file. It is valid until Commit,
// Abandon or SetPath.
func (f *FileSink) ReadBack() (ReadBack, error) {
	s, err := f.staged()
	if s == nil || err != nil {
		return nil, err
	}
	return s, nil
}

// ReadAt is ReadBack's.
func (s *staged) ReadAt(p []byte, offset int64) (int, error) {
	f, err := s.open()
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p, offset)
	if err == io.EOF {
		return n, err
	}
	return n, wrap(s.name, err)
}

// Size is ReadBack's.
func (s *staged) Size() (int64, error) {
	f, err := s.open()
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, wrap(s.name, err)
	}
	return info.Size(), nil
}
