package cli

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls do for a command and all below it.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

// takeFlagsOnce makes it an error to give a flag of a command two different values, of which the
// first would be lost. Flags that have several values collect them.
func takeFlagsOnce(c *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{c.PersistentFlags(), c.Flags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			switch f.Value.(type) {
			case pflag.SliceValue, *once:
				return
			}
			f.Value = &once{Value: f.Value}
			if f.DefValue == "0s" {
				f.DefValue = "0" // which help does not print
			}
		})
	}
}

// once is the value of a flag that has one.
type once struct {
	pflag.Value
	given bool
}

func (o *once) Set(text string) error {
	before := o.String()
	if err := o.Value.Set(text); err != nil {
		return err
	}
	if o.given && o.String() != before {
		return fmt.Errorf("already set to %q", before)
	}
	o.given = true
	return nil
}

// Bytes is the value of a flag, a number of bytes.
type Bytes int64

// byteUnits are the letters that may follow a number of bytes, each 1024 times the last.
const byteUnits = "KMGT"

func (b *Bytes) Set(s string) error {
	number, shift := s, 0
	if n := len(s); n > 0 {
		if i := strings.IndexByte(byteUnits, s[n-1]&^('a'-'A')); i >= 0 {
			number, shift = s[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || bits.Len64(uint64(n))+shift > 63 {
		return fmt.Errorf(`want a number of bytes, such as "2G", "512M" or "1000000"`)
	}
	*b = Bytes(n << shift)
	return nil
}

func (b *Bytes) String() string {
	if *b == 0 {
		return "" // so that help shows no default
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *Bytes) Type() string { return "SIZE" }

// Entries is the value of a flag, a number of entries.
type Entries int64

// All is a number of entries that no RNTuple reaches.
const All Entries = math.MaxInt64

func (e *Entries) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("want a number of entries, 0 or more")
	}
	*e = Entries(n)
	return nil
}

func (e *Entries) String() string {
	if *e == All {
		return "" // so that help shows no default
	}
	return strconv.FormatInt(int64(*e), 10)
}

func (e *Entries) Type() string { return "N" }
