package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someLines() *Lines {
	x := []float64{1e7, 1.25e8, 1.25e9, 1.25e10}
	return &Lines{
		Title: "Tolerance to bandwidth, N = 4000 & <1 x 2>",
		X:     Axis{Title: "bandwidth per link", Unit: "bytes/s", Log: true},
		Y:     Axis{Title: "speed", Unit: "GFLOP/s"},
		Series: []Series{
			{Label: "task", X: x, Y: []float64{20.5, 101.25, 130, 131}, Lo: []float64{19, 99, 128, 131}, Hi: []float64{22, 104, 133, 132}},
			{Label: "look-ahead, depth 1", X: x, Y: []float64{18, 70, 118, 122.00000000000001}},
			{Label: "blocking", X: x, Y: []float64{12, 40, 90, 101}},
			{Label: "two workers without messages", X: []float64{1e7, 1.25e10}, Y: []float64{140, 140}, Bound: true},
		},
	}
}

func someBars() *Bars {
	return &Bars{
		Title:  "Task against look-ahead",
		X:      Axis{Title: "grid"},
		Y:      Axis{Title: "speed", Unit: "GFLOP/s"},
		Groups: []string{"1 x 2", "2 x 1", "2 x 2"},
		Series: []BarSeries{
			{Label: "task", Y: []float64{130, 120, 100}, Lo: []float64{125, 119, 90}, Hi: []float64{133, 121, 110}},
			{Label: "look-ahead", Y: []float64{110, 80, 70}},
			{Label: "blocking", Y: []float64{90, 75, 60}},
		},
	}
}

// texts returns what a well-formed SVG has for texts.
func texts(t *testing.T, svg []byte) (all []string) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Local == "text" {
				depth++
			}
		case xml.EndElement:
			if x.Name.Local == "text" {
				depth--
			}
		case xml.CharData:
			if depth > 0 {
				all = append(all, string(x))
			}
		}
	}
}

func TestLines_table_is_read_back(t *testing.T) {
	want := someLines()
	var b bytes.Buffer
	require.NoError(t, want.WriteCSV(&b))
	got, err := ReadLines(&b)
	require.NoError(t, err)
	want.Title, want.X.Log, want.Series[3].Bound = "", false, false
	assert.Equal(t, want, got)
}

func TestBars_table_is_read_back(t *testing.T) {
	want := someBars()
	var b bytes.Buffer
	require.NoError(t, want.WriteCSV(&b))
	got, err := ReadBars(&b)
	require.NoError(t, err)
	want.Title = ""
	assert.Equal(t, want, got)
}

func TestPictures_say_what_they_show(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, someLines().WriteSVG(&b))
	all := texts(t, b.Bytes())
	for _, text := range []string{
		"Tolerance to bandwidth, N = 4000 & <1 x 2>", "bandwidth per link [bytes/s]", "speed [GFLOP/s]",
		"task", "look-ahead, depth 1", "blocking", "two workers without messages", "10M", "1G", "100",
	} {
		assert.Contains(t, all, text)
	}
	b.Reset()
	require.NoError(t, someBars().WriteSVG(&b))
	all = texts(t, b.Bytes())
	for _, text := range []string{"grid", "1 x 2", "2 x 1", "2 x 2", "task", "look-ahead", "blocking", "speed [GFLOP/s]"} {
		assert.Contains(t, all, text)
	}
	assert.NotContains(t, all, "two workers without messages")
}

func TestWrite(t *testing.T) {
	base := filepath.Join(t.TempDir(), "new", "chart")
	require.NoError(t, someLines().Write(base))
	table, err := os.Open(base + ".csv")
	require.NoError(t, err)
	defer table.Close()
	_, err = ReadLines(table)
	require.NoError(t, err)
	picture, err := os.ReadFile(base + ".svg")
	require.NoError(t, err)
	assert.Contains(t, texts(t, picture), "task")
}

func TestLines_that_cannot_be_drawn(t *testing.T) {
	for complaint, spoil := range map[string]func(*Lines){
		"there is no series":                           func(l *Lines) { l.Series = nil },
		`series 1 has the label ""`:                    func(l *Lines) { l.Series[1].Label = "" },
		`series 2 has the label "task"`:                func(l *Lines) { l.Series[2].Label = "task" },
		`series "blocking" has 0 x and 4 y`:            func(l *Lines) { l.Series[2].X = nil },
		`series "blocking" has 4 x and 3 y`:            func(l *Lines) { l.Series[2].Y = l.Series[2].Y[:3] },
		`"blocking": y of point 1 is NaN`:              func(l *Lines) { l.Series[2].Y[1] = math.NaN() },
		`"task": upper end of point 0 is +Inf`:         func(l *Lines) { l.Series[0].Hi[0] = math.Inf(1) },
		`"task": x of point 0 is 0`:                    func(l *Lines) { l.Series[0].X = []float64{0, 1, 2, 3} },
		`"bandwidth per link" is logarithmic`:          func(l *Lines) { l.Series[0].X = []float64{-1, 1, 2, 3} },
		`point 2, 130, is not between its ends 131`:    func(l *Lines) { l.Series[0].Lo[2] = 131 },
		`4 values, 4 lower and 0 upper ends`:           func(l *Lines) { l.Series[0].Hi = nil },
		`an axis has no title: x "bandwidth per link"`: func(l *Lines) { l.Y.Title = "" },
	} {
		l := someLines()
		spoil(l)
		dir := t.TempDir()
		assert.ErrorContains(t, l.Write(filepath.Join(dir, "x")), complaint)
		assert.ErrorContains(t, l.WriteSVG(io.Discard), complaint)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is written")
	}
}

