package chart

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// groupWidth is the part of a group's place that its columns take.
const groupWidth = 0.8

// WriteSVG draws the chart.
func (b *Bars) WriteSVG(w io.Writer) error {
	if err := b.check(); err != nil {
		return err
	}
	p := newPlot(b.X, b.Y)
	legend := newLegend()
	one := groupWidth / float64(len(b.Series))
	for i, s := range b.Series {
		columns := &columnSet{number: i, width: one, axis: b.Y, y: s.Y}
		for g := range b.Groups {
			columns.x = append(columns.x, float64(g)-groupWidth/2+(float64(i)+0.5)*one)
		}
		p.Add(columns)
		legend.Add(s.Label, columns)
		if s.Lo != nil {
			p.Add(&spread{style: draw.LineStyle{Color: color.Black, Width: 1}, x: columns.x, lo: s.Lo, hi: s.Hi})
		} else {
			p.Add(&columnTexts{columns})
		}
	}
	b.nameGroups(&p.X)
	fit(&p.Y, b.Y, func(add func(...float64)) {
		for _, s := range b.Series {
			add(s.Y...)
			add(s.Lo...)
			add(s.Hi...)
		}
	})
	b.leaveRoom(&p.Y)
	return picture{b.Title, b.Note, b.X, b.Y}.render(w, p, legend)
}

// leaveRoom leaves some at the top if values are written there.
func (b *Bars) leaveRoom(y *plot.Axis) {
	const part = 0.06
	switch written := slices.ContainsFunc(b.Series, func(s BarSeries) bool { return s.Lo == nil }); {
	case written && b.Y.Log:
		y.Max *= math.Pow(y.Max/y.Min, part)
	case written:
		y.Max += part * (y.Max - y.Min)
	}
}

// nameGroups gives each group a place on the axis, and its name below.
func (b *Bars) nameGroups(x *plot.Axis) {
	x.Min, x.Max = -0.5, float64(len(b.Groups))-0.5
	x.Tick.LineStyle.Color = color.White // ticks are not seen, but keep the names off the axis
	x.Tick.Marker = plot.TickerFunc(func(float64, float64) (ticks []plot.Tick) {
		for g, name := range b.Groups {
			ticks = append(ticks, plot.Tick{Value: float64(g), Label: name})
		}
		return ticks
	})
}

// columnSet is the columns of one series: from 0, or the foot of the axis, to y; on a
// logarithmic axis marks at y.
type columnSet struct {
	number int     // of the series: tells colour and mark
	width  float64 // on the axis
	axis   Axis    // of y
	x, y   []float64
}

// colour of the columns.
func (s *columnSet) colour() color.NRGBA { return colours[s.number%len(colours)] }

// mark is what stands at y on a logarithmic axis.
func (s *columnSet) mark() draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.colour(), Radius: 1.6 * markRadius, Shape: glyphs[s.number%len(glyphs)]}
}

// Plot implements plot.Plotter.
func (s *columnSet) Plot(c draw.Canvas, p *plot.Plot) {
	atX, atY := p.Transforms(&c)
	if s.axis.Log {
		for i := range s.x {
			c.DrawGlyph(s.mark(), vg.Point{X: atX(s.x[i]), Y: atY(s.y[i])})
		}
		return
	}
	foot := atY(max(p.Y.Min, min(0, p.Y.Max)))
	for i := range s.x {
		left, right, top := atX(s.x[i]-s.width/2), atX(s.x[i]+s.width/2), atY(s.y[i])
		c.FillPolygon(s.colour(), []vg.Point{{X: left, Y: foot}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: foot}})
	}
}

// Thumbnail implements plot.Thumbnailer.
func (s *columnSet) Thumbnail(c *draw.Canvas) {
	if s.axis.Log {
		c.DrawGlyph(s.mark(), c.Center())
		return
	}
	c.FillPolygon(s.colour(), []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}})
}

// columnTexts writes the values above the columns, if all of them are narrow enough.
type columnTexts struct{ *columnSet }

// Plot implements plot.Plotter.
func (s *columnTexts) Plot(c draw.Canvas, p *plot.Plot) {
	atX, atY := p.Transforms(&c)
	style := draw.TextStyle{Color: grey, Font: sans(textSize - 2), Handler: plot.DefaultTextHandler, XAlign: draw.XCenter}
	above := vg.Length(3)
	if s.axis.Log {
		above += s.mark().Radius
	}
	for _, y := range s.y {
		if style.Width(s.axis.value(y)) > atX(s.width)-atX(0) {
			return
		}
	}
	for i := range s.x {
		if s.y[i] != 0 { // 0 is no column
			c.FillText(style, vg.Point{X: atX(s.x[i]), Y: atY(math.Max(0, s.y[i])) + above}, s.axis.value(s.y[i]))
		}
	}
}
