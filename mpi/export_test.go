package mpi

import (
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
)

// What engines see, for tests.

func (o *Op) Defined(b Buffer) error { return (*engine.Op)(o).Defined(engine.Buffer(b)) }
func (o *Op) Apply(acc, in unsafe.Pointer, n int, like Buffer) {
	(*engine.Op)(o).Apply(acc, in, n, engine.Buffer(like))
}
func (o *Op) Predefined() bool                       { return (*engine.Op)(o).Predefined() }
func (b Buffer) Kind() engine.Kind                   { return engine.Buffer(b).Kind() }
func (b Buffer) Pointer() unsafe.Pointer             { return engine.Buffer(b).Pointer() }
func (b Buffer) Layout() (blocks, block, stride int) { return engine.Buffer(b).Layout() }
func (b Buffer) At(p unsafe.Pointer) Buffer          { return Buffer(engine.Buffer(b).At(p)) }
func (b Buffer) Memory() []byte                      { return engine.Buffer(b).Memory() }
func (c *Comm) Inner() *engine.Comm                  { return c.inner() }
func (w *Win) Inner() *engine.Win                    { return w.inner() }
func Raw(p unsafe.Pointer, n int, like Buffer) Buffer {
	return Buffer(engine.Raw(p, n, engine.Buffer(like)))
}
func Copy(dst, src Buffer) int { return engine.Copy(engine.Buffer(dst), engine.Buffer(src)) }
func CopyPart(dst, src Buffer, at, n int) {
	engine.CopyPart(engine.Buffer(dst), engine.Buffer(src), at, n)
}
