package cli

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// AnyNumber is the limit of commands that take any number of arguments.
const AnyNumber = math.MaxInt

// FileArgs checks the arguments FILE [NTUPLE] if limit is 2, FILE if it is 1, and
// FILE... if it is AnyNumber.
func FileArgs(limit int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return UsageError("missing argument FILE")
		case len(args) > limit:
			return UsageError("unexpected arguments: " + strings.Join(args[limit:], " "))
		}
		return nil
	}
}

// OutArgs checks the arguments OUT IN..., at most limit in total.
func OutArgs(limit int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return UsageError("missing argument OUT")
		case 1:
			return UsageError("missing argument IN")
		}
		return FileArgs(limit)(cmd, args)
	}
}

// NameOf returns NTUPLE of the arguments FILE [NTUPLE], or nothing.
func NameOf(args []string) string {
	if len(args) > 1 {
		return args[1]
	}
	return ""
}

// CheckedName is like nameOf, but NTUPLE must not be empty.
func CheckedName(args []string) (string, error) {
	if len(args) > 1 && args[1] == "" {
		return "", UsageError("NTUPLE is empty")
	}
	return NameOf(args), nil
}

// rangeOf matches IN[FIRST:END].
var rangeOf = regexp.MustCompile(`^(.+)\[(\d*):(\d*)\]$`)

// CutRange returns IN, FIRST and END of the argument IN[FIRST:END], or the argument if it is IN
// alone.
func CutRange(arg string) (in string, ends [2]string) {
	if m := rangeOf.FindStringSubmatch(arg); m != nil {
		return m[1], [2]string(m[2:])
	}
	return arg, ends
}

// shortCount returns args with -5, an argument of the commands head and tail, written
// as -n5.
func shortCount(root *cobra.Command, args []string) []string {
	args = append([]string{}, args...) // not nil, for which cobra would take os.Args
	withValue := []string{"-n", "--count", "-f", "--fields", "-j", "--jobs", "--interval"}
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Name() != "head" && cmd.Name() != "tail" {
		return args
	}
	for i, arg := range args {
		if arg == "--" {
			break
		}
		isValue := i > 0 && slices.Contains(withValue, args[i-1])
		if !isValue && minusNumber.MatchString(arg) {
			args[i] = "-n" + arg[1:]
		}
	}
	return args
}

var minusNumber = regexp.MustCompile(`^-[0-9]+$`)

// takeLists has a command replace each argument @LIST by the names in the text file LIST.
func (t *Tool) takeLists(c *cobra.Command) {
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var all []string
		for _, arg := range args {
			names := []string{arg}
			if list, ok := strings.CutPrefix(arg, "@"); ok {
				var err error
				if names, err = rntuple.PathsIn(cmd.Context(), list, new(t.Input.Remote())); err != nil {
					return err
				}
			}
			all = append(all, names...)
		}
		return run(cmd, all)
	}
}