func TestBars_that_cannot_be_drawn(t *testing.T) {
	for complaint, spoil := range map[string]func(*Bars){
		"0 groups and 3 series":             func(b *Bars) { b.Groups = nil },
		"3 groups and 0 series":             func(b *Bars) { b.Series = nil },
		`group 2 is named "1 x 2"`:          func(b *Bars) { b.Groups[2] = "1 x 2" },
		`series "task" has 2 values`:        func(b *Bars) { b.Series[0].Y = b.Series[0].Y[:2] },
		"no logarithmic axis":               func(b *Bars) { b.Y.Log = true },
		`"look-ahead": y of point 2 is NaN`: func(b *Bars) { b.Series[1].Y[2] = math.NaN() },
		`series 1 has the label "task"`:     func(b *Bars) { b.Series[1].Label = "task" },
		`an axis has no title`:              func(b *Bars) { b.X.Title = "" },
	} {
		b := someBars()
		spoil(b)
		assert.ErrorContains(t, b.WriteCSV(io.Discard), complaint)
		assert.ErrorContains(t, b.WriteSVG(io.Discard), complaint)
	}
}

func TestRead_refuses_what_is_no_table(t *testing.T) {
	head := "series,x,y,low,high\n"
	for text, complaint := range map[string]string{
		"":                              "line 1 has to be",
		"a,b\n":                         "wrong number of fields",
		"a,b,c,d,e\n":                   "line 1 has to be",
		head:                            "there is no series",
		head + "s,1\n":                  "wrong number of fields",
		head + "s,one,1,,\n":            `line 2: x of series "s" is "one"`,
		head + "s,1,1,,\ns,1,many,,\n":  `line 3: "many" is no number`,
		head + "s,1,1,0,\n":             `"" is no number`,
		head + "s,1,1,0,2\ns,2,1,,\n":   "2 values, 1 lower",
		head + "s,1,NaN,,\n":            "is NaN",
		head + "s,1,1,2,3\n":            "is not between",
		head + "s,1,1,,\n,1,1,,\n":      `has the label ""`,
		head + "\"s,1,1,,\n":            "table of a chart",
		"series,x,y,low\ns,1,1,0\n":     "wrong number of fields",
		"series,,y,low,high\ns,1,1,,\n": "no title",
	} {
		_, err := ReadLines(strings.NewReader(text))
		assert.ErrorContains(t, err, complaint, text)
	}
	_, err := ReadBars(strings.NewReader(head + "s,a,1,,\ns,b,1,,\nt,b,1,,\n"))
	assert.ErrorContains(t, err, `line 4: series "t" has group "b" out of order`)
	_, err = ReadBars(strings.NewReader(head + "s,a,1,,\ns,b,1,,\nt,a,1,,\n"))
	assert.ErrorContains(t, err, `series "t" has 1 values for 2 groups`)
}

func TestTicks(t *testing.T) {
	labels := func(low, high float64, log bool) (all []string) {
		ticks := linearTicks(low, high)
		if log {
			ticks = logTicks(low, high)
		}
		for _, k := range ticks {
			assert.GreaterOrEqual(t, k.Value, low-1e-6*math.Abs(low))
			assert.LessOrEqual(t, k.Value, high+1e-6*math.Abs(high))
			if k.Label != "" {
				all = append(all, k.Label)
			}
		}
		return all
	}
	assert.Equal(t, []string{"0", "20", "40", "60", "80", "100", "120"}, labels(0, 130, false))
	assert.Equal(t, []string{"0", "0.1", "0.2", "0.3", "0.4"}, labels(0, 0.45, false))
	assert.Equal(t, []string{"-1", "-0.5", "0", "0.5", "1"}, labels(-1, 1, false))
	assert.Equal(t, []string{"10M", "100M", "1G", "10G"}, labels(9e6, 2e10, true))
	assert.Equal(t, []string{"500", "1000", "2000", "5000", "10000"}, labels(450, 17000, true))
	assert.Equal(t, []string{"2000", "3000", "4000", "5000", "6000", "7000", "8000"}, labels(1900, 8100, true))
	assert.Equal(t, []string{"1u", "10u", "100u", "0.001"}, labels(1e-6, 1e-3, true))
}

func TestAxes_have_room_for_a_single_point(t *testing.T) {
	for _, axis := range []Axis{{Title: "a"}, {Title: "a", Tight: true}, {Title: "a", Log: true}} {
		for _, v := range []float64{5, 1e-6, 1e12} {
			l := &Lines{X: axis, Y: axis, Series: []Series{{Label: "one", X: []float64{v}, Y: []float64{v}}}}
			require.NoError(t, l.WriteSVG(io.Discard))
		}
	}
	l := &Lines{X: Axis{Title: "a"}, Y: Axis{Title: "b"}, Series: []Series{{Label: "zero", X: []float64{0}, Y: []float64{0}}, {Label: "below", X: []float64{-2, 0}, Y: []float64{-3, -1}}}}
	require.NoError(t, l.WriteSVG(io.Discard))
}
