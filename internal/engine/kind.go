package engine

import "fmt"

// Kind is the type of the elements of a message. Sender and receiver must use the same kind.
// Each predefined operation is defined on some kinds.
type Kind uint8

// The kinds. A named type has the kind of its underlying type. Opaque stands for structs and
// arrays without pointers, which are sent as bytes; both machines must have the same layout.
// The Loc kinds are for mpi.Loc.
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
