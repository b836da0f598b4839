package rewrite
import ("testing";"fmt")
func TestTry(t *testing.T){
	f:="/work/main/examples/10-advise/main.go"
	p,err:=Load(f)
	if err!=nil{t.Fatal(err)}
	for _, ls := range [][]int{{20,23},{33,36,39,42},{55,59,63,67,71,75}} {
	var s []Site
	for _,l:=range ls{ s=append(s,Site{f,l,"Sendrecv"})}
	c,r:=p.Chain(s,Evidence{Disjoint:true})
	fmt.Println(len(c),r)
	for _,x:=range c{fmt.Print(x.Line,x.Last,"\n",x.Before,"=====\n",x.After)
	m,err:=p.Apply([]*Change{x}); fmt.Println(err); for n,b:=range m{fmt.Print(Diff(n,n,p.files[n].src,b))}
	}}
}
