package main

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

	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// unitWait is for how long a job waits for another one that writes the output of the same unit.
const unitWait = time.Minute

// unitFlag adds the flag --unit of commands that work on units of a plan.
func unitFlag(cmd *cobra.Command, which *string) {
	cmd.Flags().StringVar(which, "unit", "", "work on unit `K` of the plan that takes the place of the files, or on K:L, those from K up to L, L excluded; OUT is a folder")
}

// A unitOutput is what a command has made of a unit: a file in a folder. Its JSON is the record beside it, which is
// written once the file is complete.
type unitOutput struct {
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

func (o *unitOutput) path() string { return filepath.Join(o.folder, o.File) }

func (o *unitOutput) record() string { return filepath.Join(o.folder, o.Unit+".unit.json") }

// pieces returns the parts of the unit for package surgery.
func (o *unitOutput) pieces() (all []surgery.Piece) {
	for _, part := range o.plan.Units[o.number].Parts {
		f := o.plan.Files[part.File]
		all = append(all, surgery.Piece{Input: surgery.Input{Path: f.Path, Name: o.plan.Name}, First: part.First, End: part.End, Check: f.Check})
	}
	return all
}

// writing returns the option with which an RNTuple has the same bytes each time: the time is that of the plan, and
// its UUID is made of the plan, the unit and the work.
func (o *unitOutput) writing() surgery.Option {
	sum := sha256.Sum256([]byte(o.Plan + "\n" + o.Unit + "\n" + o.Work))
	return surgery.Write(rntuple.UUID([16]byte(sum[:16])), rntuple.Clock(o.plan.Clock), rntuple.LockWait(unitWait))
}

// workOf returns a text for a command and those of its flags and arguments on which the output depends.
func workOf(cmd *cobra.Command, args ...string) string {
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
		return 0, 0, usageError(fmt.Sprintf("--unit %s: want a number K or a range K:L; the plan has %s, from 0", which, plural(n, "unit")))
	}
	return first, end, nil
}

// eachUnit calls do for the units that the flag --unit names, but for those of which the folder has the output of
// the same work already. Do makes the file at the output's path.
func (t *tool) eachUnit(cmd *cobra.Command, which, planArg, folder, suffix, work string, do func(*unitOutput) error) error {
	for _, flag := range []string{"all", "dry-run", "explain", "from", "name", "skip-bad", "units"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			return usageError("--unit cannot be combined with --" + flag)
		}
	}
	if remote.IsURL(folder) || folder == "-" {
		return usageError("--unit: OUT must be a folder on disk")
	}
	force, err := cmd.Flags().GetBool("force")
	if err != nil {
		return err
	}
	plan, err := t.readPlan(cmd.Context(), planArg)
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
	t.wait = unitWait
	id := plan.ID()
	for i := first; i < end; i++ {
		name := plan.Units[i].Name
		o := &unitOutput{Plan: id, Unit: name, Work: work, File: name + suffix, plan: plan, number: i, folder: folder}
		if err := t.makeUnit(cmd, o, force, do); err != nil {
			return fmt.Errorf("unit %s: %w", name, err)
		}
	}
	return nil
}

// makeUnit makes an output and its record, unless both are there.
func (t *tool) makeUnit(cmd *cobra.Command, o *unitOutput, force bool, do func(*unitOutput) error) error {
	if there, err := readRecord(o.record()); err == nil && !force { // a damaged record counts as none
		if there.Plan != o.Plan || there.Unit != o.Unit || there.Work != o.Work || there.File != o.File {
			return fmt.Errorf("%s is of other work, %s on unit %s of plan %s; --force replaces it", o.record(), there.Work, there.Unit, there.Plan)
		}
		if there.check(o.folder, false) == nil {
			t.note("unit %s is done already", o.Unit)
			return nil
		}
	}
	ctx := cmd.Context()
	if err := t.beginOutput(ctx, o.path(), true); err != nil {
		return err
	}
	if err := do(o); err != nil {
		return err
	}
	var err error
	if o.Size, o.Sum, err = sumOfFile(o.path()); err != nil {
		return err
	}
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := t.beginOutput(ctx, o.record(), true); err != nil {
		return err
	}
	return t.writeFile(ctx, o.record(), append(b, '\n'))
}

// readRecord reads the record of an output.
func readRecord(path string) (*unitOutput, error) {
	b, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o := new(unitOutput)
	if err := json.Unmarshal(b, o); err != nil {
		return nil, fmt.Errorf("%s is not the record of a unit: %w", path, err)
	}
	return o, nil
}

// check returns an error unless the file is there and complete; fast compares its size only.
func (o *unitOutput) check(folder string, fast bool) error {
	if filepath.Base(o.File) != o.File {
		return fmt.Errorf("%q is not the name of a file", o.File)
	}
	o.folder = folder
	if info, err := os.Stat(o.path()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing", o.File)
	} else if err != nil {
		return err
	} else if info.Size() != o.Size {
		return fmt.Errorf("%s is damaged: it has %d bytes, and not %d", o.File, info.Size(), o.Size)
	}
	if fast {
		return nil
	}
	_, sum, err := sumOfFile(o.path())
	if err == nil && sum != o.Sum {
		err = fmt.Errorf("%s is damaged: its SHA-256 is %s, and not %s", o.File, sum, o.Sum)
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

// cutUnits makes RNTuples of units by an operation on the pieces of each.
func (t *tool) cutUnits(cmd *cobra.Command, which string, args []string, do func(out string, pieces []surgery.Piece, identity ...surgery.Option) error) error {
	if len(args) != 2 {
		return usageError("--unit takes two arguments, a folder and a plan")
	}
	return t.eachUnit(cmd, which, args[1], args[0], ".root", workOf(cmd), func(o *unitOutput) error {
		return do(o.path(), o.pieces(), o.writing())
	})
}
