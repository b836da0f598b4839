package task

// Looks returns the number of accesses visited to register weak ones, and accesses below
// weak ones.
func (d *Domain) Looks() int { return d.looks + d.given.looks }
