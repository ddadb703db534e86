//go:build !amd64 || purego

package lzma

func (d *decoder) decode() bool { return d.decodeGo(d.limit) }
