package dataflow_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

var add = tasks.Declare2("add", func(src, dst []int64) { dst[0] += src[0] + 1 }, tasks.Input, tasks.Inout)

func TestSmoke(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		err := dataflow.Run(func(rt *dataflow.Runtime) error {
			a, b := []int64{0}, []int64{0}
			for range 50000 {
				add.Spawn(rt, a, b)
				add.Spawn(rt, b, a)
			}
			require.NoError(t, rt.Wait())
			x, y := int64(0), int64(0)
			for range 50000 {
				y += x + 1
				x += y + 1
			}
			require.Equal(t, x, a[0])
			return nil
		}, dataflow.Workers(n))
		require.NoError(t, err)
	}
}

type point struct {
	ins [][]byte
	out []byte
}

var stencil = tasks.Declare2("stencil", func(in [][]byte, out []byte) {
	for _, x := range in {
		if x[0] == 255 {
			panic("x")
		}
	}
	out[0] = 1
}, tasks.Each(tasks.Input), tasks.Output)

func bench(b *testing.B, workers int, deps func(p int) []int) {
	const width = 4
	var buf [2][width][]byte
	for f := range buf {
		for p := range width {
			buf[f][p] = make([]byte, 16, 64)
		}
	}
	var pts [2][width]point
	for f := range 2 {
		for p := range width {
			pts[f][p].out = buf[f][p]
			for _, d := range deps(p) {
				pts[f][p].ins = append(pts[f][p].ins, buf[1-f][d])
			}
		}
	}
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		run := func(n int) {
			for t := 0; t < n/width; t++ {
				for p := range width {
					x := &pts[t&1][p]
					stencil.Spawn(rt, x.ins, x.out)
				}
			}
			rt.Wait()
		}
		run(20000)
		b.ReportAllocs()
		b.ResetTimer()
		run(b.N)
		return nil
	}, dataflow.Workers(workers), dataflow.Window(benchWindow()))
	if err != nil {
		b.Fatal(err)
	}
}
func near(p int) (d []int) {
	for i := max(0, p-1); i <= min(3, p+1); i++ {
		d = append(d, i)
	}
	return
}
func self(p int) []int               { return []int{p} }
func BenchmarkStencil1(b *testing.B) { bench(b, 1, near) }
func BenchmarkStencil2(b *testing.B) { bench(b, 2, near) }
func BenchmarkNoComm1(b *testing.B)  { bench(b, 1, self) }
func BenchmarkNoComm2(b *testing.B)  { bench(b, 2, self) }

func benchWindow() int {
	if s := os.Getenv("W"); s != "" {
		n, _ := strconv.Atoi(s)
		return n
	}
	return 4096
}
