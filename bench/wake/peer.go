package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/weft-hpc/weft/bench/internal/command"
)

//go:embed peer.c
var peerSource []byte

// peerName is the contender that the others are compared with.
const peerName = "c"

// errNoPeer means that the peer cannot be built here, which is no failure.
var errNoPeer = errors.New("the C peer needs Linux and a C compiler called cc")

// peer is the compiled C program.
type peer struct {
	dir, program string
}

// buildPeer compiles the peer into a temporary directory, which remove deletes.
func buildPeer() (*peer, error) {
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		return nil, errNoPeer
	}
	dir, err := os.MkdirTemp("", "wake")
	if err != nil {
		return nil, err
	}
	p := &peer{dir: dir}
	p.program, err = command.Compile(dir, peerSource, []string{cc}, "-pthread")
	if err != nil {
		p.remove()
		return nil, fmt.Errorf("build the peer: %w", err)
	}
	return p, nil
}

func (p *peer) remove() { _ = os.RemoveAll(p.dir) }

// play runs one round in a child process.
func (p *peer) play(g game) (timing, error) {
	text, err := command.Output(exec.Command(p.program, strconv.Itoa(g.handovers), strconv.Itoa(g.cores[0]), strconv.Itoa(g.cores[1])))
	if err != nil {
		return timing{}, err
	}
	var t timing
	if _, err := fmt.Sscan(text, &t.median, &t.min); err != nil {
		return timing{}, fmt.Errorf("the peer printed %q: %w", text, err)
	}
	return t, nil
}
