// What Go sees of the keeper: the thread in C that moves bytes and retires strips. A
// function that returns int returns 0, or an errno, unless it says otherwise. All may be
// called by any thread; a mutex that one takes is free again when it returns.
#ifndef WEFT_DDS_KEEPER_H
#define WEFT_DDS_KEEPER_H

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

// Flags of a transfer: it is sent; only the first page of the next strip is armed; in
// the order of falling addresses.
enum { DDS_SEND = 1, DDS_FIRST = 2, DDS_DOWN = 4 };

enum { DDS_STRIPS = 64 }; // of a transfer, at most

typedef struct dds_keeper dds_keeper;
typedef struct dds_transfer dds_transfer;

// dds_counts are the totals of a keeper, as Counts of backend.go.
typedef struct {
	int64_t strips, faults, stalls, stray, retired, pages, moved;
} dds_counts;

// dds_event is the begin (kind 0) of the sleep of a thread in a fault, or the arrival of
// a strip that somebody waited for (1).
typedef struct {
	int32_t kind, tid;
	uint64_t strip;
	int64_t at;
} dds_event;

// dds_set_clock says what Go's clock shows now: all times are its. Before all else, and a
// few times, since the fastest call counts.
void dds_set_clock(int64_t now);

// Ways to a descriptor of userfaultfd.
enum { DDS_FULL, DDS_DEVICE, DDS_USER_ONLY, DDS_WAYS };

// dds_probe tries a MINOR fault, a CONTINUE and a write-protection with a descriptor got
// that way; what says which step failed. With no_minor it does as if the kernel had none.
int dds_probe(int way, int no_minor, char *what, int n);

// dds_open starts the keeper of an arena: two views of the same bytes. mask, of words
// times 64 cores, is where its thread runs. With trace pages stay armed until touched.
int dds_open(char *app, char *comm, uint64_t bytes, int way, const uint64_t *mask, int words, int trace, dds_keeper **out);
// dds_close ends the thread, and every registration.
void dds_close(dds_keeper *k);
// dds_watch has events written to a pipe, as far as it has room; -1 ends it.
void dds_watch(dds_keeper *k, int fd);

// dds_begin makes a transfer of n strips, cut at cuts[0..n]; NULL without memory.
dds_transfer *dds_begin(dds_keeper *k, int n, const uint64_t *cuts, int flags, dds_strip **strips);
// dds_arm arms what has not landed, and returns the number of strips.
int dds_arm(dds_transfer *t);
// dds_follow has t retired with the last strip of leader; 0 if that has gone.
int dds_follow(dds_transfer *t, dds_transfer *leader);
void dds_land(dds_transfer *t, int i); // all bytes of a strip are there
void dds_help(dds_keeper *k);          // opens what is due, instead of the thread
void dds_doom(dds_transfer *t);        // what is not there never will be
// dds_end opens what is armed, gives the strips as they are now, and forgets t.
void dds_end(dds_transfer *t, dds_strip *strips);
// dds_busy returns 1 if a transfer uses bytes of [from, to).
int dds_busy(dds_keeper *k, uint64_t from, uint64_t to);

// dds_move takes over n bytes that are due at byte dst. They come from byte src of the
// arena of from, or are in place if that is NULL. It returns a word that will differ
// from *was when they are in place; NULL if no transfer expects them.
uint32_t *dds_move(dds_keeper *k, uint64_t dst, dds_keeper *from, uint64_t src, uint64_t n, int64_t due, uint32_t *was);
// dds_cookie names the strip that begins at a byte to dds_complete, a completion
// function; NULL if there is none.
void *dds_cookie(dds_keeper *k, uint64_t at, uint64_t n);
void dds_complete(void *cookie, int64_t bytes, int32_t err);

void dds_count(dds_keeper *k, dds_counts *c);
// dds_touched gives at most n pages in the order of their first touches, and returns how
// many; they are forgotten.
int dds_touched(dds_keeper *k, uint64_t *pages, int64_t *at, int n);
// dds_cost measures arming and retiring n pages at a byte, ns.
int dds_cost(dds_keeper *k, uint64_t at, uint64_t n, int64_t *arm, int64_t *retire);

#endif
