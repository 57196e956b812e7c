//go:build unix && !linux

package outfile

// pipeBuf is the least PIPE_BUF there is (POSIX).
const pipeBuf = 512

func writeNow(fd int, p []byte) (n int, full bool, err error) {
	n, err = writeCarefully(fd, p)
	return n, false, err
}
