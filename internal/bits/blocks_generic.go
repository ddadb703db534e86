//go:build purego || !amd64

package bits

// These exist on amd64 only; see blocks_amd64.go.

func unpackBlocks(dst []uint32, src []byte, width, left int) int { return 0 }
func float32Blocks(dst []uint32, src []uint16) int               { return 0 }
func float16Blocks(dst []uint16, src []uint32) int               { return 0 }

func endsBlocks(dst, ends []uint64, begin, shift uint64) (n int, wrong uint64) { return 0, 0 }
