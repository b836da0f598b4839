package trace

import (
	"hash/fnv"
	"math"
)

// A label has one colour in all formats, by a hash of its name alone, so that the traces of
// several ranks and of several runs match.

// salt gives the usual names that stand beside each other in a trace, of tasks and of messages
// (color_test.go), colours that are easy to distinguish. Of three million values it is the one with
// the largest distance in CIELAB between the two closest of a trace, 22.9. For other names any
// value is as good.
const salt = "weft-1834102"

func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(salt))
	h.Write([]byte(name))
	x := h.Sum64()
	x ^= x >> 32 // FNV leaves short names alike in the high bits
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// shades are the strengths of a colour: how far it is from grey, and how bright.
var shades = [...]struct{ chroma, value float64 }{{0.25, 0.98}, {0.48, 0.98}, {0.36, 0.82}}

// colorOf returns a colour on which black text is readable: any hue, in one of three
// strengths.
func colorOf(name string) [3]uint8 {
	h := hash(name)
	hue := float64(h%360) / 60
	shade := shades[h/360%uint64(len(shades))]
	chroma := shade.chroma
	x := chroma * (1 - math.Abs(math.Mod(hue, 2)-1))
	rgb := [...][3]float64{{chroma, x, 0}, {x, chroma, 0}, {0, chroma, x}, {0, x, chroma}, {x, 0, chroma}, {chroma, 0, x}}[int(hue)]
	var c [3]uint8
	for i, part := range rgb {
		c[i] = uint8(255 * (1 - chroma + part) * shade.value)
	}
	return c
}

// chromeNames are names of colours in the Chrome viewer. Two are not among them: grey is for
// states, terrible for failed tasks. Perfetto ignores the names, and colours slices by a
// hash of their own names, with the same effect.
var chromeNames = [...]string{
	"thread_state_uninterruptible", "thread_state_iowait", "thread_state_running", "thread_state_runnable",
	"thread_state_unknown", "background_memory_dump", "light_memory_dump", "detailed_memory_dump",
	"vsync_highlight_color", "generic_work", "good", "bad", "yellow", "olive", "rail_response",
	"rail_animation", "rail_idle", "rail_load", "startup", "heap_dump_child_node_arrow",
	"cq_build_running", "cq_build_passed", "cq_build_failed",
}

func chromeColorOf(name string) string { return chromeNames[hash(name)%uint64(len(chromeNames))] }
