package task

// Looks returns how many accesses have been looked at to register those that are weak,
// or below a weak one.
func (d *Domain) Looks() int { return d.looks + d.given.looks }
