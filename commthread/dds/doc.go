// Package dds lets a program read a message while it arrives (demand-driven
// synchronization, HUNT). The essay is under way; start with [NewArena], [Make], [Open],
// [Endpoint.Recv], [Endpoint.Send], [Transfer.Wait] and [Touch].
package dds
