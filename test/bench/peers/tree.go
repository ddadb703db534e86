package main

import (
	"fmt"
	"reflect"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/rtree"
)

// tree reads all entries of a TTree with groot into a struct. Its reader has no
// option for threads; it reads baskets ahead.
func tree[E any, P entry[E]](file string, _ int) ([]uint64, error) {
	f, err := groot.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	object, err := f.Get("Events")
	if err != nil {
		return nil, err
	}
	t, ok := object.(rtree.Tree)
	if !ok {
		return nil, fmt.Errorf("want a TTree, got a %T", object)
	}
	var e E
	vars := rtree.NewReadVars(t)
	for i, v := range vars {
		// the others are lengths of arrays
		if member := reflect.ValueOf(&e).Elem().FieldByName(v.Name); member.IsValid() {
			vars[i].Value = member.Addr().Interface()
		}
	}
	r, err := rtree.NewReader(t, vars)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sums := make([]uint64, numFields[E]())
	err = r.Read(func(rtree.RCtx) error {
		P(&e).AddTo(sums)
		return nil
	})
	return sums, err
}
