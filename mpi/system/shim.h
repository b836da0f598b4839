// Go's interface to MPI: integers and pointers. Communicators, datatypes, operations and
// windows are numbers of tables in C; requests are slots, numbered by Go. A function that
// returns int returns 0 or MPI's error code, unless it says otherwise. One thread at a time
// is inside, except in weft_abort.
#ifndef WEFT_SHIM_H
#define WEFT_SHIM_H

#include <stdint.h>

// What a weft_op does.
enum {
	WEFT_SEND = 1, WEFT_SSEND, WEFT_RECV, WEFT_MRECV,
	WEFT_BARRIER, WEFT_BCAST, WEFT_REDUCE, WEFT_ALLREDUCE, WEFT_SCAN, WEFT_EXSCAN,
	WEFT_GATHERV, WEFT_SCATTERV, WEFT_ALLGATHER, WEFT_ALLGATHERV,
	WEFT_ALLTOALL, WEFT_ALLTOALLV, WEFT_REDUCE_SCATTER,
	WEFT_PUT, WEFT_GET, WEFT_ACCUMULATE, WEFT_NOTIFY, WEFT_FLUSH, WEFT_FENCE
};

// Datatypes of the kinds of package mpi, with their numbers; derived ones follow.
enum {
	WEFT_BYTE = 0, WEFT_BOOL = 2,
	WEFT_INT8, WEFT_INT16, WEFT_INT32, WEFT_INT64,
	WEFT_UINT8, WEFT_UINT16, WEFT_UINT32, WEFT_UINT64,
	WEFT_FLOAT32, WEFT_FLOAT64, WEFT_COMPLEX64, WEFT_COMPLEX128,
	WEFT_FIRST_DERIVED = 32
};

enum { WEFT_SUM, WEFT_PROD, WEFT_MAX, WEFT_MIN, WEFT_LAND, WEFT_LOR, WEFT_LXOR, WEFT_BAND, WEFT_BOR, WEFT_BXOR, WEFT_REPLACE };

// Classes of errors.
enum { WEFT_OTHER, WEFT_TRUNCATE, WEFT_RANK, WEFT_TAG, WEFT_COUNT, WEFT_BUFFER, WEFT_TYPE, WEFT_WINDOW, WEFT_GONE };

// Special peers and tags, in an op.
enum { WEFT_ANY = -1, WEFT_ALL = -3 };

enum { WEFT_SEND_IN_PLACE = 1, WEFT_RECV_IN_PLACE = 2, WEFT_HIDDEN = 4, WEFT_GAPPED = 8 };

// weft_result is the result of an operation.
typedef struct {
	int32_t slot, err, source, tag, cancelled, unused;
	int64_t bytes;
} weft_result;

// weft_op is an operation to start. counts is memory of malloc, which the shim frees when
// the operation has ended: the counts and displacements of the sent data, then of the
// received data, one of each per rank, if the operation has them.
typedef struct {
	int32_t what, slot, comm, peer, tag, op, win, flags;
	int32_t scount, stype, rcount, rtype;
	int64_t at;
	uintptr_t send, recv;
	int64_t room; // bytes from recv on that may be overwritten, or -1; see guard.c
	int32_t *counts;
	int32_t line, unused; // for a part of a message: the largest number in flight; 0: no part
	uintptr_t fn, cookie; // called at the start and the end, if C waits for it; see Mover
} weft_op;

enum { WEFT_BATCH = 256, WEFT_RESULTS = 1024, WEFT_REASON = 1024 };

// weft_shared is the memory shared by Go and C.
typedef struct {
	int32_t news;       // a revocation has arrived: weft_news tells which
	int32_t unused;
	int64_t long_wait; // ns after which weft_do returns without a result
	weft_op one;        // of weft_do
	weft_result single; // of weft_do
	weft_op ops[WEFT_BATCH];
	weft_result results[WEFT_RESULTS];
} weft_shared;

// Start and end.
int weft_init(int *rank, int *size, int *max_tag, weft_shared **shared);
void weft_before_finalize(void);
int weft_finalize(void);
void weft_abort(int code);
// weft_begun reports whether MPI has been started and not ended.
int weft_begun(void);
void weft_leave(int code); // without MPI
void weft_built(char *text, int n);   // the library of the headers
void weft_running(char *text, int n); // the library that runs
// weft_unsigned_order is 1 if MPI_MAX and MPI_MIN compare unsigned integers as unsigned.
int weft_unsigned_order(void);
int weft_class(int err);
// weft_guarded is 1 if a single-copy message cannot be written past its receive.
int weft_guarded(void);
void weft_text(int err, char *text, int n);

// Datatypes. Counts and the stride are in elements of base; the number goes to out.
int weft_type(int64_t blocks, int64_t block, int64_t stride, int base, int *out);
int weft_type_bytes(int64_t bytes, int *out);
int weft_type_free(int type);

// Communicators: a visible one and a hidden twin.
int weft_comm_create(int parent, int n, const int *members, int tag, int *out);
int weft_comm_free(int comm);

// Operations. weft_post starts ops[0..n) of the shared memory, weft_poll tests for ends,
// and weft_wait polls until there are some, or a notice, or ns are over; all return the
// number of results.
int weft_post(int n);
// weft_post_wait is weft_post that waits for these ops, about ns at most, or until there is
// a notice.
int weft_post_wait(int n, int64_t ns);
int weft_poll(void);
int weft_wait(int64_t ns);
// weft_do starts the op one, whose buffers are send and recv, and waits for it. It returns
// 1 with the result in single, or 0 after a notice or a long wait: then weft_do_on waits
// on, or weft_do_keep moves the operation to the slot.
int weft_do(char *send, char *recv);
int weft_do_on(void);
int weft_do_keep(int slot);
void weft_cancel(int slot);
// weft_drop ends the operation in the slot if it is a part of a message that has not been
// started.
void weft_drop(int slot);
void weft_nap(int64_t ns);
// weft_idle pauses a waiting loop in Go after a fruitless poll; fresh is 1 after a fruitful
// one.
void weft_idle(int fresh);
// weft_background_start starts the thread that polls while C waits for ends: before the
// first op with a function. The function is also called, with -1 for the bytes, when the
// operation has been started.
int weft_background_start(void);

// Probes. found is set; with take the message goes to the table of messages.
int weft_probe(int comm, int hidden, int peer, int tag, int take, int *found, int *message, weft_result *r);
int weft_unmatched(int comm, int hidden, weft_result *r); // 1 if there is a message

// Revocation. key identifies a communicator on all ranks.
void weft_revoke(uint64_t key, int n, const int *world, const char *reason);
int weft_news(uint64_t *key, char *reason); // 1 if there was a notice; it is taken
int weft_revoking(void); // number of notices still in transit

// Windows: the memory of the user and hidden words.
int weft_win_create(int comm, char *base, int64_t bytes, int size, int *out);
int weft_win_free(int win);
void weft_win_sync(int win);
int weft_flush(const weft_op *o);
// Words of a window's rank: a lock, a second one, and the notifications.
enum { WEFT_WORD_LOCK, WEFT_WORD_ATOMIC, WEFT_WORD_NOTIFY, WEFT_WORDS = WEFT_WORD_NOTIFY + 64 };
int weft_word_add(int win, int target, int word, int64_t n, int64_t *old);
int weft_get_now(int win, int target, int64_t at, int64_t n, int type, char *to);
int weft_put_now(int win, int target, int64_t at, int64_t n, int type, const char *from);

#endif
