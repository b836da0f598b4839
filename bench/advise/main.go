// Command advise says, measured and ranked, which communication of a program could
// overlap, what it would save, and how the source would look (Natvig and Elster 2010).
// It reads what a run has measured:
//
//	WEFT_ADVISE=run.json go run ./examples/10-advise
//	advise run.json              the advice, as text
//	advise -diff run.json        and the changes as a unified diff
//	advise -fix run.json         makes the changes
//
// Several runs with different problem sizes are a set, from which other sizes are
// projected:
//
//	WEFT_ADVISE=64.json WEFT_ADVISE_SIZE=64 go run ./examples/10-advise -n 64
//	WEFT_ADVISE=128.json WEFT_ADVISE_SIZE=128 go run ./examples/10-advise -n 128
//	WEFT_ADVISE=256.json WEFT_ADVISE_SIZE=256 go run ./examples/10-advise -n 256
//	advise -project 1024,1024@16 64.json 128.json 256.json
//
// The timeline of a program of tasks (-trace FILE.json of xhpl and npbft, WriteChrome of
// package dataflow/trace) is advised on as well: slack and stall of its tasks' messages,
// receives that came late, and tasks that waited for all of a message:
//
//	npbft -ranks 2 -net gige -trace ft.json
//	advise ft.json
//
// Runs of the changed program, given with -after, are set against the prediction, and
// -svg draws both.
//
// -measure does all of that with example 10 at five sizes in one, two and three dimensions, and
// looks for false advice on other programs. -measure -apps does it with fifteen mini-applications
// (testdata/miniapps) on networks and sizes other than those that the predictions were fitted on, and
// projects four of them to larger sizes and more ranks.
//
// -corpus tries advice on some sixty small programs (testdata/corpus), and NAS IS and MG: it changes those that can
// be changed, leaves the others, and runs all of them before and after the changes.
//
// # Reading the source
//
// advice.go joins the measurements (package internal/advise) with the changes that the
// source allows (package bench/internal/rewrite); text.go prints the result, fix.go changes
// files, forecast.go projects, picture.go draws, tracefile.go and tasks.go are for timelines,
// flags.go has the flags; study.go is -measure, with workshop.go, which builds and runs,
// verdict.go, which assesses, and innocent.go, the other programs; apps.go and foretell.go are
// -apps; corpus.go is -corpus.
package main

import (
	"io"
	"os"

	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/world"
)

func main() { world.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. World knows the exit code of its error: 1 for a failure, 2 for
// wrong usage.
func run(args []string, stdout, stderr io.Writer) error {
	c, err := parseArgs(args)
	if err != nil {
		return commandline.Help(stdout, err)
	}
	if c.corpus {
		return tryCorpus(&corpus{sizes: []int{33, 128, 300}, ranks: []int{1, 2, 3, 5, 8}, nas: true}, stdout, stderr)
	}
	if c.study && c.apps {
		return c.measureApps(stdout, stderr)
	}
	if c.study {
		return c.measure(stdout, stderr)
	}
	return c.advise(stdout, stderr)
}
