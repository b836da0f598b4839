package main

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// modelMachine returns a measurement of a machine where each task costs overhead
// seconds beside its kernel, which runs at rate FLOP/s per core. noise scales the runs
// of a point, one factor per run, in turn.
func modelMachine(cores int, rate, overhead float64, noise ...float64) func(int) (sample, error) {
	run := 0
	return func(iter int) (sample, error) {
		const tasks = 2000
		s := sample{iter: iter, tasks: tasks, flops: tasks * flopsOf(iter)}
		for range 5 {
			factor := 1.0
			if len(noise) > 0 {
				factor = noise[run%len(noise)]
			}
			run++
			s.seconds = append(s.seconds, factor*(overhead+float64(flopsOf(iter))/rate)*tasks/float64(cores))
		}
		return s, nil
	}
}

func TestMETG_of_a_model_machine(t *testing.T) {
	for _, cores := range []int{1, 2, 7} {
		for _, overhead := range []float64{1e-7, 3e-7, 1e-6, 1e-5, 1e-4} {
			const rate = 7e9
			points := 0
			w := &sweep{cores: cores, peak: rate * float64(cores), measure: modelMachine(cores, rate, overhead)}
			w.show = func(*sample, float64) { points++ }
			found, err := w.find()
			require.NoError(t, err)
			assert.False(t, found.atMost)
			// Half of the time is overhead: the granularity is twice the overhead.
			assert.InEpsilon(t, 2*overhead, found.seconds, 0.02, "%d cores, overhead %v", cores, overhead)
			assert.Less(t, points, 25)
		}
	}
}

func TestMETG_survives_noise(t *testing.T) {
	noise := []float64{1, 1.1, 1.05, 1.2, 1, 1.02, 1.15, 1, 1, 1, 9, 1.1, 1.05} // one run in thirteen is ruined
	w := &sweep{cores: 2, peak: 14e9, measure: modelMachine(2, 7e9, 1e-6, noise...), show: func(*sample, float64) {}}
	found, err := w.find()
	require.NoError(t, err)
	assert.InEpsilon(t, 2e-6, found.seconds, 0.25)
	again := 0
	for _, s := range w.samples {
		assert.LessOrEqual(t, s.spread(), maxSpread)
		again += s.again
	}
	assert.Positive(t, again)
}

func TestMETG_bound_and_failure(t *testing.T) {
	quiet := func(*sample, float64) {}
	w := &sweep{cores: 1, peak: 7e9, measure: modelMachine(1, 7e9, 0), show: quiet}
	found, err := w.find()
	require.NoError(t, err)
	assert.True(t, found.atMost, "no overhead: never below 50 %")
	assert.InEpsilon(t, float64(flopsOf(1))/7e9, found.seconds, 1e-9)

	w = &sweep{cores: 1, peak: 7e9, measure: modelMachine(1, 3e9, 1e-6), show: quiet}
	_, err = w.find()
	assert.ErrorIs(t, err, errUnsteady, "never above 50 %")

	broken := errors.New("broken")
	for after := range 9 {
		calls, model := 0, modelMachine(1, 7e9, 1e-5)
		w = &sweep{cores: 1, peak: 7e9, show: quiet, measure: func(iter int) (sample, error) {
			if calls++; calls > after {
				return sample{}, broken
			}
			return model(iter)
		}}
		_, err = w.find()
		assert.ErrorIs(t, err, broken, "after %d", after)
	}
}

func TestSample(t *testing.T) {
	s := sample{iter: 1, tasks: 10, flops: 600, seconds: []float64{1, 2, 3}}
	assert.Equal(t, 2.0, s.meanSeconds())
	assert.Equal(t, 3.0, s.spread())
	assert.Equal(t, 0.8, s.granularity(4))
	assert.Equal(t, 300.0, s.rate())
	assert.Equal(t, 600.0, s.bestRate())
	assert.False(t, math.IsNaN(s.rate()))
}
