package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/command"
)

//go:embed peer.c
var peerSource []byte

// errNoPeer means that FFTW cannot be used here.
var errNoPeer = errors.New("-peer needs a C compiler called cc and FFTW 3 (on Debian: apt-get install gcc libfftw3-dev)")

// peer is the compiled C program, running.
type peer struct {
	dir     string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startPeer compiles the FFTW program into a temporary directory and starts it; stop ends
// it and deletes the directory.
func startPeer(c *config, rounds int) (*peer, error) {
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS == "windows" {
		return nil, errNoPeer
	}
	dir, err := os.MkdirTemp("", "fft")
	if err != nil {
		return nil, err
	}
	p := &peer{dir: dir}
	if err := p.start(cc, c.peerLibraries(), c.peerArguments(rounds)); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// peerArguments is the problem in the peer's words.
func (c *config) peerArguments(rounds int) (args []string) {
	numbers := c.dims
	mode := "dims"
	if c.dims == nil {
		mode, numbers = c.layout, []int{c.n, c.batch}
	}
	args = append(args, mode)
	inPlace := 0
	if c.inPlace {
		inPlace = 1
	}
	for _, n := range append(append([]int(nil), numbers...), inPlace, rounds) {
		args = append(args, strconv.Itoa(n))
	}
	return args
}

// peerLibraries are the compiler's flags: FFTW's threads on more than one core.
func (c *config) peerLibraries() []string {
	if c.workers == 1 {
		return []string{"-lfftw3", "-lm"}
	}
	return []string{fmt.Sprintf("-DTHREADS=%d", c.workers), "-lfftw3_threads", "-lfftw3", "-lm", "-lpthread"}
}

func (p *peer) start(cc string, libraries, args []string) error {
	program, err := command.Compile(p.dir, peerSource, []string{cc}, libraries...)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoPeer, err)
	}
	p.command = exec.Command(program, args...)
	p.command.Stderr = os.Stderr
	if p.in, err = p.command.StdinPipe(); err != nil {
		return err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := p.command.Start(); err != nil {
		p.command = nil
		return err
	}
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		return fmt.Errorf("FFTW did not start: it printed %q: %v", line, err)
	}
	return nil
}

// play runs one repetition and returns the seconds of one transform.
func (p *peer) play() (float64, error) {
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return 0, fmt.Errorf("FFTW has ended: %w", err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("FFTW has ended: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

// stop ends the program: it reads until its input is closed.
func (p *peer) stop() {
	if p.command != nil {
		_ = p.in.Close()
		_ = p.command.Wait()
	}
	_ = os.RemoveAll(p.dir)
}
