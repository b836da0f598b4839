//go:build race

package dds

const raceDetector = true
