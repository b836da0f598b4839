// Package virtual runs programs on simulated machines that other programs describe.
package virtual

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// Run calls body on so many ranks of the simulated machine m, on which only modelled kernels and
// messages take time. It blocks until all have returned, and returns their errors, or that of the
// machine file, which it writes to a folder of its own and removes.
func Run(m *cluster.Machine, ranks int, body func(*mpi.Comm) error) error {
	folder, err := os.MkdirTemp("", "weft")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	w := world.Default()
	w.Ranks, w.Machine, w.Modelled, w.Quiet = ranks, filepath.Join(folder, "machine.json"), true, true
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(w.Machine, text, 0o600)
	}
	if err != nil {
		return err
	}
	return w.Run(body)
}
