package compress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Settings tells how to compress: 100 times the Algorithm plus the level, for
// example 505 for zstd at level 5. Level 0 stores the data as they are.
// Specification: "Basic Types", compression settings.
type Settings uint32

// Default is what RNTuples are written with unless another setting is asked for, by
// this library as by ROOT: zstd at level 5.
const Default Settings = 505

// None stores data as they are, as every setting of level 0 does. In options it stands for ROOT's
// setting 0, because a zero value there stands for the default.
const None Settings = 100

// An Algorithm is a compression algorithm, by its number in Settings.
type Algorithm uint32

// The algorithms. The numbers are ROOT's. They do not occur in blocks, which have
// a magic of two letters instead.
const (
	Inherit Algorithm = iota // the writer's default; Append uses Zlib, as ROOT does
	Zlib
	LZMA
	OldDeflate // raw deflate in CS blocks; settings 301 to 309 still write it
	LZ4
	Zstd
)

// Algorithm returns the algorithm of s, which may be unknown.
func (s Settings) Algorithm() Algorithm { return Algorithm(s / 100) }

// Level returns the level of s, 0 to 99. Levels 1 to 9 go from fast to small;
// Append treats a higher one as 9.
func (s Settings) Level() int { return int(s % 100) }

// String returns s in words: "zstd 5", or "none" if s stores the data as they
// are. ParseSettings accepts the result if the algorithm is known.
func (s Settings) String() string {
	if s.Level() == 0 {
		return "none"
	}
	return fmt.Sprintf("%v %d", s.Algorithm(), s.Level())
}

func (a Algorithm) String() string {
	if a == Inherit {
		return "inherit"
	}
	if c := a.codec(); c != nil {
		return c.name
	}
	return fmt.Sprintf("Algorithm(%#x)", uint32(a))
}

// ParseSettings parses settings: "none", an algorithm with a level ("zstd:5",
// "zstd 5") or without one ("lz4"), which means ROOT's default for the algorithm,
// or a number ("505"). The algorithms are zlib, lzma, deflate, lz4 and zstd, the
// levels 0 to 9.
func ParseSettings(text string) (Settings, error) {
	fail := func() (Settings, error) {
		return 0, fmt.Errorf(`compression settings %q: want "none", a number such as 505, `+
			`or zlib, lzma, deflate, lz4 or zstd with an optional level 0 to 9 ("zstd:5")`, text)
	}
	t := strings.ToLower(strings.TrimSpace(text))
	if t == "none" {
		return None, nil
	}
	if n, err := strconv.ParseUint(t, 10, 32); err == nil {
		s := Settings(n)
		if s.Level() > 9 || s.Algorithm() > Zstd {
			return fail()
		}
		if s == 0 {
			s = None
		}
		return s, nil
	}
	name, level, found := strings.Cut(t, ":")
	if !found {
		name, level, found = strings.Cut(t, " ")
	}
	i := slices.IndexFunc(codecs[:], func(c codec) bool { return c.name == name })
	if i < 0 {
		return fail()
	}
	n := codecs[i].defaultLevel
	if found {
		var err error
		if n, err = strconv.Atoi(level); err != nil || n < 0 || n > 9 {
			return fail()
		}
	}
	return Settings(int(codecs[i].algorithm)*100 + n), nil
}
