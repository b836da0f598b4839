package report

import (
	"errors"
	"os"
)

// TryFolder makes a folder if it is not there, and sees whether files can be made in it:
// better before a long measurement than after it. It leaves nothing in the folder. The
// error says what is wrong with which path.
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
