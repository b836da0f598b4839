package commandline

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sample() *Line {
	l := New("sample", "sample does nothing.\n\n\tsample -n 3\n")
	l.Least(new(int), "n", 7, 1, "how `many`")
	l.Workers(new(int), 0, "cores (default: all)")
	l.String("a-name-that-is-too-long", "", strings.Repeat("word ", 40))
	l.Bool("quick", false, "less of it")
	l.Section("Forms", Row{"one", "the first"}, Row{"second", "the other"})
	return l
}

func TestHelp(t *testing.T) {
	l := sample()
	err := l.Parse([]string{"-n", "2", "-h"})
	require.ErrorIs(t, err, flag.ErrHelp)
	var out bytes.Buffer
	require.NoError(t, Help(&out, fmt.Errorf("graph 0: %w", err)))
	want := `sample does nothing.

	sample -n 3

Forms:
  one     the first
  second  the other

Flags:
  -a-name-that-is-too-long string
                WORDS
                MORE
  -n many       how many (default 7)
  -quick        less of it
  -workers int  cores (default: all)

Exit codes: 0 done and checked, 1 failed run or check, 2 usage
`
	text := out.String()
	for _, line := range strings.Split(text, "\n") {
		assert.LessOrEqual(t, len(line), Columns)
	}
	text = strings.Replace(text, strings.TrimSpace(strings.Repeat("word ", 17))[:84], "WORDS", 1)
	assert.Contains(t, text, "\n                WORDS\n")
	assert.Equal(t, want[strings.Index(want, "  -n many"):], text[strings.Index(text, "  -n many"):])
	assert.True(t, strings.HasPrefix(text, want[:strings.Index(want, "WORDS")]), text)
}

func TestMistakes(t *testing.T) {
	late := errors.New("never asked")
	for args, want := range map[string]string{
		"-none":         "flag provided but not defined: -none",
		"-n 0":          "-n 0: it has to be at least 1",
		"-n many":       `invalid value "many" for flag -n`,
		"-workers 0":    "-workers 0: it has to be at least 1",
		"-workers 1025": "-workers 1025: it is at most 1024",
		"left -n 3":     `unexpected argument "left"`,
		"-n 3 -quick":   "the check says no",
	} {
		l := sample()
		err := l.Parse(strings.Fields(args), l.NoArgs, func() error { return errors.New("the check says no") }, func() error { return late })
		require.ErrorIs(t, err, ErrUsage, args)
		assert.ErrorContains(t, err, "wrong usage of sample: ")
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "(sample -h lists the flags)")
		assert.NotErrorIs(t, err, late, "checks end at the first mistake")
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, Code(err, &out, &complaints))
		assert.Empty(t, out.String())
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"))
		assert.Equal(t, args == "-n 3 -quick", l.Given("quick"))
	}
}

func TestCode(t *testing.T) {
	l := sample()
	var out, complaints bytes.Buffer
	assert.Zero(t, Code(l.Parse(nil, l.NoArgs), &out, &complaints))
	assert.Zero(t, Code(l.Parse([]string{"-h"}), &out, &complaints))
	assert.Contains(t, out.String(), "Flags:")
	assert.Empty(t, complaints.String())
	assert.Equal(t, 1, Code(errors.New("failed"), &out, &complaints))
	assert.Equal(t, "failed\n", complaints.String())
	assert.NoError(t, l.Usage(nil))
	assert.NotErrorIs(t, l.Usage(flag.ErrHelp), ErrUsage)
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{""}, wrap("", 5))
	assert.Equal(t, []string{"ab cd", "ef"}, wrap("ab  cd ef", 5))
	assert.Equal(t, []string{"a", "longer", "b"}, wrap("a longer b", 3))
}
