package dist
import ("testing";"fmt";"github.com/weft-hpc/weft/mpi/local";"github.com/weft-hpc/weft/commthread")
func BenchmarkStage(b *testing.B) {
  for _, nt := range []string{"none","10gige"} {
	net, _ := local.ParseNet(nt)
	for _, st := range []int{0,4,8,16} {
	for _, f := range []Form{Slabs,Tasks} {
	for _, pl := range []commthread.Placement{commthread.Shared, commthread.Dedicated} {
		if f==Slabs && (pl==commthread.Dedicated) {continue}
		cfg := Config{Dims: [3]int{128, 256, 256}, Form: f, Stage: st, ThreadOptions: []commthread.Option{commthread.Place(pl)}}
		b.Run(fmt.Sprintf("%s/%v/%d/%v",nt,f,st,pl), func(b *testing.B) {
			if nt=="none" {benchmark(b, 2, cfg)} else {
			benchmark(b, 2, cfg, local.Network(net))}
		})
	}}}}
}
