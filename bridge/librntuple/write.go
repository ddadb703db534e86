//go:build cgo

package main

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// writeOptions are the options of rntuple_write.
type writeOptions struct {
	Name        string   `json:"name"`
	Mode        string   `json:"mode"`
	Description string   `json:"description"`
	Compression string   `json:"compression"`
	Plain       []string `json:"plain"`
	ClusterSize int64    `json:"cluster_size"`
	ZoneMap     []string `json:"zone_map"`
	Threads     int      `json:"threads"`
}

// compressionOf returns the settings for a text, or the default for "".
func compressionOf(text string) (compress.Settings, error) {
	if text == "" {
		return 0, nil
	}
	s, err := compress.ParseSettings(text)
	if err != nil {
		return 0, argumentf("compression: %w", err)
	}
	return s, nil
}

// write writes all record batches and returns how many entries these are.
func write(ctx context.Context, path string, records array.RecordReader, o writeOptions, p *progress) (int64, error) {
	settings, err := compressionOf(o.Compression)
	if err != nil {
		return 0, err
	}
	if o.Threads < 0 || o.ClusterSize < 0 {
		return 0, argumentf("options: threads and cluster_size must not be negative")
	}
	opts := &rntuple.WriteOptions{File: rntuple.FileOptions{Context: ctx}, Description: o.Description, Compression: settings,
		ClusterSize: o.ClusterSize, ZoneMap: o.ZoneMap, Workers: o.Threads}
	columns := &rntarrow.WriteOptions{Plain: o.Plain}
	name := o.Name
	if name == "" && o.Mode != "append" {
		name = "Events"
	}
	records = &counted{RecordReader: records, ctx: ctx, p: p}
	switch o.Mode {
	case "", "create":
		opts.File.NoReplace = true
		return rntarrow.Create(path, name, records, columns, opts)
	case "overwrite":
		return rntarrow.Create(path, name, records, columns, opts)
	case "append":
		if o.Plain != nil {
			return 0, argumentf("plain: the fields of an RNTuple that is continued are what they are")
		}
		return rntarrow.Append(path, name, records, opts)
	case "update":
		f, err := rntuple.UpdateFile(path, &opts.File)
		if err != nil {
			return 0, err
		}
		opts.File = rntuple.FileOptions{}
		n, err := int64(0), absent(ctx, path, name)
		if err == nil {
			n, err = rntarrow.Add(f, name, records, columns, opts)
		}
		if err != nil {
			f.Abort()
			return n, err
		}
		return n, f.Close()
	}
	return 0, argumentf("mode: %q is none of create, overwrite, update and append", o.Mode)
}

// absent returns an error if there is an RNTuple with a name in a file: another one would supersede it.
func absent(ctx context.Context, path, name string) error {
	all, err := rntuple.ListFile(ctx, path, nil)
	clean := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '/' }), "/")
	if slices.ContainsFunc(all, func(i rntuple.Info) bool { return i.Path == clean }) {
		return fmt.Errorf("%s: RNTuple %q: %w", path, name, fs.ErrExist)
	}
	return err
}

// counted is a reader that tells how much it has read, and ends with its context.
type counted struct {
	array.RecordReader
	ctx  context.Context
	p    *progress
	done int64
	err  error
}

func (c *counted) Next() bool {
	if c.err = context.Cause(c.ctx); c.err != nil {
		return false
	}
	if c.RecordReader.Next() {
		c.done += c.RecordBatch().NumRows()
		c.p.set(c.done, 0)
		return true
	}
	return false
}

func (c *counted) Err() error {
	if c.err != nil {
		return c.err
	}
	return c.RecordReader.Err()
}
