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
	noteSize   = vg.Length(9)
	apart      = vg.Length(1.5) // between curves with spreads at the same x
	lineWidth  = vg.Length(1.8)
	markRadius = vg.Length(3.2)
)

// colours is the palette of Okabe and Ito, the dark ones first, without the yellow, which
// is hard to see on white.
var colours = []color.NRGBA{
	{0x00, 0x72, 0xb2, 255}, {0xd5, 0x5e, 0x00, 255}, {0x00, 0x9e, 0x73, 255}, {0xcc, 0x79, 0xa7, 255},
	{0xe6, 0x9f, 0x00, 255}, {0x56, 0xb4, 0xe9, 255}, {0x00, 0x00, 0x00, 255},
}

// glyphs tell series apart without colours: the full ones, then a hollow one of each shape.
var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{},
	rim{draw.CircleGlyph{}}, rim{draw.BoxGlyph{}}, rim{draw.PyramidGlyph{}}, rim{diamond{}},
}

// hollow is the distance of a hollow glyph from the full one of its shape.
const hollow = 4

// diamond is a square on its corner.
type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := 1.2 * style.Radius
	c.FillPolygon(style.Color, []vg.Point{{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y - r}})
}

// rim is a glyph with a white heart; the hollow glyphs of plot have lines that are too thin.
type rim struct{ full draw.GlyphDrawer }

// DrawGlyph implements draw.GlyphDrawer.
func (r rim) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r.full.DrawGlyph(c, style, at)
	style.Color, style.Radius = color.White, style.Radius/2
	c.SetColor(style.Color)
	r.full.DrawGlyph(c, style, at)
}

var (
	grey  = color.NRGBA{0x55, 0x55, 0x55, 255}
	light = color.NRGBA{0xdd, 0xdd, 0xdd, 255}
)

// look is how a series is drawn.
type look struct {
	line draw.LineStyle
	mark draw.GlyphStyle
}

// looks chooses colours and marks. A series with Of has the colour of that series, in
// dashes. When colours repeat, dashes distinguish the series.
func looks(all []Series) []look {
	numbers := map[string]int{}
	chosen := make([]look, len(all))
	own := 0
	for i, s := range all {
		n, twin := numbers[s.Of]
		if !twin {
			n, own = own, own+1
		}
		numbers[s.Label] = n
		colour, shape := colours[n%len(colours)], n%len(glyphs)
		style := draw.LineStyle{Color: colour, Width: lineWidth}
		switch {
		case s.Bound:
			style.Dashes = []vg.Length{6, 4}
		case twin:
			style.Dashes = []vg.Length{3, 3}
			if shape < hollow {
				shape += hollow
			}
		case n >= len(colours):
			style.Dashes = []vg.Length{vg.Length(2 * (n / len(colours))), 2}
		}
		chosen[i] = look{style, draw.GlyphStyle{Color: colour, Radius: markRadius, Shape: glyphs[shape]}}
	}
	return chosen
}

