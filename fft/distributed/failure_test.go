package distributed

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// The negative controls: the check finds a plane that is missing, and pieces that
// went to another rank.
func TestPlan_mistakes_are_found(t *testing.T) {
	q := newProblem(t, [3]int{12, 12, 8})
	attempt := func(ranks int, form Form, spoil func(*mpi.Comm, *Plan) error) error {
		return local.Run(ranks, func(c *mpi.Comm) error {
			p, err := New(c, Config{Dims: q.dims, Form: form, Groups: 3})
			if err != nil {
				return err
			}
			if err := spoil(c, p); err != nil {
				return err
			}
			_, wrong := q.check(p)
			if err := c.Barrier(); err != nil { // all have looked
				return err
			}
			return errors.Join(wrong, p.Close())
		})
	}
	nothing := func(*mpi.Comm, *Plan) error { return nil }
	missing := func(_ *mpi.Comm, p *Plan) error { p.forward.passes[0].items--; return nil }
	swapped := func(c *mpi.Comm, p *Plan) error {
		other, err := c.Split(0, (c.Rank()+1)%2) // ranks 0 and 1 of three, exchanged
		p.forward.passes[0].after.comm = other
		return err
	}
	lost := func(c *mpi.Comm, p *Plan) error { // another plane in the place of the last one
		if c.Rank() == 0 {
			p.forward.passes[0].planes.planeStride = 0
		}
		return nil
	}
	for _, form := range Forms() {
		assert.NoError(t, attempt(1, form, nothing))
		assert.NoError(t, attempt(3, form, nothing))
		assert.ErrorContains(t, attempt(1, form, missing), "forward is wrong", "%v", form)
		assert.ErrorContains(t, attempt(3, form, lost), "forward is wrong", "%v", form)
		assert.ErrorContains(t, attempt(3, form, swapped), "forward is wrong", "%v", form)
	}
}

// If one rank fails, the others fail, too, in every form: no rank waits for ever.
func TestPlan_failure_of_a_rank(t *testing.T) {
	for _, form := range Forms() {
		for _, oneSided := range []bool{false, true} {
			failures := make([]error, 3)
			err := local.Run(3, func(c *mpi.Comm) error {
				failures[c.Rank()] = cursed(t, c, form, oneSided)
				return failures[c.Rank()]
			})
			require.ErrorContains(t, err, "this row is cursed", "%v", form)
			assert.Error(t, failures[0], "%v", form)
			assert.Error(t, failures[2], "%v", form)
		}
	}
}

// cursed makes a transform in which rank 1 panics.
func cursed(t *testing.T, c *mpi.Comm, form Form, oneSided bool) error {
	broken := func(dst, src []complex128, at [3]int) {
		if c.Rank() == 1 && at[0] >= 5 {
			panic("this row is cursed")
		}
		copy(dst, src)
	}
	p, err := New(c, Config{Dims: [3]int{12, 12, 8}, Form: form, OneSided: oneSided, Workers: 1 + c.Rank(), BeforeForward: broken})
	if err != nil {
		return err
	}
	a, err := p.NewArray()
	if err != nil {
		return errors.Join(err, p.Close())
	}
	b, err := p.NewArray()
	if err != nil {
		return errors.Join(err, p.Close())
	}
	if err = p.Forward(b, a); err != nil {
		assert.ErrorContains(t, p.Inverse(a, b), "failed before")
	}
	return errors.Join(err, p.Close())
}

// The same if a rank is killed in the middle, wherever that is.
func TestPlan_death_of_a_rank(t *testing.T) {
	q := newProblem(t, [3]int{12, 12, 8})
	for _, form := range Forms() {
		failed := 0
		for at := 2; at < 30; at += 3 {
			if _, err := q.run(3, Config{Form: form, Groups: 3}, local.Inject(local.Faults{Kill: map[int]int{1: at}})); err != nil {
				failed++
			}
		}
		require.Greater(t, failed, 1, "%v", form)
	}
}

func TestNew_bad_input(t *testing.T) {
	good := Config{Dims: [3]int{4, 4, 4}}
	for says, spoil := range map[string]func(*Config){
		"dimension 1 is 0":                 func(c *Config) { c.Dims[1] = 0 },
		"dimension 2 is -3":                func(c *Config) { c.Dims[2] = -3 },
		"more than":                        func(c *Config) { c.Dims = [3]int{1 << 20, 1 << 20, 1 << 20} },
		"process grid of 2 x 3 on 2 ranks": func(c *Config) { c.Grid = [2]int{2, 3} },
		"process grid of -1 x -2":          func(c *Config) { c.Grid = [2]int{-1, -2} },
		"form 9":                           func(c *Config) { c.Form = 9 },
		"padding -1":                       func(c *Config) { c.Pad = -1 },
		"stage -1":                         func(c *Config) { c.Stage = -1 },
		"61 groups":                        func(c *Config) { c.Groups = 61 },
		"stage of 3 planes with exchange":  func(c *Config) { c.Stage = 3 },
	} {
		cfg := good
		spoil(&cfg)
		err := local.Run(2, func(c *mpi.Comm) error {
			_, err := New(c, cfg)
			return err
		})
		assert.ErrorContains(t, err, says)
	}
}

func TestPlan_bad_arrays(t *testing.T) {
	err := local.Run(2, func(c *mpi.Comm) error {
		p, err := New(c, Config{Dims: [3]int{4, 4, 4}, OneSided: true})
		require.NoError(t, err)
		a, err := p.NewArray()
		require.NoError(t, err)
		x := make([]complex128, 64)
		assert.ErrorContains(t, p.Forward(a, x[:31]), "input has 31 numbers")
		assert.ErrorContains(t, p.Forward(a[:31], x), "output has 31 numbers")
		assert.ErrorContains(t, p.Forward(x, a), "is no window")
		assert.ErrorContains(t, p.Forward(a, a), "share memory")
		assert.ErrorContains(t, p.Forward(a, nil), "no input")
		assert.NoError(t, p.Forward(a, x))
		assert.NoError(t, p.Close())
		assert.NoError(t, p.Close())
		assert.ErrorContains(t, p.Inverse(a, x), "closed")
		_, err = p.NewArray()
		assert.ErrorContains(t, err, "closed")
		return nil
	})
	require.NoError(t, err)
}

func TestParseForm(t *testing.T) {
	for _, f := range Forms() {
		got, err := ParseForm(f.String())
		require.NoError(t, err)
		assert.Equal(t, f, got)
	}
	_, err := ParseForm("slab")
	assert.ErrorContains(t, err, "exchange, slabs, pencils, tasks")
	assert.Equal(t, "Form(9)", Form(9).String())
}
