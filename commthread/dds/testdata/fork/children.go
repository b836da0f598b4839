package main

/*
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTHING, READS, WRITES, CALLS, STAYS, REPORTS, KINDS };

// body is what a child does, and its exit code.
static int body(int kind, volatile unsigned char *p, int go, void *complete, void *cookie) {
	struct rlimit none = {0, 0};
	unsigned char byte;
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGALRM, SIG_DFL);
	alarm(20); // whatever happens, it does not stay for ever
	if (kind != REPORTS)
		signal(SIGSEGV, SIG_DFL);
	else if (close(2))
		return 9;
	if (kind == STAYS && read(go, &byte, 1) < 0)
		return 9;
	switch (kind) {
	case WRITES:
		*p = 1;
		return 0;
	case READS:
	case STAYS:
	case REPORTS:
		return *p & 0;
	case CALLS:
		((void (*)(void *, int64_t, int32_t))complete)(cookie, -1, 0);
	}
	return 0;
}

static pid_t fork_child(int kind, unsigned char *p, int go, void *complete, void *cookie) {
	pid_t child = fork();
	if (child == 0)
		_exit(body(kind, p, go, complete, cookie));
	return child;
}

// wait_child returns how a child has ended: its exit code, or minus a signal.
static int wait_child(pid_t child) {
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 99;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void complete_late(void *complete, void *cookie, int64_t bytes) {
	((void (*)(void *, int64_t, int32_t))complete)(cookie, bytes, 0);
}
*/
import "C"

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// kind is what a child does that C forks.
type kind int

const (
	nothing kind = iota // with the memory
	reads               // a byte
	writes              // a byte
	calls               // the keeper: a completion function
	stays               // until it is told to read a byte
	reports             // reads a byte, and has Go's runtime answer the signal
	kinds
)

var _ = [1]int{}[kinds-C.KINDS]

// child is a process that has not been waited for.
type child struct {
	kind   kind
	pid    C.pid_t
	go_, w *os.File // a pipe on which one that stays is told
}

// late is a completion function and its cookie.
type late struct{ fn, cookie unsafe.Pointer }

func fork(k kind, p *byte, l late) (*child, error) {
	c := &child{kind: k}
	fd := C.int(-1)
	if k == stays {
		var err error
		if c.go_, c.w, err = os.Pipe(); err != nil {
			return nil, err
		}
		fd = C.int(c.go_.Fd())
	}
	if c.pid = C.fork_child(C.int(k), (*C.uchar)(p), fd, l.fn, l.cookie); c.pid < 0 {
		return nil, fmt.Errorf("fork failed")
	}
	return c, nil
}

// wait tells a child that stays to go on, and reports whether the signal of a touch that is
// not allowed has ended it. The runtime of Go ends a process with 2 then.
func (c *child) wait() (killed bool, err error) {
	if c.kind == stays {
		if _, err := c.w.Write([]byte{1}); err != nil {
			return false, err
		}
		defer c.w.Close()
		defer c.go_.Close()
	}
	switch end := int(C.wait_child(c.pid)); {
	case end == -int(syscall.SIGSEGV), end == 2 && c.kind == reports:
		return true, nil
	case end != 0:
		return false, fmt.Errorf("child of kind %d: it ended with %d", c.kind, end)
	}
	return false, nil
}

// complete is the completion of what has landed already.
func (l late) complete(bytes int) { C.complete_late(l.fn, l.cookie, C.int64_t(bytes)) }
