package units

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// unitWait is for how long a job waits for another one that writes the output of the same unit.
const unitWait = time.Minute

// Flag adds the flag --unit of commands that work on units of a plan.
func Flag(cmd *cobra.Command, which *string) {
	cmd.Flags().StringVar(which, "unit", "",
		"process unit `K` of the plan given in place of the files, or the range K:L, excluding L; OUT is a folder")
}

// An Output is what a command has made of a unit: a file in a folder. Its JSON is the record beside
// it, which is written once the file is complete.
type Output struct {
	Plan string `json:"plan"` // its ID
	Unit string `json:"unit"` // its name
	Work string `json:"work"` // the command with its flags
	File string `json:"file"` // without the folder
	Size int64  `json:"size"` // in bytes
	Sum  string `json:"sha256"`

	plan   *workunits.Plan
	number int // of the unit
	folder string
}

// Path returns the path of the file.
func (o *Output) Path() string { return filepath.Join(o.folder, o.File) }

func (o *Output) record() string { return filepath.Join(o.folder, o.Unit+".unit.json") }

// Pieces returns the parts of the unit for package surgery.
func (o *Output) Pieces() (all []surgery.Piece) {
	for _, part := range o.plan.Units[o.number].Parts {
		f := o.plan.Files[part.File]
		all = append(all, surgery.Piece{Input: surgery.Input{Path: f.Path, Name: o.plan.Name}, First: part.First,
			End: part.End, Check: f.Check})
	}
	return all
}

// Open opens the entries of the unit.
func (o *Output) Open(opts *rntuple.ReadOptions) (*rntuple.Chain, error) {
	return o.plan.Open(o.number, opts)
}

// An Identity sets the options with which a file has the same bytes each time.
type Identity func(*rntuple.FileOptions)

// Identify is the Identity of the output: the time is that of the plan, and the UUID is made of the
// plan, the unit and the work.
func (o *Output) Identify(f *rntuple.FileOptions) {
	sum := sha256.Sum256([]byte(o.Plan + "\n" + o.Unit + "\n" + o.Work))
	f.UUID, f.Clock, f.LockWait = [16]byte(sum[:16]), o.plan.Clock, unitWait
}

// Work returns a text for a command and those of its flags and arguments on which the output
// depends.
func Work(cmd *cobra.Command, args ...string) string {
	words := []string{cmd.Name()}
	for _, arg := range args {
		words = append(words, strconv.Quote(arg))
	}
	ignored := []string{"expr", "force", "json", "no-sync", "no-verify", "no-zones", "out", "plan", "unit", "units"}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { // by name
		if f.Changed && !slices.Contains(ignored, f.Name) {
			words = append(words, fmt.Sprintf("--%s=%q", f.Name, f.Value))
		}
	})
	return strings.Join(words, " ")
}

// unitRange returns the range of units that the flag --unit names.
func unitRange(which string, plan *workunits.Plan) (first, end int, err error) {
	n := len(plan.Units)
	low, high, ranged := strings.Cut(which, ":")
	if ranged {
		low, high = cmp.Or(low, "0"), cmp.Or(high, strconv.Itoa(n))
	}
	first, err = strconv.Atoi(low)
	end = first + 1
	if err == nil && ranged {
		end, err = strconv.Atoi(high)
	}
	if err != nil || first < 0 || end < first || end > n {
		return 0, 0, cli.UsageError(fmt.Sprintf(
			"--unit %s: want a number K or a range K:L; the plan has %s, numbered from 0", which,
			text.Plural(n, "unit")))
	}
	return first, end, nil
}

// Each calls do for the units that the flag --unit names, but for those of which the folder has the
// output of the same work already. Do makes the file at the output's path.
func Each(t *cli.Tool, cmd *cobra.Command, which, planArg, folder, suffix, work string, do func(*Output) error) error {
	for _, flag := range []string{"all", "dry-run", "explain", "from", "name", "skip-bad", "units"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			return cli.UsageError("--unit cannot be combined with --" + flag)
		}
	}
	if remote.IsURL(folder) || folder == "-" {
		return cli.UsageError("--unit: OUT must be a local folder")
	}
	force, err := cmd.Flags().GetBool("force")
	if err != nil {
		return err
	}
	plan, err := readPlan(cmd.Context(), t, planArg)
	if err != nil {
		return err
	}
	first, end, err := unitRange(which, plan)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	t.Output.Wait = unitWait
	id := plan.ID()
	for i := first; i < end; i++ {
		name := plan.Units[i].Name
		o := &Output{Plan: id, Unit: name, Work: work, File: name + suffix, plan: plan, number: i, folder: folder}
		if err := makeUnit(t, cmd, o, force, do); err != nil {
			return fmt.Errorf("unit %s: %w", name, err)
		}
	}
	return nil
}

// makeUnit makes an output and its record, unless both are there.
func makeUnit(t *cli.Tool, cmd *cobra.Command, o *Output, force bool, do func(*Output) error) error {
	if there, err := readRecord(o.record()); err == nil && !force { // a damaged record counts as none
		if there.Plan != o.Plan || there.Unit != o.Unit || there.Work != o.Work || there.File != o.File {
			return fmt.Errorf(
				"%s was made by another command, %s for unit %s of plan %s; --force replaces it", o.record(), there.Work,
				there.Unit, there.Plan)
		}
		if there.check(o.folder, false) == nil {
			t.Report.Note("unit %s is already done", o.Unit)
			return nil
		}
	}
	ctx := cmd.Context()
	if err := t.Output.Begin(ctx, o.Path(), true); err != nil {
		return err
	}
	if err := do(o); err != nil {
		return err
	}
	var err error
	if o.Size, o.Sum, err = sumOfFile(o.Path()); err != nil {
		return err
	}
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := t.Output.Begin(ctx, o.record(), true); err != nil {
		return err
	}
	return t.Output.WriteFile(ctx, o.record(), append(b, '\n'))
}

// readRecord reads the record of an output.
func readRecord(path string) (*Output, error) {
	b, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o := new(Output)
	if err := json.Unmarshal(b, o); err != nil {
		return nil, fmt.Errorf("%s is not the record of a unit: %w", path, err)
	}
	return o, nil
}

// check returns an error unless the file is there and complete; fast compares its size only.
func (o *Output) check(folder string, fast bool) error {
	if filepath.Base(o.File) != o.File {
		return fmt.Errorf("%q is not the name of a file", o.File)
	}
	o.folder = folder
	if info, err := os.Stat(o.Path()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing", o.File)
	} else if err != nil {
		return err
	} else if info.Size() != o.Size {
		return fmt.Errorf("%s is damaged: it has %d bytes, want %d", o.File, info.Size(), o.Size)
	}
	if fast {
		return nil
	}
	_, sum, err := sumOfFile(o.Path())
	if err == nil && sum != o.Sum {
		err = fmt.Errorf("%s is damaged: its SHA-256 is %s, want %s", o.File, sum, o.Sum)
	}
	return err
}

// sumOfFile returns the size of a file in bytes, and its SHA-256.
func sumOfFile(path string) (size int64, sum string, err error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// Cut makes RNTuples of units by an operation on the pieces of each.
func Cut(t *cli.Tool, cmd *cobra.Command, which string, args []string,
	do func(out string, pieces []surgery.Piece, identity Identity) error) error {
	if len(args) != 2 {
		return cli.UsageError("--unit requires two arguments, a folder and a plan")
	}
	return Each(t, cmd, which, args[1], args[0], ".root", Work(cmd), func(o *Output) error {
		return do(o.Path(), o.Pieces(), o.Identify)
	})
}
