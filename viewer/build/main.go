package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	fast := flag.Bool("fast", false, "compress less, in a fraction of the time")
	flag.Parse()
	if err := build(*fast); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// build makes the files in viewer/dist.
func build(fast bool) error {
	viewer, err := folder()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "viewer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := compile(viewer, temp, fast); err != nil {
		return err
	}
	if err := bundle(viewer, temp); err != nil {
		return err
	}
	index, err := os.ReadFile(filepath.Join(viewer, "page", "index.html"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, "index.html"), index, 0o644); err != nil {
		return err
	}
	for _, name := range []string{"rnt.wasm.zst", "page.js", "worker.js", "page.css", "index.html"} {
		b, err := os.ReadFile(filepath.Join(temp, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(viewer, "dist", name), b, 0o644); err != nil {
			return err
		}
		fmt.Printf("%9d  %s\n", len(b), name)
	}
	return nil
}

// folder returns the folder of the module.
func folder() (string, error) {
	out, err := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/go-rntuple/go-rntuple/viewer")
	return strings.TrimSpace(out), err
}

// output returns what a command prints.
func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return string(out), nil
}

// compile makes rnt.wasm.zst.
func compile(viewer, to string, fast bool) error {
	program := filepath.Join(to, "rnt.wasm")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./wasm")
	c.Dir, c.Stderr = viewer, os.Stderr
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if err := c.Run(); err != nil {
		return fmt.Errorf("the engine cannot be compiled: %w", err)
	}
	level := []string{"--ultra", "-22", "--zstd=wlog=23"} // browsers refuse a larger window
	if fast {
		level = []string{"-3"}
	}
	_, err := output("zstd", append(level, "-q", "-f", "-T1", program, "-o", program+".zst")...)
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("zstd is needed to compress the engine (apt-get install zstd): %w", err)
	}
	return err
}

// bundle makes page.js, worker.js and page.css.
func bundle(viewer, to string) error {
	parts := filepath.Join(viewer, "build")
	if err := install(parts); err != nil {
		return err
	}
	goroot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(viewer, "page", name) }
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{at("main.js"), at("worker.js"), at("page.css")},
		EntryNames:        "[name]",
		Outdir:            to,
		AbsWorkingDir:     viewer,
		Bundle:            true,
		Write:             true,
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsInline,
		LogLevel:          api.LogLevelWarning,
		Alias: map[string]string{
			"fzstd":     filepath.Join(parts, "node_modules", "fzstd"),
			"wasm_exec": filepath.Join(strings.TrimSpace(goroot), "lib", "wasm", "wasm_exec.js"),
		},
	})
	if len(result.Errors) > 0 {
		return errors.New("the scripts of the page cannot be bundled")
	}
	return os.Rename(filepath.Join(to, "main.js"), filepath.Join(to, "page.js"))
}

// install installs the parts that package.json names, unless they are there.
func install(folder string) error {
	want, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	mark := filepath.Join(folder, "node_modules", ".package-lock.json.installed")
	if have, err := os.ReadFile(mark); err == nil && bytes.Equal(have, want) {
		return nil
	}
	npm := "npm"
	if runtime.GOOS == "windows" {
		npm = "npm.cmd"
	}
	c := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	c.Dir, c.Stdout, c.Stderr = folder, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("npm ci: %w", err)
	}
	return os.WriteFile(mark, want, 0o644)
}
