package mpi

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/weft-hpc/weft/internal/engine"
)

// Loc is a value and its index: the element type of MaxLoc and MinLoc.
type Loc[T int32 | int64 | float32 | float64] struct {
	Value T
	Index int64
}

// kindOf returns the kind of T; an error if T contains pointers.
func kindOf[T any]() (engine.Kind, error) {
	switch any((*T)(nil)).(type) {
	case *float64:
		return engine.KindFloat64, nil
	case *byte:
		return engine.KindUint8, nil
	case *complex128:
		return engine.KindComplex128, nil
	case *int64, *int:
		if intBytes == 8 {
			return engine.KindInt64, nil
		}
	case *int32:
		return engine.KindInt32, nil
	case *float32:
		return engine.KindFloat32, nil
	}
	return slowKind(reflect.TypeFor[T]())
}

const intBytes = 4 << (^uint(0) >> 63)

type kindResult struct {
	kind engine.Kind
	err  error
}

var kinds sync.Map // reflect.Type to kindResult

func slowKind(t reflect.Type) (engine.Kind, error) {
	if r, ok := kinds.Load(t); ok {
		return r.(kindResult).kind, r.(kindResult).err
	}
	r := kindResult{kind: classify(t)}
	if p := pointerIn(t); p != "" {
		r = kindResult{err: fmt.Errorf("type %v contains a pointer (%s): messages carry numbers, and arrays and structs of them", t, p)}
	}
	kinds.Store(t, r)
	return r.kind, r.err
}

func classify(t reflect.Type) engine.Kind {
	switch t {
	case reflect.TypeFor[Loc[int32]]():
		return engine.KindLocInt32
	case reflect.TypeFor[Loc[int64]]():
		return engine.KindLocInt64
	case reflect.TypeFor[Loc[float32]]():
		return engine.KindLocFloat32
	case reflect.TypeFor[Loc[float64]]():
		return engine.KindLocFloat64
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return engine.KindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return [...]engine.Kind{1: engine.KindInt8, 2: engine.KindInt16, 4: engine.KindInt32, 8: engine.KindInt64}[t.Size()]
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return [...]engine.Kind{1: engine.KindUint8, 2: engine.KindUint16, 4: engine.KindUint32, 8: engine.KindUint64}[t.Size()]
	case reflect.Float32:
		return engine.KindFloat32
	case reflect.Float64:
		return engine.KindFloat64
	case reflect.Complex64:
		return engine.KindComplex64
	case reflect.Complex128:
		return engine.KindComplex128
	}
	return engine.KindOpaque
}

// pointerIn names the first pointer inside t; "" if there is none.
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if p := pointerIn(t.Field(i).Type); p != "" {
				return "field " + t.Field(i).Name + ": " + p
			}
		}
		return ""
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return ""
	}
	return t.String()
}
