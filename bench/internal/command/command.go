// Package command runs other programs for a bench program, and builds its peers in C.
package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Output runs cmd and returns its stdout. The error of a failed command has the command
// line and its stderr.
func Output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// Compile compiles a C program in the folder dir with the compiler cc, its options first,
// and returns its path. The options of the linker come last.
func Compile(dir string, source []byte, cc []string, linker ...string) (program string, err error) {
	program = filepath.Join(dir, "peer")
	if err := os.WriteFile(program+".c", source, 0o600); err != nil {
		return "", err
	}
	args := append(cc[1:len(cc):len(cc)], "-O2", "-o", program, program+".c")
	_, err = Output(exec.Command(cc[0], append(args, linker...)...))
	return program, err
}
