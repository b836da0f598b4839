//go:build !linux

package reserved

import "errors"

func reserve() ([]byte, error) { return nil, errors.ErrUnsupported }

func open([]byte) error { return nil }

func forget([]byte) error { return nil }
