package cli

import (
	"fmt"

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

// takeFlagsOnce makes it an error to give a flag of a command two different values, of which the first would be lost. Flags
// that have several values collect them.
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
		return fmt.Errorf("it has the value %q already", before)
	}
	o.given = true
	return nil
}
