package local

import "time"

// fast is a network with short times.
var fast = Net{Latency: 2 * time.Microsecond, Overhead: 200, Gap: 100, Bandwidth: 20e9}

func nicOf(n Net) Net {
	n.NIC = true
	return n
}
