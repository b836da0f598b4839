// Go's interface to the fault thread, which copies bytes and retires strips. A function
// that returns int returns 0 or an errno, unless it says otherwise. Any thread may call all
// functions; they release their mutexes before they return.
#ifndef WEFT_DDS_THREAD_H
#define WEFT_DDS_THREAD_H

#include <stddef.h>
#include <stdint.h>

// dds_strip mirrors type strip of strip.go. Go reads it with atomic loads.
typedef struct {
	uint64_t from, to; // bytes of the arena
	uint32_t state, faults;
	int64_t to_promise, to_land;             // bytes
	int64_t armed_at, landed_at, touched_at; // ns; 0 not yet
} dds_strip;

// Bits of dds_strip.state.
enum { DDS_PROMISED = 1, DDS_LANDED = 2, DDS_ARMED = 4, DDS_FAILED = 8, DDS_STALLED = 16 };

// Flags of a transfer: it is sent; only the first page of the next strip is armed;
// addresses are read in falling order.
enum { DDS_SEND = 1, DDS_FIRST = 2, DDS_DOWN = 4 };

enum { DDS_STRIPS = 64 }; // most strips of a transfer

typedef struct dds_thread dds_thread;
typedef struct dds_transfer dds_transfer;

// dds_counts holds the totals of a thread, as Counts of backend.go.
typedef struct {
	int64_t strips, faults, stalls, stray, retired, pages, moved;
} dds_counts;

// dds_event is the beginning (kind 0) of a thread's sleep in a fault, or the arrival of a
// strip with a waiting reader (1).
typedef struct {
	int32_t kind, tid;
	uint64_t strip;
	int64_t at;
} dds_event;

// dds_set_clock sets the present value of Go's clock: all times are Go's. Call it first,
// and a few times, because the fastest call counts.
void dds_set_clock(int64_t now);

// Ways to a descriptor of userfaultfd.
enum { DDS_FULL, DDS_DEVICE, DDS_USER_ONLY, DDS_WAYS };

// dds_probe tries a MINOR fault, a CONTINUE and a write-protection with a descriptor
// obtained that way; what gets the name of the failed step. no_minor simulates a kernel
// without MINOR mode.
int dds_probe(int way, int no_minor, char *what, int n);

// dds_open starts the thread of an arena: two views of the same bytes. mask, of words times
// 64 cores, is its CPU mask. With trace, pages stay armed until touched.
int dds_open(char *app, char *comm, uint64_t bytes, int way, const uint64_t *mask, int words, int trace, dds_thread **out);
// dds_close ends the thread, and every registration.
void dds_close(dds_thread *k);
// dds_watch writes events to a pipe while that has room; -1 ends it.
void dds_watch(dds_thread *k, int fd);

// dds_begin makes a transfer of n strips, cut at cuts[0..n]; NULL without memory.
dds_transfer *dds_begin(dds_thread *k, int n, const uint64_t *cuts, int flags, dds_strip **strips);
// dds_arm arms the strips that have not landed, and returns their number.
int dds_arm(dds_transfer *t);
// dds_follow retires t with the last strip of leader; 0 if that has gone.
int dds_follow(dds_transfer *t, dds_transfer *leader);
void dds_land(dds_transfer *t, int i); // all bytes of a strip have landed
void dds_help(dds_thread *k); // retires due strips on behalf of the thread
void dds_abandon(dds_transfer *t); // missing strips are lost
// dds_end opens all armed pages, copies the strips out, and forgets t.
void dds_end(dds_transfer *t, dds_strip *strips);
// dds_busy returns 1 if a transfer uses bytes of [from, to).
int dds_busy(dds_thread *k, uint64_t from, uint64_t to);

// dds_move takes over n bytes that are due at byte dst. They come from byte src of the
// arena of from, or are in place if that is NULL. It returns a word that will differ from
// *was when the bytes are in place; NULL if no transfer expects them.
uint32_t *dds_move(dds_thread *k, uint64_t dst, dds_thread *from, uint64_t src, uint64_t n, int64_t due, uint32_t *was);
// dds_cookie identifies the strip that begins at a byte for dds_complete, a completion
// function; NULL if there is none.
void *dds_cookie(dds_thread *k, uint64_t at, uint64_t n);
void dds_complete(void *cookie, int64_t bytes, int32_t err);

void dds_count(dds_thread *k, dds_counts *c);
// dds_touched gives and forgets at most n pages in the order of their first touches, and
// returns their number.
int dds_touched(dds_thread *k, uint64_t *pages, int64_t *at, int n);
// dds_cost measures arming and retiring n pages at a byte, ns.
int dds_cost(dds_thread *k, uint64_t at, uint64_t n, int64_t *arm, int64_t *retire);

#endif
