package chart

import (
	"image/color"
	"io"

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
	p := newPlot(b.Title, b.X, b.Y)
	legend := newLegend()
	one := groupWidth / float64(len(b.Series))
	for i, s := range b.Series {
		columns := &columnSet{colour: colours[i%len(colours)], width: one, y: s.Y}
		for g := range b.Groups {
			columns.x = append(columns.x, float64(g)-groupWidth/2+(float64(i)+0.5)*one)
		}
		p.Add(columns)
		legend.Add(s.Label, columns)
		if s.Lo != nil {
			p.Add(&spread{style: draw.LineStyle{Color: color.Black, Width: 1}, x: columns.x, lo: s.Lo, hi: s.Hi})
		}
	}
	p.X.Min, p.X.Max = -0.5, float64(len(b.Groups))-0.5
	p.X.Tick.Length = 0
	p.X.Tick.Marker = plot.TickerFunc(func(float64, float64) (ticks []plot.Tick) {
		for g, name := range b.Groups {
			ticks = append(ticks, plot.Tick{Value: float64(g), Label: name})
		}
		return ticks
	})
	fit(&p.Y, b.Y, func(add func(...float64)) {
		for _, s := range b.Series {
			add(s.Y...)
			add(s.Lo...)
			add(s.Hi...)
		}
	})
	return render(w, p, b.X, b.Y, legend)
}

// columnSet is the columns of one series: from 0, or the foot of the axis, to y.
type columnSet struct {
	colour color.NRGBA
	width  float64 // on the axis
	x, y   []float64
}

// Plot implements plot.Plotter.
func (s *columnSet) Plot(c draw.Canvas, p *plot.Plot) {
	atX, atY := p.Transforms(&c)
	foot := atY(max(p.Y.Min, min(0, p.Y.Max)))
	for i := range s.x {
		left, right, top := atX(s.x[i]-s.width/2), atX(s.x[i]+s.width/2), atY(s.y[i])
		c.FillPolygon(s.colour, []vg.Point{{X: left, Y: foot}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: foot}})
	}
}

// Thumbnail implements plot.Thumbnailer.
func (s *columnSet) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.colour, []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}})
}
