package advise

import "math"

// Summary describes a set of times without keeping them.
type Summary struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	M2   float64 `json:"m2"` // sum of squared distances from the mean
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Add adds a value (Welford's method).
func (s *Summary) Add(x float64) {
	if s.N == 0 || x < s.Min {
		s.Min = x
	}
	if s.N == 0 || x > s.Max {
		s.Max = x
	}
	s.N++
	d := x - s.Mean
	s.Mean += d / float64(s.N)
	s.M2 += d * (x - s.Mean)
}

// Merge adds all values of t.
func (s *Summary) Merge(t Summary) {
	if t.N == 0 {
		return
	}
	if s.N == 0 {
		*s = t
		return
	}
	n := s.N + t.N
	d := t.Mean - s.Mean
	s.M2 += t.M2 + d*d*float64(s.N)*float64(t.N)/float64(n)
	s.Mean += d * float64(t.N) / float64(n)
	s.Min, s.Max = math.Min(s.Min, t.Min), math.Max(s.Max, t.Max)
	s.N = n
}

// Deviation returns the standard deviation of the values.
func (s *Summary) Deviation() float64 {
	if s.N < 2 {
		return 0
	}
	return math.Sqrt(s.M2 / float64(s.N-1))
}

// Sum returns the sum of the values.
func (s *Summary) Sum() float64 { return s.Mean * float64(s.N) }
