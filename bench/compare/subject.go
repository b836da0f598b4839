package main

// subject is a question, and the contests that answer it.
type subject struct {
	name     string
	title    string
	question string
	setting  string // the measurement, for the report
	unit     string // of the figures
	less     bool   // small figures are the good ones
	axis     string // what contest.x is, or "": contests are drawn as groups of columns
	axisUnit string // of contest.x
	groups   string // the meaning of the groups

	// prepare finds the peers and builds everything. Peers that are not there are
	// returned as missing; an error means that weft's own side cannot run.
	prepare func(b *bench) ([]contest, []missing, error)
}

// contest is one problem that all sides solve. The first side is weft's.
type contest struct {
	name  string
	brief string  // for the chart, if name is too long for it
	x     float64 // place on the axis of the subject
	sides []*side
}

// side is a program in a contest.
type side struct {
	name    string
	version string
	cores   int    // that it computes on
	layout  string // processes and threads
	kernel  kernel
	remark  string // what else a reader should know
	run     func(b *bench) (sample, error)
}

// kernel is the arithmetic that a side stands on.
type kernel struct {
	name string // "" if the contest has none, as messages, or compares nothing else
	how  string // the load that measures its speed

	// measure returns the speed on one core, in GFLOP/s. It is called once after each
	// run, so that both had the same minute. Nil: the run itself measures it (see
	// sample), or nothing does.
	measure func(b *bench) (float64, error)
}

// sample is the outcome of one verified run.
type sample struct {
	value  float64
	kernel float64 // GFLOP/s of the kernel on one core, if the run measures it; or 0
}

// missing is a peer that is not there.
type missing struct {
	name    string
	reason  string
	command string // installs it
}
