package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// CompleteFiles completes the names of ROOT files.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"root"}, cobra.ShellCompDirectiveFilterFileExt
}

// CompleteArgs completes arguments of which the first files ones are files, and
// those up to limit names of RNTuples in the last of these files.
func CompleteArgs(files, limit int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) < files:
			return CompleteFiles(cmd, args, word)
		case len(args) < limit:
			return ntuplesOf(args[files-1]), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// ntuplesOf returns the paths of the RNTuples in a file, without older cycles; none if it cannot be
// read.
func ntuplesOf(path string) (names []string) {
	infos, _ := rntuple.ListFile(context.Background(), path, nil)
	for _, info := range infos {
		if info.Newest {
			names = append(names, info.Path)
		}
	}
	return names
}

// NameFlag adds the flag --name for files from the argument of the given number on.
func NameFlag(cmd *cobra.Command, name *string, file int) {
	cmd.Flags().StringVar(name, "name", "", "name of the RNTuples (default the only one in each file)")
	CompleteNames(cmd, "name", file)
}

// CompleteNames completes the value of a flag with the names of the RNTuples in
// the file that is the argument of the given number.
func CompleteNames(cmd *cobra.Command, flag string, file int) {
	cmd.RegisterFlagCompletionFunc(flag,
		func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) <= file {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return ntuplesOf(args[file]), cobra.ShellCompDirectiveNoFileComp
		})
}

// CompleteValues completes the value of a flag with one of several words, each of
// which may be followed by a tab and a description.
func CompleteValues(cmd *cobra.Command, flag string, words ...string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteFields completes the value of a flag that lists fields. File is the
// number of the argument that names the file; the RNTuple in it is the next
// argument, or the value of the flag --name.
func CompleteFields(cmd *cobra.Command, flag string, file int) {
	cmd.RegisterFlagCompletionFunc(flag,
		func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
			if len(args) <= file {
				return nil, directive
			}
			name := ""
			if f := cmd.Flags().Lookup("name"); f != nil {
				name = f.Value.String()
			} else if len(args) > file+1 {
				name = args[file+1]
			}
			path, _ := CutRange(args[file])
			r, err := rntuple.Open(path, name, nil)
			if err != nil {
				return nil, directive
			}
			defer r.Close()
			before := word[:strings.LastIndexByte(word, ',')+1] // the fields that are complete
			var words []string
			for _, path := range PathsLike(r.Schema().Fields, word[len(before):]) {
				words = append(words, before+path)
			}
			return words, directive
		})
}

// maxCompletions limits the number of completions.
const maxCompletions = 2000

// PathsLike returns the paths of fields that begin with word, of the level that
// word has reached: members of a record once its name is followed by a dot.
func PathsLike(fields []*schema.Field, word string) (paths []string) {
	for _, f := range fields {
		path := f.Path()
		switch {
		case len(paths) >= maxCompletions:
			return paths
		case strings.HasPrefix(word, path+"."):
			paths = append(paths, PathsLike(f.Children, word)...)
		case strings.HasPrefix(path, word):
			paths = append(paths, path)
		}
	}
	return paths
}
