//go:build !cgo

package main

func main() { panic("the program needs cgo") }
