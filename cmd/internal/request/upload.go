package request

// FromFormFile makes the source of a file in a form: like FromUpload, but
// standard input is read now, because a form says how long it is (curl), unless
// files.NoSpool. Errors are *Error of class input.
func FromFormFile(name string, files *Files) (Body, error) {
	if name == "-" && files != nil && !files.NoSpool {
		held := *files
		held.MayReplay = true
		files = &held
	}
	return FromUpload(name, files)
}

// FromUpload makes the body of -T: a regular file is reopened for each attempt;
// "-", ".", a FIFO, a device or a process substitution is a stream, which curl
// sends in chunks. A stream is spooled now when files.MayReplay, unless
// files.NoSpool; else it is sent as it comes, once. Errors are *Error of class input.
func FromUpload(name string, files *Files) (Body, error) {
	if name == "." {
		name = "-"
	}
	info, stream, err := files.source(name)
	if err != nil {
		return nil, err
	}
	if info != nil {
		return &fileBody{file: frozen{files: files, name: name, info: info}}, nil
	}
	what := streamName(name)
	if files == nil || files.NoSpool || !files.MayReplay {
		return &onceBody{what: what, r: stream}, nil
	}
	defer stream.Close()
	s, err := newSpool(stream, what, files.TempDir)
	if err != nil {
		return nil, err
	}
	return &spooledBody{spool: s, chunked: true}, nil
}
