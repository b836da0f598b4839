package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
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
			{Label: "two workers without messages", X: []float64{1e7, 1.25e10}, Y: []float64{140, 140}, Bound: true, Of: "task"},
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

// texts returns the texts of an SVG, which must be well-formed.
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
	want.Title, want.X.Log, want.Series[3].Bound, want.Series[3].Of = "", false, false, ""
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
	assert.NotContains(t, b.String(), "#-", "no colour is negative: the library writes transparent ones so")
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
		`"blocking" belongs to "tasks", and no series`: func(l *Lines) { l.Series[2].Of = "tasks" },
		`"task" belongs to "blocking", and no series`:  func(l *Lines) { l.Series[0].Of = "blocking" },
		`the mark at -1 has no place`:                  func(l *Lines) { l.Y.Log, l.Y.Mark = true, -1 },
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
		"groups stand side by side":         func(b *Bars) { b.X.Log = true },
		`"task": y of point 0 is 0`:         func(b *Bars) { b.Y.Log, b.Series[0].Y[0] = true, 0 },
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
			ticks = logTicks(low, high, short)
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

func TestTicks_with_units(t *testing.T) {
	labels := func(a Axis, low, high float64) (all []string) {
		for _, k := range a.ticker()(low, high) {
			if k.Label != "" {
				all = append(all, k.Label)
			}
		}
		return all
	}
	bytes, seconds := Axis{Unit: "bytes", Log: true}, Axis{Unit: "s", Log: true}
	assert.Equal(t, []string{"4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB"}, labels(bytes, 3900, 17e6))
	assert.Equal(t, []string{"8 B", "16 B", "32 B", "64 B"}, labels(bytes, 8, 64))
	assert.Equal(t, []string{"1 B", "1 KiB", "1 MiB", "1 GiB", "1 TiB"}, labels(bytes, 1, 1<<41))
	assert.Equal(t, []string{"1 µs", "10 µs", "100 µs", "1 ms", "10 ms"}, labels(seconds, 9e-7, 1.1e-2))
	assert.Equal(t, []string{"0", "100k", "200k", "300k", "400k", "500k", "600k"}, labels(Axis{Unit: "bytes"}, 0, 6.5e5), "a linear axis keeps its unit beside it")
	assert.Equal(t, []string{"latency", "latency [s]"}, []string{Axis{Title: "latency", Unit: "s", Log: true}.beside(), Axis{Title: "latency", Unit: "s"}.beside()})
	assert.Equal(t, []string{"4.102 KiB", "33.16 MiB", "0.961", "1.23 ms"},
		[]string{bytes.value(4200), bytes.value(34.77e6), Axis{}.value(0.96111), seconds.value(0.0012345)})
}

// Values that lie far apart are marks with their values beside them.
func TestBars_logarithmic(t *testing.T) {
	b := &Bars{
		Title: "sizes", Note: "machine: here", X: Axis{Title: "variant"}, Y: Axis{Title: "size of a message", Unit: "bytes", Log: true},
		Groups: []string{"exchange", "pencils"},
		Series: []BarSeries{{Label: "smallest", Y: []float64{1 << 25, 1 << 14}}, {Label: "largest", Y: []float64{1 << 25, 1 << 15}}},
	}
	draw := func() ([]string, int) {
		var picture bytes.Buffer
		require.NoError(t, b.WriteSVG(&picture))
		return texts(t, picture.Bytes()), strings.Count(picture.String(), "<path")
	}
	all, marks := draw()
	for _, text := range []string{"sizes", "machine: here", "size of a message", "16 KiB", "32 KiB", "32 MiB", "1 MiB", "smallest", "largest"} {
		assert.Contains(t, all, text)
	}
	assert.NotContains(t, all, "size of a message [bytes]", "the unit is with the values")
	b.Y.Log = false
	all, columns := draw()
	assert.Contains(t, all, "size of a message [bytes]")
	assert.NotEqual(t, columns, marks)
	for i := range 20 { // no room above twenty columns
		b.Series = append(b.Series, BarSeries{Label: strings.Repeat("x", i+1), Y: []float64{12345678, 2}})
	}
	all, _ = draw()
	assert.NotContains(t, all, "11.8 MiB")
}

// A series that belongs to another one has its colour, and other dashes and marks.
func TestLooks(t *testing.T) {
	plain := func(label string) Series { return Series{Label: label} }
	twin, bound := Series{Label: "c", Of: "a"}, Series{Label: "d", Of: "b", Bound: true}
	all := looks([]Series{plain("a"), plain("b"), twin, bound, plain("e")})
	assert.Equal(t, all[0].line.Color, all[2].line.Color)
	assert.Equal(t, all[1].line.Color, all[3].line.Color)
	assert.Equal(t, colours[2], all[4].line.Color, "twins take no colour from others")
	assert.NotEqual(t, all[0].line.Color, all[1].line.Color)
	assert.Empty(t, all[0].line.Dashes)
	assert.NotEmpty(t, all[2].line.Dashes)
	assert.NotEqual(t, all[2].line.Dashes, all[3].line.Dashes)
	assert.Equal(t, rim{all[0].mark.Shape}, all[2].mark.Shape)
	var many []Series
	for i := range 2 * len(colours) {
		many = append(many, plain(strings.Repeat("x", i+1)))
	}
	all = looks(many)
	assert.Equal(t, all[0].line.Color, all[len(colours)].line.Color)
	assert.NotEqual(t, all[0].line.Dashes, all[len(colours)].line.Dashes)
}

// Hollow marks have a white heart, of which full ones have none.
func TestHollow_marks(t *testing.T) {
	hearts := func(of string) int {
		l := someLines()
		l.Series[1].Of = of
		var picture bytes.Buffer
		require.NoError(t, l.WriteSVG(&picture))
		return strings.Count(picture.String(), "fill:#FFFFFF")
	}
	assert.Equal(t, hearts("")+len(someLines().Series[1].X)+1, hearts("task"), "one for each point, and one in the legend")
}

// Long titles get smaller: nothing is cut off at the border.
func TestTitles_fit(t *testing.T) {
	size := func(title string) float64 {
		l := someLines()
		l.Title = title
		var picture bytes.Buffer
		require.NoError(t, l.WriteSVG(&picture))
		found := regexp.MustCompile(`font-size:([0-9.]+)px"[^>]*>` + title + `<`).FindSubmatch(picture.Bytes())
		require.NotNil(t, found, picture.String())
		v, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(t, err)
		return v
	}
	assert.Equal(t, 14.0, size("short"))
	assert.Less(t, size(strings.Repeat("long ", 40)+"."), 10.0)
}

// A mark is inside the picture, even where no value is near it.
func TestMark_is_seen(t *testing.T) {
	l := someLines()
	for _, log := range []bool{false, true} {
		l.Y.Log, l.Y.Mark = log, 0
		without := plot.Axis{}
		fit(&without, l.Y, func(add func(...float64)) { add(20, 30) })
		l.Y.Mark = 1000
		with := plot.Axis{}
		fit(&with, l.Y, func(add func(...float64)) { add(20, 30) })
		assert.Less(t, without.Max, 40.0)
		assert.Greater(t, with.Max, 1000.0)
		var before, after bytes.Buffer
		require.NoError(t, l.WriteSVG(&after))
		l.Y.Mark = 0
		require.NoError(t, l.WriteSVG(&before))
		assert.NotEqual(t, before.String(), after.String())
	}
}
