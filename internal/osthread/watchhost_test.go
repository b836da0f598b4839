package osthread

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines is a writer for several goroutines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func waitsForAChannel(c chan int) { <-c }

// A thread that waits for a channel is reported, once, with its stack, and no other one.
func TestSimulate_watch_of_the_host(t *testing.T) {
	var out lines
	defer func(d time.Duration, w any) { holdLimit, complaints = d, w.(interface{ Write([]byte) (int, error) }) }(holdLimit, complaints)
	holdLimit, complaints = 20*time.Millisecond, &out
	c := make(chan int)
	_, err := Simulate(Simulation{}, func() {
		var g Group
		g.Go(func() { Sleep(time.Hour) })
		g.Go(func() {
			Sleep(time.Second)
			time.AfterFunc(200*time.Millisecond, func() { close(c) })
			waitsForAChannel(c)
		})
		g.Wait()
	})
	require.NoError(t, err)
	text := out.text.String()
	assert.Equal(t, 1, strings.Count(text, "weft: a thread"), text)
	assert.Contains(t, text, "waitsForAChannel")
	assert.Equal(t, 1, strings.Count(text, "]:\n"), text)
	out.text.Reset()
	d := make(chan int)
	_, err = Simulate(Simulation{}, func() {
		var g Group
		for range 3000 { // the stacks of all are more than a first buffer takes
			g.Go(func() { Sleep(time.Hour) })
		}
		resume := Pull(func(yield func(struct{}) bool) {
			time.AfterFunc(200*time.Millisecond, func() { close(d) })
			waitsForAChannel(d)
		})
		Sleep(time.Second)
		resume()
		g.Wait()
	})
	require.NoError(t, err)
	assert.Contains(t, out.text.String(), "waitsForAChannel")
	out.text.Reset()
	_, err = Simulate(Simulation{}, func() {
		for range 100_000 {
			Sleep(time.Hour)
		}
	})
	require.NoError(t, err)
	assert.Empty(t, out.text.String(), "a machine that goes on is not reported")
}
