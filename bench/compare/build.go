package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed c
var sources embed.FS

// weft builds a program of bench/ and returns its path. Tags are build tags.
func (b *bench) weft(name, tags string) (string, error) {
	key := name + " " + tags
	if path := b.built[key]; path != "" {
		return path, nil
	}
	b.progress.Say("building %s", name)
	path := filepath.Join(b.dir, strings.Join(strings.Fields("weft "+name+" "+tags), "-"))
	c := command{argv: []string{"go", "build", "-o", path, "github.com/weft-hpc/weft/bench/" + name}}
	if tags != "" {
		c.argv = append(c.argv[:2:2], append([]string{"-tags", tags}, c.argv[2:]...)...)
	}
	if tags == "mpi" {
		c.env = []string{"CGO_ENABLED=1", "CC=" + b.mpicc()}
	}
	if _, err := b.tools.output(c); err != nil {
		return "", fmt.Errorf("weft's bench/%s cannot be built (this program needs go, and runs in the source tree): %w", name, err)
	}
	b.built[key] = path
	return path, nil
}

// compile builds a C program of c/ with a compiler and libraries, and returns its path.
func (b *bench) compile(name, compiler string, flags ...string) (string, error) {
	if path := b.built[name]; path != "" {
		return path, nil
	}
	path, err := b.compileAs(name, name, compiler, flags...)
	if err == nil {
		b.built[name] = path
	}
	return path, err
}

// compileAs builds the C program of c/ in a source file as a program of another name.
func (b *bench) compileAs(program, name, compiler string, flags ...string) (string, error) {
	dir, err := b.unpack()
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, program)
	argv := append([]string{compiler, "-O2", "-o", path, filepath.Join(dir, name+".c")}, flags...)
	_, err = b.tools.output(command{argv: argv})
	return path, err
}

// unpack writes the C sources to a folder.
func (b *bench) unpack() (string, error) {
	dir := filepath.Join(b.dir, "c")
	files, err := sources.ReadDir("c")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, f := range files {
		text, err := sources.ReadFile("c/" + f.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), text, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

// first is the first of some programs that is installed, or "".
func (b *bench) first(names ...string) string {
	for _, name := range names {
		if path, err := b.tools.find(name); err == nil {
			return path
		}
	}
	return ""
}

// mpicc and mpirun are the programs of Open MPI if it is installed, else of any MPI.
func (b *bench) mpicc() string  { return b.first("mpicc.openmpi", "mpicc") }
func (b *bench) mpirun() string { return b.first("mpirun.openmpi", "mpirun") }

// ranks is the beginning of a command that runs n ranks.
func (b *bench) ranks(n int) []string {
	launch := []string{b.mpirun(), "-np", fmt.Sprint(n)}
	if n > b.cores {
		launch = append(launch, "--oversubscribe")
	}
	return launch
}
