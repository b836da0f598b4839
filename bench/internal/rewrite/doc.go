// Package rewrite turns advice into changed source. It takes the calls of a chain, as
// package advise has measured it, and changes blocking messages that stand one after
// another into requests that are started together:
//
//	if _, err := c.Sendrecv(a, up, 0, b, down, 0); err != nil {      var batch7 mpi.Batch
//		return err                                                   batch7.Sendrecv(c, a, up, 0, b, down, 0)
//	}                                                                batch7.Sendrecv(c, x, left, 1, y, right, 1)
//	if _, err := c.Sendrecv(x, left, 1, y, right, 1); err != nil {   if err := batch7.Wait(); err != nil {
//		return err                                                   	return err
//	}                                                                }
//
// The paper (Natvig and Elster 2010, section 3.3) reads the lines of the source; here
// go/types knows what every name is. A change is made only if it can be proven local,
// and refused with a reason otherwise.
//
// # What is proven, and how
//
//   - The calls are statements of one list, in the order of the chain. Nothing but
//     their own error checks and assignments of plain values lies between, and loops that
//     fill a slice which nothing else knows (private.go): no return, other loop, defer,
//     goroutine, or call that the source does not show to be harmless.
//   - Arguments are evaluated while earlier messages are under way. They read no memory
//     of the element types being received (memory of other types cannot be
//     the buffer without package unsafe), and call only functions that do not either:
//     the analysis follows calls of this package, and of others of the module, into
//     their bodies.
//   - No status or error of a call is used before the last call.
//   - An error check leaves the list (return, break, panic), so it can stand after
//     the wait.
//   - That the buffers share no memory is checked when the changed program runs: a call of
//     an [mpi.Batch] that shares memory with an earlier one waits for it, as the blocking call
//     did. So the change is right for sizes, aliases and data that no run has seen. Two calls that
//     a run has seen to share memory, even once, and buffers that are the same expression, are
//     refused in any case: there the change would bring nothing.
//   - The changed package is type-checked.
//
// Messages between two ranks keep their order, as the requests are started in the order
// of the calls. Receives from any rank are not moved.
//
// # Statuses and errors
//
// Every variable that had a status or an error has it after the wait. If all checks
// are alike and no status is kept, one check of the joined errors stands for all;
// otherwise each call keeps its own. What changes after a failure is that the
// later messages of the chain have been started, and are waited for.
package rewrite
