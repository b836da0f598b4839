package engine

import "unsafe"

// Mover delivers bytes in place of an engine: code in C, so that readers can wait for a buffer
// page by page (package commthread/dds).
type Mover interface {
	// Move takes over n bytes that are due at dst, at a time of osthread.Nanotime. They
	// come from src, which must not change until they are in place; if src is nil, they are
	// in place. They are in place when *word, read atomically, differs from was. If word is
	// nil, no transfer waits for these bytes, and the engine moves them itself. It is for
	// engines that know when bytes are due. Any goroutine; does not block.
	Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32)
	// Completer returns a C function, void fn(void *cookie, int64_t bytes, int32_t err), to
	// be called with -1 when a receive into n bytes at dst, or a send from them, has been
	// started, and again when it has ended; nil if no transfer waits for it. It is for
	// engines that complete calls in C. Any thread may call it, without Go; it does not call
	// the engine or MPI.
	Completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer)
}

// Carrier is an engine that hands over deliveries.
type Carrier interface {
	// Carry sets the mover. The last call counts. Any goroutine.
	Carry(Mover)
}
