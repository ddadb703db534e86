package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("modproxy: ")
	if len(os.Args) != 4 {
		log.Fatal("want a folder with a go.work, a version, and a folder to write to")
	}
	if err := publish(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

// publish writes all modules of a workspace.
func publish(workspace, version, proxy string) error {
	name := filepath.Join(workspace, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	work, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return err
	}
	for _, use := range work.Use {
		dir := filepath.Join(workspace, use.Path)
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return err
		}
		m := module.Version{Path: modfile.ModulePath(text), Version: version}
		if err := add(proxy, dir, m, text); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

// add writes the four files that a proxy serves for a version of a module, see
// https://go.dev/ref/mod#goproxy-protocol. The zip file is made by the rules of
// Go's own tools, and fails as theirs would for a name or a size that they refuse.
func add(proxy, dir string, m module.Version, gomod []byte) error {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	base := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(base, 0o777); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": time.Now().UTC()})
	if err != nil {
		return err
	}
	files := map[string][]byte{"list": []byte(m.Version + "\n"), m.Version + ".info": info, m.Version + ".mod": gomod}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(base, name), text, 0o666); err != nil {
			return err
		}
	}
	out, err := os.Create(filepath.Join(base, m.Version+".zip"))
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(out, m, dir); err != nil {
		return err
	}
	return out.Close()
}
