package outfile

import "syscall"

func bindMount(source, target string) error {
	return syscall.Mount(source, target, "", syscall.MS_BIND, "")
}
func unmount(target string) { _ = syscall.Unmount(target, syscall.MNT_DETACH) }
