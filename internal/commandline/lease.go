package commandline

import "fmt"

// Lease declares the flag -lease of programs with communication threads, which sets off
// if commthread.Lease is to be false.
func (l *Line) Lease(off *bool) {
	l.Func("lease", "tasks: whether workers with nothing to do make the MPI calls where each has a core to itself, `on` or off: the communication thread makes all (default on)", func(text string) error {
		if text != "on" && text != "off" {
			return fmt.Errorf("%q is neither on nor off", text)
		}
		*off = text == "off"
		return nil
	})
}
