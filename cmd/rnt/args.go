package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// fileArgs checks the arguments FILE [NTUPLE] where limit is 2, FILE where it is 1.
func fileArgs(limit int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError("which file?")
		case len(args) > limit:
			return usageError("unexpected arguments: " + strings.Join(args[limit:], " "))
		}
		return nil
	}
}

// completeArgs completes FILE and NTUPLE in the shell.
func completeArgs(limit int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return []string{"root"}, cobra.ShellCompDirectiveFilterFileExt
		}
		var names []string
		if len(args) < limit {
			infos, _ := rntuple.ListFile(args[0])
			for _, info := range infos {
				names = append(names, info.Path)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// open opens the RNTuple that the arguments FILE [NTUPLE] name.
func open(ctx context.Context, args []string) (*rntuple.Reader, error) {
	name := ""
	if len(args) > 1 {
		name = args[1]
		if name == "" {
			return nil, usageError("NTUPLE is empty")
		}
	}
	return rntuple.Open(args[0], name, rntuple.Context(ctx))
}

// entries is a number of entries as a flag.
type entries int64

// all is the number of entries that no RNTuple reaches.
const all entries = math.MaxInt64

func (e *entries) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("want a number of entries, 0 or more")
	}
	*e = entries(n)
	return nil
}

func (e *entries) String() string {
	if *e == all {
		return "" // so that help shows no default
	}
	return strconv.FormatInt(int64(*e), 10)
}

func (e *entries) Type() string { return "N" }
