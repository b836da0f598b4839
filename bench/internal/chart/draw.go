package chart

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a picture. A point is 1/72 inch.
const (
	width      = 9 * vg.Inch
	height     = 4.8 * vg.Inch
	border     = vg.Length(10) // around everything
	gap        = vg.Length(14) // between data and legend
	titleRoom  = vg.Length(20) // for the title of an axis; plot's own leave room in the wrong place of a logarithmic one
	textSize   = vg.Length(12)
	titleSize  = vg.Length(14)
	lineWidth  = vg.Length(1.8)
	markRadius = vg.Length(3.2)
)

// colours are those of Okabe and Ito, the dark ones first, without the yellow, which
// is hard to see on white.
var colours = []color.NRGBA{
	{0x00, 0x72, 0xb2, 255}, {0xd5, 0x5e, 0x00, 255}, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255},
	{0xe6, 0x9f, 0x00, 255}, {0x56, 0xb4, 0xe9, 255}, {0x00, 0x00, 0x00, 255},
}

// glyphs tell series apart without colours.
var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
}

var (
	grey  = color.NRGBA{0x55, 0x55, 0x55, 255}
	light = color.NRGBA{0xdd, 0xdd, 0xdd, 255}
)

// lineOf returns the style of series i: a colour, and dashes when the colours repeat.
func lineOf(i int, bound bool) draw.LineStyle {
	style := draw.LineStyle{Color: colours[i%len(colours)], Width: lineWidth}
	switch {
	case bound:
		style.Dashes = []vg.Length{6, 4}
	case i >= len(colours):
		style.Dashes = []vg.Length{vg.Length(2 * (i / len(colours))), 2}
	}
	return style
}

// WriteSVG draws the chart.
func (l *Lines) WriteSVG(w io.Writer) error {
	if err := l.check(); err != nil {
		return err
	}
	p := newPlot(l.Title, l.X, l.Y)
	legend := newLegend()
	for i, s := range l.Series {
		if err := addCurve(p, &legend, i, s); err != nil {
			return err
		}
	}
	fit(&p.X, l.X, func(add func(...float64)) {
		for _, s := range l.Series {
			add(s.X...)
		}
	})
	fit(&p.Y, l.Y, func(add func(...float64)) {
		for _, s := range l.Series {
			add(s.Y...)
			add(s.Lo...)
			add(s.Hi...)
		}
	})
	return render(w, p, l.X, l.Y, legend)
}

// addCurve draws series number i.
func addCurve(p *plot.Plot, legend *plot.Legend, i int, s Series) error {
	points := make(plotter.XYs, len(s.X))
	for j := range s.X {
		points[j] = plotter.XY{X: s.X[j], Y: s.Y[j]}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.LineStyle = lineOf(i, s.Bound)
	p.Add(line)
	if s.Bound {
		legend.Add(s.Label, line)
		return nil
	}
	if s.Lo != nil {
		p.Add(&spread{style: draw.LineStyle{Color: line.Color, Width: 1}, x: s.X, lo: s.Lo, hi: s.Hi})
	}
	marks.GlyphStyle = draw.GlyphStyle{Color: line.Color, Radius: markRadius, Shape: glyphs[i%len(glyphs)]}
	p.Add(marks)
	legend.Add(s.Label, line, marks)
	return nil
}

// newPlot returns an empty plot with titles and a grid.
func newPlot(title string, x, y Axis) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = 10
	p.Title.TextStyle.Font = sans(titleSize)
	for _, a := range []struct {
		axis *plot.Axis
		says Axis
	}{{&p.X, x}, {&p.Y, y}} {
		a.axis.Tick.Label.Font = sans(textSize - 1)
		a.axis.Tick.Label.Color = grey
		a.axis.LineStyle.Color, a.axis.Tick.LineStyle.Color = grey, grey
		a.axis.Padding = 0
		if a.says.Log {
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
		} else {
			a.axis.Tick.Marker = plot.TickerFunc(linearTicks)
		}
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = light, light
	p.Add(grid)
	return p
}

func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.Left, l.Top = true, true
	l.Padding = 6
	l.ThumbnailWidth = 26
	l.TextStyle.Font = sans(textSize)
	l.YPosition = draw.PosCenter
	return l
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: plot.DefaultFont.Typeface, Variant: "Sans", Size: size}
}

// fit makes the axis cover the values, with a little room at both ends; a linear axis
// that is not tight begins at 0.
func fit(axis *plot.Axis, says Axis, values func(add func(...float64))) {
	low, high := math.Inf(1), math.Inf(-1)
	values(func(v ...float64) {
		for _, x := range v {
			low, high = math.Min(low, x), math.Max(high, x)
		}
	})
	if says.Log {
		room := math.Max(math.Pow(high/low, 0.04), 1.05)
		axis.Min, axis.Max = low/room, high*room
		return
	}
	if !says.Tight {
		low, high = math.Min(low, 0), math.Max(high, 0)
	}
	room := 0.05 * (high - low)
	if room == 0 {
		room = math.Max(math.Abs(high)/10, 1e-9)
	}
	axis.Min, axis.Max = low-room, high+room
	if !says.Tight && low == 0 {
		axis.Min = 0
	}
	if !says.Tight && high == 0 {
		axis.Max = math.Max(0, axis.Min+room)
	}
}

// render draws the plot with the titles of its axes, and its legend at its right.
func render(w io.Writer, p *plot.Plot, x, y Axis, legend plot.Legend) error {
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	all = draw.Crop(all, border, -border, border, -border)
	legendWidth := legend.Rectangle(all).Size().X
	data := draw.Crop(all, titleRoom, -legendWidth-gap, titleRoom, 0)
	p.Draw(data)
	inner := p.DataCanvas(data)
	title := draw.TextStyle{Color: color.Black, Font: sans(textSize), Handler: plot.DefaultTextHandler, XAlign: draw.XCenter}
	all.FillText(title, vg.Point{X: inner.Center().X, Y: all.Min.Y}, x.text())
	title.Rotation, title.YAlign = math.Pi/2, draw.YTop
	all.FillText(title, vg.Point{X: all.Min.X, Y: inner.Center().Y}, y.text())
	legend.Draw(draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: inner.Max.X + gap, Y: inner.Min.Y},
		Max: vg.Point{X: all.Max.X, Y: inner.Max.Y},
	}})
	_, err := canvas.WriteTo(w)
	return err
}

// spread is a vertical bar from lo to hi at each x, with short ends.
type spread struct {
	style     draw.LineStyle
	x, lo, hi []float64
}

const capWidth = vg.Length(6)

// Plot implements plot.Plotter.
func (s *spread) Plot(c draw.Canvas, p *plot.Plot) {
	atX, atY := p.Transforms(&c)
	for i := range s.x {
		x, low, high := atX(s.x[i]), atY(s.lo[i]), atY(s.hi[i])
		c.StrokeLines(s.style,
			[]vg.Point{{X: x, Y: low}, {X: x, Y: high}},
			[]vg.Point{{X: x - capWidth/2, Y: low}, {X: x + capWidth/2, Y: low}},
			[]vg.Point{{X: x - capWidth/2, Y: high}, {X: x + capWidth/2, Y: high}})
	}
}
