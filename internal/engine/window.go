package engine

// Win is a window as engines and tools see it. mpi.Win is the same with the methods for
// programs.
type Win struct {
	comm  *Comm
	h     Handle
	mem   Buffer
	sizes []int
	freed bool
}

// NewWin opens a window with memory b of this rank; sizes has the elements of each rank. All
// ranks call it after a synchronization.
func NewWin(c *Comm, b Buffer, sizes []int) (*Win, error) {
	h, err := c.port.Engine().NewWindow(c.h, b)
	if err != nil {
		return nil, err
	}
	c.windows.Add(1)
	return &Win{comm: c, h: h, mem: b, sizes: sizes}, nil
}

// Comm returns the communicator of the window.
func (w *Win) Comm() *Comm { return w.comm }

// Handle returns the engine's number for the window.
func (w *Win) Handle() Handle { return w.h }

// Memory returns this rank's part of the window.
func (w *Win) Memory() Buffer { return w.mem }

// Size returns the number of elements of rank r.
func (w *Win) Size(r int) int { return w.sizes[r] }

// Free closes the window. No access to it is under way.
func (w *Win) Free() error {
	w.freed = true
	w.comm.windows.Add(-1)
	return w.comm.port.Engine().FreeWindow(w.h)
}
