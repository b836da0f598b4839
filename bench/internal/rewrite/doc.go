// Package rewrite turns advice into changed source. It takes the calls of a chain, as
// package advise has measured it, and changes blocking messages that stand one after
// another into requests that are started together:
//
//	if _, err := c.Sendrecv(a, up, 0, b, down, 0); err != nil {     var reqs7 [4]*mpi.Request
//		return err                                                  reqs7[0] = c.Irecv(b, down, 0)
//	}                                                               reqs7[1] = c.Isend(a, up, 0)
//	if _, err := c.Sendrecv(x, left, 1, y, right, 1); err != nil {  reqs7[2] = c.Irecv(y, right, 1)
//		return err                                                  reqs7[3] = c.Isend(x, left, 1)
//	}                                                               if err := mpi.Waitall(reqs7[:]...); err != nil {
//	                                                                	return err
//	                                                                }
//
// The paper (Natvig and Elster 2010, section 3.3) reads the lines of the source; here
// go/types knows what every name is. A change is made only if it can be proven local,
// and refused with a reason otherwise.
//
// # What is proven, and how
//
//   - The calls are statements of one list, in the order of the chain. Nothing but
//     their own error checks and assignments of plain values lies between: no return,
//     loop, defer, goroutine, or call that the source does not show to be harmless.
//   - Arguments are evaluated while earlier messages are under way. They read no memory
//     of the element types being received (memory of other types cannot be
//     the buffer without package unsafe), and call only functions that do not either:
//     the analysis follows calls of this package into their bodies.
//   - No status or error of a call is used before the last call.
//   - An error check leaves the list (return, break, panic), so it can stand after
//     the wait.
//   - That the buffers share no cell is not proven but measured: the run has compared
//     them cell by cell, on all ranks, in every occurrence ([Evidence]). It holds for the
//     sizes that were run. Buffers that are the same expression are refused in any case.
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
