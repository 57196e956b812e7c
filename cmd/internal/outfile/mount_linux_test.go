package outfile

import "syscall"

func bindMount(source, target string) error {
	return syscall.Mount(source, target, "", syscall.MS_BIND, "")
}

// smallMount puts a file system of 64 KiB at target.
func smallMount(target string) error { return syscall.Mount("tmpfs", target, "tmpfs", 0, "size=64k") }

func unmount(target string) { _ = syscall.Unmount(target, syscall.MNT_DETACH) }
