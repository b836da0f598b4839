package dds

import "github.com/weft-hpc/weft/internal/lazypages"

// view is an arena as package lazypages shows it.
type view struct{ *Arena }

func init() {
	lazypages.Provide(func(arena any) lazypages.Arena { return view{arena.(*Arena)} }, tracePages())
}

// tracePages is the option of lazypages.Trace.
func tracePages() Option {
	return func(o *options) error {
		o.trace = true
		return nil
	}
}

// Watch implements lazypages.Arena.
func (a view) Watch(f func(lazypages.Sleep)) (stop func(), err error) {
	w, can := a.back.(interface {
		watch(func(lazypages.Sleep)) (func(), error)
	})
	if !can {
		return nil, lazypages.ErrNoFaults
	}
	return w.watch(f)
}

// Pages implements lazypages.Arena.
func (a view) Pages() []lazypages.Access { return a.back.pages() }
