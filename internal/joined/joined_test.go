package joined

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParts(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	both := fmt.Errorf("%w and %w", a, b)
	assert.Empty(t, Parts(nil))
	assert.Equal(t, []error{a}, Parts(a))
	assert.Equal(t, []error{a, b, c}, Parts(errors.Join(errors.Join(a, nil, b), c)))
	assert.Equal(t, []error{both}, Parts(both), "its text is not that of its parts")
}

func TestAdd(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	assert.NoError(t, Add(nil, nil))
	assert.EqualError(t, Add(a, nil), "a")
	assert.EqualError(t, Add(nil, errors.Join(a, b)), "a\nb")
	assert.EqualError(t, Add(errors.Join(a, b), errors.Join(b, c, a)), "a\nb\nc")
	seen := fmt.Errorf("the wait: %w", errors.Join(a, b))
	assert.EqualError(t, Add(seen, errors.Join(a, b)), "the wait: a\nb")
	assert.EqualError(t, Add(seen, errors.Join(a, c)), "the wait: a\nb\nc")
	assert.EqualError(t, Add(seen, fmt.Errorf("seeded: %w", errors.Join(a, b))), "the wait: a\nb")
	assert.EqualError(t, Add(a, fmt.Errorf("seeded: %w", b)), "a\nseeded: b")
	assert.EqualError(t, Add(a, fmt.Errorf("once more: %w", a)), "a\nonce more: a", "its text may be needed")
}
