//go:build !linux

package pages

func mapPages(n int, _ bool) ([]byte, error) { return make([]byte, n), nil }

func adviseHuge([]byte) {}

func unmapPages([]byte) error { return nil }
