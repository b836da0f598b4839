package trace
import ("testing";"os";"github.com/weft-hpc/weft/dataflow")
func TestTmp(t *testing.T) {
	l := tiles(4)
	log := traced(t, func(rt *dataflow.Runtime) error { factor(rt, l); return rt.Wait() }, dataflow.Serial())
	WriteSummary(os.Stdout, log)
	WriteDOT(os.Stdout, log)
}
