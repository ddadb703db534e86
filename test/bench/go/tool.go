package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// convert has the tool, which is in the folder of this program, convert a file. Settings are
// ROOT's, for those formats that the tool writes with more than one compression.
func convert(file, output string, threads, settings int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Remove(output); err != nil && !os.IsNotExist(err) {
		return err
	}
	args := []string{"convert", "--quiet", "--jobs", strconv.Itoa(threads)}
	if filepath.Ext(output) == ".root" {
		args = append(args, "--compression", strconv.Itoa(settings))
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(self), "rnt"), append(args, file, output)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}
