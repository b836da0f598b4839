package local

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseNet(t *testing.T) {
	us := time.Microsecond
	for text, want := range map[string]Net{
		"none":                          {},
		"gige":                          {Name: "gige", Latency: 25 * us, Overhead: us, Gap: us, Bandwidth: 125e6},
		"10gige":                        {Name: "10gige", Latency: 10 * us, Overhead: us, Gap: us, Bandwidth: 1.25e9},
		"ib":                            {Name: "ib", Latency: 1500, Overhead: 300, Gap: 200, Bandwidth: 12.5e9},
		"gige,progress=nic":             {Name: "gige", Latency: 25 * us, Overhead: us, Gap: us, Bandwidth: 125e6, NIC: true},
		"gige,L=3ms,progress=host":      {Name: "gige", Latency: 3 * time.Millisecond, Overhead: us, Gap: us, Bandwidth: 125e6},
		"L=20us,o=1us,g=1us,bw=1Gbit":   {Latency: 20 * us, Overhead: us, Gap: us, Bandwidth: 125e6},
		"bw=8kbit":                      {Bandwidth: 1000},
		"L=0,bw=0,progress=nic":         {NIC: true},
		" ib , L=2us":                   {Name: "ib", Latency: 2 * us, Overhead: 300, Gap: 200, Bandwidth: 12.5e9},
		"none,bw=2.5Mbit":               {Bandwidth: 312500},
		"L=1.5us,o=0s,g=0s,bw=80000000": {Latency: 1500, Bandwidth: 1e7},
	} {
		got, err := ParseNet(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := ParseNet(got.String())
		require.NoError(t, err, got.String())
		assert.Equal(t, got, again, "%s: %s", text, got)
	}
	assert.Equal(t, "gige,L=25us,o=1us,g=1us,bw=1Gbit,progress=host", presets["gige"].String())
	assert.Equal(t, "none", Net{}.String())
}

func TestParseNet_refuses(t *testing.T) {
	for _, text := range []string{"", "fast", "L", "L=", "L=-1us", "L=30h", "bw=-1Gbit", "bw=NaN", "bw=1bit", "bw=1e30", "bw=1Tbit", "progress=both", "x=1", "L=1us,gige", "gige,,", "L=1", "L=1us,L=2us", "gige,bw=1Gbit,L=1us,bw=1Gbit"} {
		_, err := ParseNet(text)
		assert.ErrorContains(t, err, "network ", "%q", text)
	}
}

func FuzzParseNet(f *testing.F) {
	for _, text := range []string{"none", "gige", "ib,progress=nic", "L=20us,o=1us,g=1us,bw=1Gbit,progress=host", "bw=3.3Mbit", "L=1ns,bw=1234567890123bit"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNet(text)
		if err != nil {
			return
		}
		again, err := ParseNet(n.String())
		if err != nil || again.String() != n.String() {
			t.Fatalf("%q is %q, which reads as %q: %v", text, n, again, err)
		}
		if again.Latency != n.Latency || again.Overhead != n.Overhead || again.Gap != n.Gap || again.NIC != n.NIC {
			t.Fatalf("%q: %+v and %+v", text, n, again)
		}
		require.InEpsilon(t, n.Bandwidth+1, again.Bandwidth+1, 1e-12)
		require.NoError(t, Network(n)(new(World)))
	})
}
