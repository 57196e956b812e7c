package flags

import (
	"bytes"
	"os"
	"strconv"
	"unsafe"
)

// scrub writes into the memory that the kernel shows as the command line. The
// runtime's os.Args strings lie in it uncopied; anything else (a literal would
// be read-only) is recognised by its address and left alone.
func scrub(args []string, spans []ArgSpan) {
	low, high, ok := argArea()
	if !ok {
		return
	}
	for _, s := range spans {
		if s.Index < 0 || s.Index >= len(args) || s.Start < 0 || s.Start >= s.End || s.End > len(args[s.Index]) {
			continue
		}
		data := unsafe.StringData(args[s.Index])
		address := uint64(uintptr(unsafe.Pointer(data)))
		if address < low || address+uint64(len(args[s.Index])) > high {
			continue
		}
		for i := range unsafe.Slice(data, len(args[s.Index]))[s.Start:s.End] {
			unsafe.Slice(data, len(args[s.Index]))[s.Start+i] = '*'
		}
	}
}

// argArea is where the kernel keeps the arguments: arg_start and arg_end of
// /proc/self/stat (fields 48 and 49; the second field may hold spaces).
func argArea() (low, high uint64, ok bool) {
	const first = 48 - 3 // after ") ", field 3 is the first
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < first+2 {
		return 0, 0, false
	}
	low, err1 := strconv.ParseUint(string(fields[first]), 10, 64)
	high, err2 := strconv.ParseUint(string(fields[first+1]), 10, 64)
	return low, high, err1 == nil && err2 == nil && low != 0 && low < high
}
