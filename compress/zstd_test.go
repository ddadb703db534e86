package compress

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/go-rntuple/go-rntuple/frame"
)

// zstdDecoders are the ones that must agree on every frame. In a build with the
// tag stockcodecs they are the same.
var zstdDecoders = map[string]func(dst, src []byte) error{"decodeZstd": decodeZstd,
	"decodeZstdModule": decodeZstdModule}

// checkZstd has all decoders decode src, which must give want or wrap wantErr.
// No byte outside of the destination may change.
func checkZstd(t *testing.T, name string, src, want []byte, wantErr error) {
	t.Helper()
	messages := map[string]bool{}
	for decoder, decode := range zstdDecoders {
		const room = 300_000 // more than any block decodes to
		buf := bytes.Repeat([]byte{0xA5}, len(want)+room)
		dst := buf[:len(want)]
		err := decode(dst, src)
		if !errors.Is(err, wantErr) || err == nil && !bytes.Equal(dst, want) {
			t.Errorf("%s, %s: %v, want %v; equal %v", name, decoder, err, wantErr, bytes.Equal(dst, want))
		}
		if !bytes.Equal(buf[len(want):], bytes.Repeat([]byte{0xA5}, room)) {
			t.Errorf("%s, %s: wrote beyond the destination", name, decoder)
		}
		if errors.Is(err, frame.ErrCorrupt) {
			messages[err.Error()] = true
		}
	}
	if len(messages) > 1 {
		t.Errorf("%s: the last word is not the module's: %v", name, messages)
	}
}

// TestZstdOptions has frames with all options that the module's encoder has,
// written at once or as a stream, which does not know the size of its content.
func TestZstdOptions(t *testing.T) {
	pages := [][]byte{{}, sample(1), sample(300), sample(5000), sample(300_000), make([]byte, 200_000), noise(140_000)}
	for name, options := range map[string][]zstd.EOption{
		"none":                {},
		"no checksum":         {zstd.WithEncoderCRC(false)},
		"single segment":      {zstd.WithSingleSegment(true)},
		"smallest window":     {zstd.WithWindowSize(zstd.MinWindowSize)},
		"window of 64 KiB":    {zstd.WithWindowSize(64 << 10)},
		"largest window":      {zstd.WithWindowSize(zstd.MaxWindowSize), zstd.WithLowerEncoderMem(true)},
		"raw literals":        {zstd.WithNoEntropyCompression(true)},
		"all literals":        {zstd.WithAllLitEntropyCompression(true)},
		"frames of nothing":   {zstd.WithZeroFrames(true)},
		"skippable frames":    {zstd.WithEncoderPadding(1000)},
		"fastest":             {zstd.WithEncoderLevel(zstd.SpeedFastest)},
		"better compression":  {zstd.WithEncoderLevel(zstd.SpeedBetterCompression)},
		"best compression":    {zstd.WithEncoderLevel(zstd.SpeedBestCompression)},
		"checksum and single": {zstd.WithEncoderCRC(true), zstd.WithSingleSegment(true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var several, content []byte
			for _, page := range pages {
				whole := e.EncodeAll(page, nil)
				checkZstd(t, fmt.Sprint(len(page), " bytes at once"), whole, page, nil)
				several, content = append(several, whole...), append(content, page...)

				var stream bytes.Buffer
				e.Reset(&stream)
				for rest := page; len(rest) > 0; {
					n := min(len(rest), 40_000) // the end of a block
					if _, err := e.Write(rest[:n]); err != nil {
						t.Fatal(err)
					}
					if err := e.Flush(); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				checkZstd(t, fmt.Sprint(len(page), " bytes as a stream"), stream.Bytes(), page, nil)
				if n := stream.Len(); n > 100 {
					checkZstd(t, fmt.Sprint(len(page), " bytes cut"), stream.Bytes()[:n/2], page, frame.ErrCorrupt)
				}
			}
			checkZstd(t, "several frames", several, content, nil)
		})
	}
}

// TestZstdLibrary has frames of libzstd, among them literals that use the
// Huffman tree of the block before and sequences that use its tables.
func TestZstdLibrary(t *testing.T) {
	names, err := filepath.Glob("../internal/codec/zstd/testdata/*.zst")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d frames, %v", len(names), err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := moduleZstdDecoder().DecodeAll(src, make([]byte, 0, 2<<20))
		if err != nil {
			t.Fatal(name, err)
		}
		checkZstd(t, name, src, want, nil)
		src[len(src)-1] ^= 1 // of the checksum
		checkZstd(t, name, src, want, frame.ErrChecksum)
	}
}

