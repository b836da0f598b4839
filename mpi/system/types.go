//go:build mpi && cgo

package system

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"math"

	"github.com/weft-hpc/weft/internal/engine"
)

// Datatypes have the numbers of the kinds: unless the index is 0, this does not compile.
var (
	_ = [1]int{}[C.WEFT_BOOL-int(engine.KindBool)]
	_ = [1]int{}[C.WEFT_INT64-int(engine.KindInt64)]
	_ = [1]int{}[C.WEFT_COMPLEX128-int(engine.KindComplex128)]
)

// ops are the operations that MPI has with the same meaning.
var ops = map[*engine.Op]int32{engine.Sum: C.WEFT_SUM, engine.Prod: C.WEFT_PROD, engine.Max: C.WEFT_MAX, engine.Min: C.WEFT_MIN,
	engine.Land: C.WEFT_LAND, engine.Lor: C.WEFT_LOR, engine.Lxor: C.WEFT_LXOR, engine.Band: C.WEFT_BAND, engine.Bor: C.WEFT_BOR, engine.Bxor: C.WEFT_BXOR,
	engine.Replace: C.WEFT_REPLACE}

// layout describes a derived datatype: blocks of elements of a base, or, with blocks 0,
// block bytes.
type layout struct {
	base                  int32
	blocks, block, stride int
}

// manyTypes is the number of derived datatypes at which they are freed.
const manyTypes = 1024

// forgetTypes frees the derived datatypes if there are many; pending operations keep theirs
// alive in MPI. No record may be filled.
func (e *rankEngine) forgetTypes() {
	if len(e.types) < manyTypes {
		return
	}
	for _, t := range e.types {
		C.weft_type_free(C.int(t))
	}
	clear(e.types)
}

// element returns the datatype of one element of b.
func (e *rankEngine) element(b engine.Buffer) (int32, error) {
	switch k := b.Kind(); {
	case b.ElemSize() == 0:
		return C.WEFT_BYTE, nil
	case k >= engine.KindBool && k <= engine.KindComplex128:
		return int32(k), nil
	}
	return e.derived(layout{block: b.ElemSize()})
}

// derived returns the datatype of a layout.
func (e *rankEngine) derived(l layout) (int32, error) {
	if t, ok := e.types[l]; ok {
		return t, nil
	}
	var t, rc C.int
	if l.blocks == 0 {
		rc = C.weft_type_bytes(C.int64_t(l.block), &t)
	} else {
		rc = C.weft_type(C.int64_t(l.blocks), C.int64_t(l.block), C.int64_t(l.stride), C.int(l.base), &t)
	}
	if rc != 0 {
		return 0, fmt.Errorf("no datatype for %d blocks of %d elements: %s", l.blocks, l.block, errorText(rc))
	}
	e.types[l] = int32(t)
	return int32(t), nil
}

// shape returns count and datatype of b in an access to a window.
func (e *rankEngine) shape(b engine.Buffer) (count, datatype C.int32_t, err error) {
	t, err := e.element(b)
	if err != nil {
		return 0, 0, err
	}
	return e.times(1, t, b)
}

// message returns count and datatype of b as a message: like shape, but with complex numbers as
// pairs of floats. MPICH 4.0.2 over UCX cuts an eager message with gaps into fragments without
// regard to its elements, and reports one as truncated that ends inside a complex number.
func (e *rankEngine) message(b engine.Buffer) (count, datatype C.int32_t, err error) {
	t, err := e.element(b)
	if err != nil {
		return 0, 0, err
	}
	n, t := floats(t)
	return e.times(n, t, b)
}

// floats returns the number of floats in a complex number and their datatype, and other datatypes as they are.
func floats(t int32) (n int, of int32) {
	if t == C.WEFT_COMPLEX64 || t == C.WEFT_COMPLEX128 {
		return 2, t - C.WEFT_COMPLEX64 + C.WEFT_FLOAT32
	}
	return 1, t
}

// times returns count and datatype of b, whose elements are n of t.
func (e *rankEngine) times(n int, t int32, b engine.Buffer) (count, datatype C.int32_t, err error) {
	total := n * b.Len()
	switch {
	case total == 0:
		return 0, C.WEFT_BYTE, nil
	case b.Contiguous() && total <= math.MaxInt32:
		return C.int32_t(total), C.int32_t(t), nil
	}
	l := layout{base: t, blocks: 1, block: total}
	if !b.Contiguous() {
		l.blocks, l.block, l.stride = b.Layout()
		l.block, l.stride = n*l.block, n*l.stride
	}
	t, err = e.derived(l)
	return 1, C.int32_t(t), err
}
