//go:build !linux

package lzma

import (
	"bytes"
	"testing"
)

// A fence is only one where memory can be protected.
type fence struct{}

func newFence(testing.TB, int) fence { return fence{} }

func (fence) high(n int) []byte    { return make([]byte, n) }
func (fence) copy(b []byte) []byte { return bytes.Clone(b) }