// TestZstdFrames has frames made by hand. Section numbers are those of RFC 8878.
func TestZstdFrames(t *testing.T) {
	const (
		magic = "\x28\xB5\x2F\xFD"
		abc   = "\x19\x00\x00abc" // Last_Block, Raw_Block
	)
	for _, test := range []struct {
		name, src, want string
		err             error
	}{
		{"3.1.1.1.1.1 sizes of 1 byte", magic + "\x20\x03" + abc, "abc", nil},
		{"3.1.1.1.1.1 sizes of 4 bytes", magic + "\xA0\x03\x00\x00\x00" + abc, "abc", nil},
		{"3.1.1.1.1.1 sizes of 8 bytes", magic + "\xE0\x03\x00\x00\x00\x00\x00\x00\x00" + abc, "abc", nil},
		{"3.1.1.1.1.3 unused bit", magic + "\x30\x03" + abc, "abc", nil},
		{"3.1.1.1.1.4 reserved bit", magic + "\x28\x03" + abc, "abc", frame.ErrCorrupt},
		{"3.1.1.1.1.5 checksum", magic + "\x24\x03" + abc + "\x3E\x38\x79\x48", "abc", frame.ErrChecksum},
		{"3.1.1.1.2 smallest window", magic + "\x00\x00" + abc, "abc", nil},
		{"3.1.1.1.3 dictionary 0", magic + "\x23\x00\x00\x00\x00\x03" + abc, "abc", nil},
		{"3.1.1.1.3 dictionary 7", magic + "\x21\x07\x03" + abc, "abc", frame.ErrUnsupported},
		{"3.1.1.1.4 too large", magic + "\x20\x04" + abc, "abc", frame.ErrCorrupt},
		{"3.1.1.1.4 too small", magic + "\x20\x02" + abc, "abc", frame.ErrCorrupt},
		{"3.1.1.2.1 no last block", magic + "\x00\x00\x18\x00\x00abc", "abc", frame.ErrCorrupt},
		{"3.1.1.2.2 all types", magic + "\x20\x0A\x18\x00\x00abc\x1A\x00\x00x\x1D\x00\x00\x21\x7A\x00", "abcxxxzzzz", nil},
		{"3.1.1.2.2 reserved type", magic + "\x20\x03\x1F\x00\x00abc", "abc", frame.ErrCorrupt},
		{"3.1.1.2.3 empty blocks", magic + "\x20\x03\x00\x00\x00\x02\x00\x00x" + abc, "abc", nil},
		{"3.1.1.2.4 block larger than the window", magic + "\x00\x00\x0B\x20\x00x",
			string(bytes.Repeat([]byte("x"), 1025)), frame.ErrCorrupt},
		{"3.1.1.3.1.1 treeless literals first", magic + "\x20\x04\x1D\x00\x00\x23\x7A\x00", "zzzz", frame.ErrCorrupt},
		{"3.1.1 several frames", magic + "\x20\x03" + abc + magic + "\x00\x00" + abc, "abcabc", nil},
		{"3.1.1 magic number", "\x28\xB5\x2F\xFE\x20\x03" + abc, "abc", frame.ErrCorrupt},
		{"3.1.2 skippable frames", "\x50\x2A\x4D\x18\x00\x00\x00\x00" + magic + "\x20\x03" + abc +
			"\x5F\x2A\x4D\x18\x02\x00\x00\x00??", "abc", nil},
		{"3.1.2 skippable frame cut", magic + "\x20\x03" + abc + "\x5F\x2A\x4D\x18\x03\x00\x00\x00??",
			"abc", frame.ErrCorrupt},
		{"bytes after the frame", magic + "\x20\x03" + abc + "x", "abc", frame.ErrCorrupt},
		{"more content than expected", magic + "\x00\x00" + abc, "ab", frame.ErrCorrupt},
		{"a run of more than expected", magic + "\x00\x58\x03\x00\x10x", "xx", frame.ErrCorrupt},
		{"less content than expected", magic + "\x00\x00" + abc, "abcd", frame.ErrCorrupt},
	} {
		checkZstd(t, test.name, []byte(test.src), []byte(test.want), test.err)
	}
	if maxZstdWindow > 1<<40 { // 64-bit
		checkZstd(t, "3.1.1.1.2 largest window", []byte(magic+"\x00\xFF"+abc), []byte("abc"), nil)
	}
}
