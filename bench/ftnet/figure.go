package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/chart"
)

// printer is where text goes.
type printer = io.Writer

// figure is one of the charts.
type figure struct {
	name, about string
	oneSided    bool // compares transports
	draw        func(l *lab, w printer) error
}

var allFigures = []*figure{
	{"speedup", "slabs, pencils and tasks over exchange, by network", false, drawSpeedup},
	{"communication", "seconds in communication calls, sent and one-sided, by network", true, drawCommunication},
	{"messages", "messages of a transform and their sizes", false, drawMessages},
	{"onesided", "one-sided against sent and received, by network", true, drawOneSided},
	{"bandwidth", "speed-up over exchange against bandwidth", false, drawBandwidth},
	{"latency", "speed-up over exchange against latency", false, drawLatency},
	{"scale", "all forms on a simulated machine: only with -machine, and then alone", false, drawScale},
}

func findFigure(name string) (*figure, error) {
	var names []string
	for _, f := range allFigures {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return nil, fmt.Errorf("there is no figure %q: there are %s", name, strings.Join(names, ", "))
}

// show prints the table of columns and writes the chart.
func (l *lab) show(w printer, name string, b *chart.Bars) error {
	printBars(w, b)
	if l.out == "" {
		return nil
	}
	return b.Write(l.file(name))
}

// showLines prints the table of curves and writes the chart.
func (l *lab) showLines(w printer, name string, c *chart.Lines) error {
	printLines(w, c)
	if l.out == "" {
		return nil
	}
	return c.Write(l.file(name))
}

// file returns the path of a chart, without its extension.
func (l *lab) file(name string) string { return filepath.Join(l.out, name) }