// WriteSVG draws the chart.
func (l *Lines) WriteSVG(w io.Writer) error {
	if err := l.check(); err != nil {
		return err
	}
	p := newPlot(l.X, l.Y)
	legend := newLegend()
	for i, how := range looks(l.Series) {
		shift := apart * vg.Length(2*i-len(l.Series)+1) / 2
		if err := addCurve(p, &legend, l.Series[i], how, shift); err != nil {
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
	return picture{l.Title, l.Note, l.X, l.Y}.render(w, p, legend)
}

// addCurve draws a series, shifted sideways if it has spreads.
func addCurve(p *plot.Plot, legend *plot.Legend, s Series, how look, shift vg.Length) error {
	points := make(plotter.XYs, len(s.X))
	for j := range s.X {
		points[j] = plotter.XY{X: s.X[j], Y: s.Y[j]}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.LineStyle, marks.GlyphStyle = how.line, how.mark
	if s.Bound {
		p.Add(line)
		legend.Add(s.Label, line)
		return nil
	}
	if s.Lo == nil {
		shift = 0
	} else {
		p.Add(moved{&spread{style: draw.LineStyle{Color: how.line.Color, Width: 1}, x: s.X, lo: s.Lo, hi: s.Hi}, shift})
	}
	p.Add(moved{line, shift}, moved{marks, shift})
	legend.Add(s.Label, line, marks)
	return nil
}

// moved draws a plotter to the right of its place.
type moved struct {
	plot.Plotter
	by vg.Length
}

// Plot implements plot.Plotter.
func (m moved) Plot(c draw.Canvas, p *plot.Plot) {
	c.Push()
	c.Translate(vg.Point{X: m.by})
	m.Plotter.Plot(c, p)
	c.Pop()
}

// newPlot returns an empty plot with a grid.
func newPlot(x, y Axis) *plot.Plot {
	p := plot.New()
	for _, a := range []struct {
		axis *plot.Axis
		says Axis
	}{{&p.X, x}, {&p.Y, y}} {
		a.axis.Tick.Label.Font = sans(textSize - 1)
		a.axis.Tick.Label.Color = grey
		a.axis.LineStyle.Color, a.axis.Tick.LineStyle.Color = grey, grey
		a.axis.Padding = 0
		a.axis.Tick.Marker = a.says.ticker()
		if a.says.Log {
			a.axis.Scale = plot.LogScale{}
		}
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = light, light
	p.Add(grid)
	if y.Mark != 0 {
		p.Add(level(y.Mark))
	}
	return p
}

// level is a line across the chart.
type level float64

// Plot implements plot.Plotter.
func (v level) Plot(c draw.Canvas, p *plot.Plot) {
	_, atY := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: grey, Width: 1}, c.Min.X, atY(float64(v)), c.Max.X, atY(float64(v)))
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
	if says.Mark != 0 {
		low, high = math.Min(low, says.Mark), math.Max(high, says.Mark)
	}
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

// picture is what stands around the data.
type picture struct {
	title, note string
	x, y        Axis
}

// render draws the plot with its titles, and its legend at its right.
func (f picture) render(w io.Writer, p *plot.Plot, legend plot.Legend) error {
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	all = draw.Crop(all, border, -border, border, -border)
	if f.title != "" {
		writeLine(all, color.Black, titleSize, vg.Point{X: all.Center().X, Y: all.Max.Y - titleSize}, draw.XCenter, f.title)
		all = draw.Crop(all, 0, 0, 0, -titleSize-border)
	}
	if f.note != "" {
		writeLine(all, grey, noteSize, all.Min, draw.XLeft, f.note)
		all = draw.Crop(all, 0, 0, noteSize+border/2, 0)
	}
	legendWidth := legend.Rectangle(all).Size().X
	data := draw.Crop(all, titleRoom, -legendWidth-gap, titleRoom, 0)
	p.Draw(data)
	inner := p.DataCanvas(data)
	title := draw.TextStyle{Color: color.Black, Font: sans(textSize), Handler: plot.DefaultTextHandler, XAlign: draw.XCenter}
	all.FillText(title, vg.Point{X: inner.Center().X, Y: all.Min.Y}, f.x.beside())
	title.Rotation, title.YAlign = math.Pi/2, draw.YTop
	all.FillText(title, vg.Point{X: all.Min.X, Y: inner.Center().Y}, f.y.beside())
	legend.Draw(draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: inner.Max.X + gap, Y: inner.Min.Y},
		Max: vg.Point{X: all.Max.X, Y: inner.Max.Y},
	}})
	_, err := canvas.WriteTo(w)
	return err
}

// writeLine writes a line of text, smaller than size where it would not fit into the canvas.
func writeLine(c draw.Canvas, colour color.Color, size vg.Length, at vg.Point, align draw.XAlignment, text string) {
	style := draw.TextStyle{Color: colour, Font: sans(size), Handler: plot.DefaultTextHandler, XAlign: align}
	if needs, has := style.Width(text), c.Size().X; needs > has {
		style.Font.Size *= has / needs
	}
	c.FillText(style, at, text)
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
