package mpi

import (
	"fmt"
	"reflect"
	"sync"
)

// Kind is the type of the elements of a message. Sender and receiver must use the same kind.
// Each predefined operation is defined on some kinds.
type Kind uint8

// The kinds. A named type has the kind of its underlying type. Opaque stands for structs and
// arrays without pointers, which are sent as bytes; both machines must have the same layout.
// The Loc kinds are for [Loc].
const (
	KindNone Kind = iota // the zero Buffer
	KindOpaque
	KindBool
	KindInt8
	KindInt16
	KindInt32
	KindInt64
	KindUint8
	KindUint16
	KindUint32
	KindUint64
	KindFloat32
	KindFloat64
	KindComplex64
	KindComplex128
	KindLocInt32
	KindLocInt64
	KindLocFloat32
	KindLocFloat64
	Kinds // number of kinds
)

var kindNames = [Kinds]string{"none", "opaque", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
	"float32", "float64", "complex64", "complex128", "Loc[int32]", "Loc[int64]", "Loc[float32]", "Loc[float64]"}

func (k Kind) String() string {
	if k < Kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Loc is a value and its index: the element type of MaxLoc and MinLoc.
type Loc[T int32 | int64 | float32 | float64] struct {
	Value T
	Index int64
}

// kindOf returns the kind of T; an error if T contains pointers.
func kindOf[T any]() (Kind, error) {
	switch any((*T)(nil)).(type) {
	case *float64:
		return KindFloat64, nil
	case *byte:
		return KindUint8, nil
	case *complex128:
		return KindComplex128, nil
	case *int64, *int:
		if intBytes == 8 {
			return KindInt64, nil
		}
	case *int32:
		return KindInt32, nil
	case *float32:
		return KindFloat32, nil
	}
	return slowKind(reflect.TypeFor[T]())
}

const intBytes = 4 << (^uint(0) >> 63)

type kindResult struct {
	kind Kind
	err  error
}

var kinds sync.Map // reflect.Type to kindResult

func slowKind(t reflect.Type) (Kind, error) {
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

func classify(t reflect.Type) Kind {
	switch t {
	case reflect.TypeFor[Loc[int32]]():
		return KindLocInt32
	case reflect.TypeFor[Loc[int64]]():
		return KindLocInt64
	case reflect.TypeFor[Loc[float32]]():
		return KindLocFloat32
	case reflect.TypeFor[Loc[float64]]():
		return KindLocFloat64
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return KindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return [...]Kind{1: KindInt8, 2: KindInt16, 4: KindInt32, 8: KindInt64}[t.Size()]
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return [...]Kind{1: KindUint8, 2: KindUint16, 4: KindUint32, 8: KindUint64}[t.Size()]
	case reflect.Float32:
		return KindFloat32
	case reflect.Float64:
		return KindFloat64
	case reflect.Complex64:
		return KindComplex64
	case reflect.Complex128:
		return KindComplex128
	}
	return KindOpaque
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
