package main

import (
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
)

// race times the plain loop and the tasks, in turn, and keeps the best of three.
func race(rt *dataflow.Runtime, a tile, nb int) (plain, parallel tile, tPlain, tParallel time.Duration, err error) {
	plain, parallel = clone(a), clone(a)
	tPlain, tParallel = time.Hour, time.Hour
	for range 3 {
		copy(plain.Data, a.Data)
		copy(parallel.Data, a.Data)
		start := time.Now()
		if err = plainCholesky(plain, nb); err != nil {
			return
		}
		tPlain = min(tPlain, time.Since(start))
		start = time.Now()
		cholesky(rt, parallel, nb)
		if err = rt.Wait(); err != nil {
			return
		}
		tParallel = min(tParallel, time.Since(start))
	}
	return
}

// record factors a copy of a once more and writes what happened to a file.
func record(path string, a tile, nb, workers int) error {
	return dataflow.Run(func(rt *dataflow.Runtime) error {
		cholesky(rt, clone(a), nb)
		if err := rt.Wait(); err != nil {
			return err
		}
		return trace.WriteFile(path, rt.Log())
	}, dataflow.Workers(workers), dataflow.Trace(0))
}
