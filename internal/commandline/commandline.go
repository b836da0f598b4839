// Package commandline is the command line of the programs in bench and examples: what -h
// prints, how mistakes are told and the exit codes are the same in all of them.
package commandline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// ErrUsage marks errors in how a program was started: exit code 2.
var ErrUsage = errors.New("wrong usage")

// Line is the command line of one program. The flags are declared by the methods of
// flag.FlagSet, and by [Line.Least] and [Line.Between].
type Line struct {
	*flag.FlagSet
	about    string
	exits    string
	sections []section
	bounds   []bound
}

// bound is a flag of Least or Between.
type bound struct {
	name        string
	p           *int
	least, most int
}

type section struct {
	title string
	rows  []Row
}

// Row is one line of a list in the help text, such as the name of a variant and what it does.
type Row struct{ Name, Text string }

// New returns a command line without flags. About is what -h prints before the lists: what
// the program does, and examples, in lines of at most 100 columns.
func New(name, about string) *Line {
	l := &Line{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), about: about, exits: "0 done and checked, 1 failed run or check, 2 usage"}
	l.SetOutput(io.Discard)
	return l
}

// Exits replaces what -h says of the exit codes.
func (l *Line) Exits(text string) { l.exits = text }

// Section adds a list to what -h prints, before the flags.
func (l *Line) Section(title string, rows ...Row) {
	l.sections = append(l.sections, section{title, rows})
}

// Least declares an integer flag whose values are at least least; the default may be less.
func (l *Line) Least(p *int, name string, value, least int, usage string) {
	l.Between(p, name, value, least, math.MaxInt, usage)
}

// Between is Least for a flag that also has a largest value.
func (l *Line) Between(p *int, name string, value, least, most int, usage string) {
	l.IntVar(p, name, value, usage)
	l.bounds = append(l.bounds, bound{name, p, least, most})
}

// Workers declares the flag -workers, with which a runtime gets its number of cores.
func (l *Line) Workers(p *int, value int, usage string) {
	const most = 1024 // the limit of dataflow.Workers
	l.Between(p, "workers", value, 1, most, usage)
}

// inBounds is a check of the flags of Least and Between.
func (l *Line) inBounds() error {
	for _, b := range l.bounds {
		if l.Given(b.name) && *b.p < b.least {
			return fmt.Errorf("-%s %d: it has to be at least %d", b.name, *b.p, b.least)
		}
		if l.Given(b.name) && *b.p > b.most {
			return fmt.Errorf("-%s %d: it is at most %d", b.name, *b.p, b.most)
		}
	}
	return nil
}

// Given reports whether the flag is on the command line.
func (l *Line) Given(name string) (yes bool) {
	l.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// NoArgs is a check of programs that take flags alone.
func (l *Line) NoArgs() error {
	if l.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", l.Arg(0))
	}
	return nil
}

// Parse reads the command line, then runs the checks until one fails; a check may parse more
// of the line with l.FlagSet. The error is for
// [Help], [Code] or world.Exit: flag.ErrHelp if the user asked for help, else an ErrUsage
// that names the program.
func (l *Line) Parse(args []string, checks ...func() error) error {
	err := l.FlagSet.Parse(args)
	for _, check := range slices.Concat([]func() error{l.inBounds}, checks, []func() error{l.inBounds}) {
		if err == nil {
			err = check()
		}
	}
	if err == flag.ErrHelp {
		return &asked{l}
	}
	return l.Usage(err)
}

// Usage makes err an ErrUsage that names the program; nil and requests for help stay
// unchanged.
func (l *Line) Usage(err error) error {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return fmt.Errorf("%w of %s: %w (%s -h lists the flags)", ErrUsage, l.Name(), err, l.Name())
}

// MustParse reads the command line of this process, and ends it after -h and mistakes. A nil
// check checks nothing. Arguments that are not flags are a mistake.
func (l *Line) MustParse(check func() error) {
	checks := []func() error{l.NoArgs}
	if check != nil {
		checks = append(checks, check)
	}
	if err := l.Parse(os.Args[1:], checks...); err != nil {
		os.Exit(Code(err, os.Stdout, os.Stderr))
	}
}

// asked is the error of a command line that asks for help.
type asked struct{ line *Line }

// Error returns the text of flag.ErrHelp.
func (a *asked) Error() string { return flag.ErrHelp.Error() }

// Unwrap returns flag.ErrHelp.
func (a *asked) Unwrap() error { return flag.ErrHelp }

// Help prints the help text and returns nil if err, from Parse, says that the user asked for
// it; otherwise it returns err.
func Help(stdout io.Writer, err error) error {
	if a := (*asked)(nil); errors.As(err, &a) {
		return a.line.print(stdout)
	}
	return err
}

// Code prints the help text, or err, and returns the exit code of the program: 0 after help
// and for nil, 2 for an ErrUsage, 1 otherwise.
func Code(err error, stdout, stderr io.Writer) int {
	err = Help(stdout, err)
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUsage):
		return 2
	}
	return 1
}
