package rntbeam

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/go-rntuple/go-rntuple/value"
)

var registered = map[reflect.Type]bool{}

// Register registers a type of entries with Beam, with a coder that is exact for all types that
// RNTuples can be read into. It must be called in an init function, so that the type is also
// registered in workers. value.Record and Batch are always registered.
func Register[T any]() {
	registerCoder[T]()
	// Those of package register take minutes to compile.
	for _, dofn := range []any{&readFn[T]{}, &numberedFn[T]{}, &writeFn[T]{}, &orderedFn[T]{}, &publishFn[T]{}} {
		beam.RegisterDoFn(dofn)
	}
	registerCall(func(f func(context.Context, T, func(Temporary)) error) reflectx.Func { return &call3[T]{f} })
	registerCall(func(f func(context.Context, int64, T, func(Temporary)) error) reflectx.Func { return &call4[T]{f} })
	register.Emitter1[T]()
	register.Emitter2[int64, T]()
	register.Iter1[T]()
	registered[reflect.TypeFor[T]()] = true
}

// registerCoder makes a type known that collections have.
func registerCoder[T any]() {
	t := reflect.TypeFor[T]()
	if _, err := codecOf(t); err != nil {
		panic(err)
	}
	runtime.RegisterType(t)
	runtime.RegisterFunction(encode)
	runtime.RegisterFunction(decode)
	coder.RegisterCoder(t, encode, decode)
}

func mustBeRegistered[T any]() {
	if t := reflect.TypeFor[T](); !registered[t] {
		panic(fmt.Sprintf("rntbeam: call rntbeam.Register[%v]() in an init function", t))
	}
}

func init() {
	registerCoder[Input]()
	registerCoder[Restriction]()
	registerCoder[Temporary]()
	registerCoder[Output]()
	Register[value.Record]()
	Register[Batch]()
	beam.RegisterDoFn(&expandFn{})
	beam.RegisterDoFn(&arrangeFn{})
	beam.RegisterDoFn(&cleanFn{})
	register.Emitter1[Input]()
	register.Emitter1[Temporary]()
	register.Emitter1[Output]()
	register.Emitter1[string]()
	register.Iter1[Temporary]()
	register.Iter1[string]()
	beam.RegisterType(reflect.TypeFor[tracker]())
}

// registerCall has Beam call functions of a type without reflection.
func registerCall[F any](of func(F) reflectx.Func) {
	reflectx.RegisterFunc(reflect.TypeFor[F](), func(f any) reflectx.Func { return of(f.(F)) })
}

// A call3 calls writeFn.ProcessElement.
type call3[T any] struct {
	f func(context.Context, T, func(Temporary)) error
}

func (c *call3[T]) Name() string          { return reflectx.FunctionName(c.f) }
func (c *call3[T]) Type() reflect.Type    { return reflect.TypeOf(c.f) }
func (c *call3[T]) Call(args []any) []any { return []any{c.Call3x1(args[0], args[1], args[2])} }
func (c *call3[T]) Call3x1(ctx, v, emit any) any {
	return c.f(ctx.(context.Context), v.(T), emit.(func(Temporary)))
}

// A call4 calls orderedFn.ProcessElement.
type call4[T any] struct {
	f func(context.Context, int64, T, func(Temporary)) error
}

func (c *call4[T]) Name() string       { return reflectx.FunctionName(c.f) }
func (c *call4[T]) Type() reflect.Type { return reflect.TypeOf(c.f) }
func (c *call4[T]) Call(args []any) []any {
	return []any{c.Call4x1(args[0], args[1], args[2], args[3])}
}
func (c *call4[T]) Call4x1(ctx, k, v, emit any) any {
	return c.f(ctx.(context.Context), k.(int64), v.(T), emit.(func(Temporary)))
}
