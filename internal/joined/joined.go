// Package joined takes apart what errors.Join has put together.
package joined

import (
	"errors"
	"reflect"
)

var joinType = reflect.TypeOf(errors.Join(errors.ErrUnsupported))

// Parts returns the errors that errors.Join has joined into err, in one step or in several, and
// err itself if it is not joined.
func Parts(err error) []error {
	if err == nil {
		return nil
	}
	if reflect.TypeOf(err) != joinType {
		return []error{err}
	}
	var all []error
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		all = append(all, Parts(e)...)
	}
	return all
}

// Add joins err and those parts of later that err does not contain.
func Add(err, later error) error {
	all := []error{err}
	for _, e := range Parts(later) {
		if !contains(err, e) {
			all = append(all, e)
		}
	}
	return errors.Join(all...)
}

// contains reports whether err has e, or all parts of the joined error that e wraps.
func contains(err, e error) bool {
	if errors.Is(err, e) {
		return true
	}
	inner := Parts(errors.Unwrap(e))
	for _, part := range inner {
		if !errors.Is(err, part) {
			return false
		}
	}
	return len(inner) > 1
}

// Note is a remark about the other errors of a joined one: it is no failure by itself.
type Note string

func (n Note) Error() string { return string(n) }
