package dist

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorkersTmp(t *testing.T) {
	q := newProblem(t, [3]int{16, 12, 8})
	for _, d := range decompositions() {
		for _, form := range Forms() {
			for _, stage := range []int{0, 2} {
				if form == Exchange && stage > 0 {
					continue
				}
				cfg := Config{Form: form, Grid: d.grid, Groups: 3, Workers: 3, Stage: stage}
				_, err := q.run(d.ranks, cfg)
				require.NoError(t, err, "%v on %v", form, d)
				cfg.OneSided = true
				_, err = q.run(d.ranks, cfg)
				require.NoError(t, err, "%v on %v", form, d)
			}
		}
	}
}
