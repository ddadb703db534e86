//go:build !linux

package fencetest

import (
	"bytes"
	"testing"
)

// A Fence makes memory; only on Linux it is protected.
type Fence struct{}

// New returns a fence, which has no limit here.
func New(testing.TB, int) Fence { return Fence{} }

// First returns n bytes.
func (Fence) First(n int) []byte { return make([]byte, n) }

// Last returns n bytes.
func (Fence) Last(n int) []byte { return make([]byte, n) }

// Copy returns a copy of b.
func (Fence) Copy(b []byte) []byte { return bytes.Clone(b) }
