package hpl

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

func env(name string, d int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return d
}

func TestZZ(t *testing.T) {
	n := env("N", 2000)
	reps := env("REPS", 4)
	best := map[string]Result{}
	var names []string
	net := local.Net{}
	if s := os.Getenv("NET"); s != "" {
		var err error
		net, err = local.ParseNet(s)
		require.NoError(t, err)
	}
	for i := range reps {
		for _, v := range []Variant{Task, LookAhead, Blocking} {
			if v == LookAhead && (env("Q", 1) == 1) || env("ONLY", -1) >= 0 && env("ONLY", -1) != int(v) {
				continue
			}
			cfg := Default(n)
			cfg.Variant = v
			cfg.P, cfg.Q = env("P", 1), env("Q", 1)
			cfg.Workers = env("W", 2)
			cfg.NB = env("NB", cfg.NB)
			var log dataflow.Log
			tr := os.Getenv("TRACE")
			if v == Task && tr != "" && i == reps-1 {
				cfg.Log = &log
			}
			var opts []local.Option
			if os.Getenv("NET") != "" {
				opts = append(opts, local.Network(net))
			}
			results := make([]Result, cfg.P*cfg.Q)
			start := time.Now()
			require.NoError(t, local.Run(cfg.P*cfg.Q, func(c *mpi.Comm) error {
				cf := cfg
				if c.Rank() > 0 {
					cf.Log = nil
				}
				r, err := run(c, cf, hooks{})
				results[c.Rank()] = r
				return err
			}, opts...))
			_ = start
			name := fmt.Sprint("v", int(v))
			r := results[0]
			require.Less(t, r.Residual, healthy)
			if i == 0 {
				names = append(names, name)
			}
			if r.GFlops > best[name].GFlops {
				best[name] = r
			}
			if cfg.Log != nil {
				require.NoError(t, trace.WriteFile(tr, &log))
				fmt.Println("traced run", r.GFlops)
			}
		}
	}
	for _, k := range names {
		fmt.Printf("%s %.1f GF %.4f s res %.4g %+v\n", k, best[k].GFlops, best[k].Seconds, best[k].Residual, best[k].Timing)
	}
}
