// Package dataflow runs tasks on pinned workers, in the order of their data dependences.
//
// A program spawns tasks as if it called functions (package tasks); the runtime finds the
// dependences between them (package deps), and runs each task as soon as its predecessors
// have ended:
//
//	err := dataflow.Run(func(rt *dataflow.Runtime) error {
//		for k := range n {
//			potrf.Spawn(rt, a[k][k])
//			for i := k + 1; i < n; i++ {
//				trsm.Spawn(rt, a[k][k], a[i][k])
//			}
//			...
//		}
//		return rt.Wait()
//	})
//
// Options: [Workers], [Pin], [Window], [RenameBudget], [Context] and [StopOnError] for a
// run; [Trace] and package dataflow/trace for a picture of it; [Serial], [Seeded], [Verify],
// [Debug] and [Stall] to find mistakes. The environment variables WEFT_WORKERS, WEFT_TRACE
// and WEFT_STALL set three of them without touching the program.
//
// # Guaranteed
//
//   - Serial elision: the bodies, run in the order of their spawns on one goroutine ([Serial]),
//     give the same bytes as every parallel run.
//   - The only barriers are Wait, WaitOn and Close. A ready task waits only for a free worker.
//   - A failed task fails the run: Wait returns its error, with the task and its line, and
//     skips the tasks that depend on it.
//   - A run that stands still prints what every task waits for ([Stall]).
//
// # Not guaranteed
//
//   - Fairness; an order among ready tasks of equal priority.
//   - A task bound to a worker does not run while that worker is inside Block; OnReady hooks
//     may run outside the workers.
//   - Bodies that wait for each other by other means than the runtime's can deadlock; the
//     stall report names the waits that it knows.
//
// # Cost
//
// On a 2.6 GHz EPYC core, spawning and running an empty task with three inputs and an output
// takes about 0.13 us on one worker (bench/taskbench). A wake-up of a sleeping worker costs
// 12 us. Bodies below a microsecond are better fused. A Run costs 0.02 ms, and 0.2 ms if it
// lasts longer than 0.1 ms and starts threads.
//
// # Source
//
// queue.go and ready.go: the terms of this package, the queues, and the paths of ready tasks.
// idle.go: sleep and wake-up, with the proof that no wake-up is lost. window.go: throttling.
// spare.go: Block. share.go: worksharing tasks. bury.go: waits inside bodies. worker.go and
// end.go: bodies and their ends, errors. stall.go: the stall report. port.go and lend.go: the
// communication thread. runtime.go: start, Wait and Close, lock order, and the designs that were
// rejected.
package dataflow
