package outfile

import "golang.org/x/sys/unix"

// pipeBuf is PIPE_BUF.
const pipeBuf = 4096

// writeNow writes what the file takes without waiting, whatever its mode; full
// says that it took less than p. Pipes of older kernels do not know RWF_NOWAIT.
func writeNow(fd int, p []byte) (n int, full bool, err error) {
	n, err = unix.Pwritev2(fd, [][]byte{p}, -1, unix.RWF_NOWAIT)
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EINVAL {
		n, err = writeCarefully(fd, p)
		return n, false, err
	}
	return n, n < len(p), err
}
