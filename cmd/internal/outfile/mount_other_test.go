//go:build unix && !linux

package outfile

import "syscall"

func bindMount(string, string) error { return syscall.ENOSYS }
func smallMount(string) error        { return syscall.ENOSYS }
func unmount(string)                 {}
