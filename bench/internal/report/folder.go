package report

import (
	"errors"
	"os"
)

// TryFolder creates a folder if needed and checks that files can be created in it, so that
// a long measurement does not fail at its end. It leaves nothing in the folder. The error
// names the path and the cause.
func TryFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "try")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
