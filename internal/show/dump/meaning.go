package dump

import (
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
)

// meanings holds functions that say what the values of a kind of record stand for,
// by the last one or two names of their paths.
type meanings map[string]func(path string, v any) string

// of returns what a value stands for, or "".
func (m meanings) of(path string, v any) string {
	names := strings.Split(plain(path), ".")
	for n := min(2, len(names)); n > 0; n-- {
		if say := m[strings.Join(names[len(names)-n:], ".")]; say != nil {
			return say(path, v)
		}
	}
	return ""
}

var indices = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d+\]`) })

// plain returns a path without indices.
func plain(path string) string { return indices().ReplaceAllString(path, "") }

// with returns the union of m and others.
func (m meanings) with(others meanings) meanings {
	all := maps.Clone(m)
	maps.Copy(all, others)
	return all
}

// say makes a meaning from a function on values of one type.
func say[T any](f func(T) string) func(string, any) string {
	return func(_ string, v any) string {
		if t, ok := v.(T); ok {
			return f(t)
		}
		return ""
	}
}

// number returns the value of any integer.
func number(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprintf("%d", v), 10, 64)
	return n
}

// frames holds the meanings common to the metadata of all dialects.
var frames = meanings{
	"size": func(_ string, v any) string {
		if n := number(v); n < 0 {
			return fmt.Sprintf("list frame of %d bytes", -n)
		}
		return "record frame"
	},
	"word": say(func(w uint64) string {
		if w == 0 {
			return "no feature"
		}
		return fmt.Sprintf("%#x", w)
	}),
	"locator.head": say(func(head int32) string {
		if head >= 0 {
			return fmt.Sprintf("%d bytes in the file", head)
		}
		word := -uint32(head)
		return fmt.Sprintf("locator of %d bytes, type %v, reserved %#02x", word&0xffff, locator.Type(word>>24), word>>16&0xff)
	}),
	"structural role": say(func(r envelope.Role) string { return roles[r] }),
	"field.parent": func(path string, v any) string {
		if own := regexp.MustCompile(`fields\[(\d+)\]\.field\.parent$`).FindStringSubmatch(path); own != nil &&
			own[1] == fmt.Sprint(v) {
			return "itself: a top-level field"
		}
		return ""
	},
	"compression settings": func(_ string, v any) string { return compress.Settings(number(v)).String() },
	"content identifier":   func(_ string, v any) string { return map[int64]string{0: "streamer info"}[number(v)] },
	"element offset": say(func(n int64) string {
		if n < 0 {
			return "suppressed column"
		}
		return ""
	}),
	"cluster summary.number of entries": say(func(word uint64) string {
		return fmt.Sprintf("%d entries, flags %#02x", word<<8>>8, word>>56)
	}),
}

var roles = map[envelope.Role]string{
	envelope.RolePlain: "plain", envelope.RoleCollection: "collection", envelope.RoleRecord: "record",
	envelope.RoleVariant: "variant", envelope.RoleStreamer: "streamer",
}

// current holds the meanings of format 1.
var current = frames.with(meanings{
	"head": say(func(w uint64) string { return fmt.Sprintf("%v envelope of %d bytes", envelope.Type(w), w>>16) }),
	"field.flags": flags(map[uint16]string{
		envelope.FieldRepetitive: "repetitive", envelope.FieldProjected: "projected",
		envelope.FieldChecksum: "has type checksum", envelope.FieldSoA: "SoA collection",
	}),
	"column.type":  say(column.Type.String),
	"column.flags": flags(map[uint16]string{envelope.ColumnDeferred: "deferred", envelope.ColumnRanged: "has range"}),
	"number of elements": say(func(n int32) string {
		if n < 0 {
			return fmt.Sprintf("%d elements, the checksum follows the page", -int64(n))
		}
		return "no checksum"
	}),
})

// older holds the meanings of pre-release formats.
var older = frames.with(meanings{
	"head":        current["head"],
	"column.type": func(_ string, v any) string { return lift.Type(lift.Types[:], uint32(number(v))).String() },
})

// flags returns a meaning that spells out flags.
func flags(names map[uint16]string) func(string, any) string {
	return say(func(f uint16) string {
		var set []string
		for bit := range 16 {
			one := uint16(1) << bit
			switch name := names[one]; {
			case f&one == 0:
			case name == "":
				set = append(set, fmt.Sprintf("unknown %#x", one))
			default:
				set = append(set, name)
			}
		}
		if set == nil {
			return "none"
		}
		return strings.Join(set, ", ")
	})
}

const countMask = 1<<30 - 1

// container holds the meanings of the ROOT file and the anchor.
var container = meanings{
	"datime":   say(datime),
	"created":  say(datime),
	"modified": say(datime),
	"nbytes": say(func(n int32) string {
		if n < 0 {
			return fmt.Sprintf("gap of %d bytes", -int64(n))
		}
		return ""
	}),
	"byte count": say(func(n uint32) string { return fmt.Sprintf("%d bytes follow", n&countMask) }),
	"version": say(func(v uint16) string {
		if v > rootfile.BigVersion {
			return fmt.Sprintf("%d, big form", v-rootfile.BigVersion)
		}
		return ""
	}),
	"compression": func(_ string, v any) string { return compress.Settings(number(v)).String() },
	"uuid":        say(func(b []byte) string { return hex.EncodeToString(b) }),
}

// fileHeader holds the meanings of the file header.
var fileHeader = container.with(meanings{
	"magic": say(func(uint32) string { return `"root"` }),
	"version": say(func(v uint32) string {
		form := "small form"
		if v >= 1000000 {
			v, form = v-1000000, "big form"
		}
		return fmt.Sprintf("ROOT %d.%02d.%02d, %s", v/10000, v/100%100, v%100, form)
	}),
})

func datime(d rootfile.Datime) string {
	if d == 0 {
		return ""
	}
	return d.Time().Format("2006-01-02 15:04:05")
}
