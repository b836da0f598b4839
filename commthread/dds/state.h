// What the files of the keeper share.
#ifndef WEFT_DDS_STATE_H
#define WEFT_DDS_STATE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>

#include "keeper.h"

// due is something that takes effect at a time: bytes that land.
typedef struct {
	int64_t at;
	dds_transfer *t;
	int strip;
	uint64_t bytes;
} dds_due;

// move is bytes that are copied, as soon as the thread has time.
typedef struct dds_copy {
	struct dds_copy *next;
	uint64_t dst, src, n; // what is left
	uint64_t bytes;       // of the whole
	dds_keeper *from;
	dds_transfer *t;
	int strip;
	int64_t at;
	uint32_t *word;
} dds_copy;

// dds_name is what dds_complete is given: one strip.
typedef struct {
	dds_transfer *t;
	int strip;
} dds_name;

struct dds_transfer {
	dds_keeper *k;
	dds_transfer *next;   // live, or spare
	int n, flags;
	int armed;            // it is, or was
	int awaited;          // a reader has had to wait for a strip: it follows the network closely
	int ready;            // strips of it may have to be opened
	int left;             // strips that have not landed
	int pending;          // copies and due times that name it
	int ended;
	int hold, held;       // followers; the strip that waits for them
	dds_transfer *leader; // whose strip waits for this one
	char opened[DDS_STRIPS];
	dds_strip strips[DDS_STRIPS];
	dds_name names[DDS_STRIPS];
};

enum { DDS_TRACE = 1 << 16 };

struct dds_keeper {
	pthread_mutex_t mu;
	pthread_t thread;
	int fd, wake, alarm, watch;
	char *app, *comm;
	uint64_t bytes, page;
	int trace, stop;
	int shares;           // the thread has one core, which is that of a reader
	int asleep;           // the thread waits in poll, or is about to
	int rousing;          // threads that are about to write to wake
	int64_t set;          // what the alarm is set to
	int64_t soonest;      // when the thread is needed next
	int64_t urgent;       // the next due time that a reader waits for
	int transfers;        // live ones, and ended ones that are named still
	dds_transfer *live, *spare;
	dds_copy *head, *tail, *copies; // queue; spare ones
	dds_due *dues;
	int due, room;
	dds_counts counts;
	uint64_t *pages; // first touches
	int64_t *times;
	int touched;
};

#define DDS_NEVER INT64_MAX

int64_t dds_now(void);

// userfaultfd. Ranges are bytes of the app view, whole pages.
int dds_descriptor(int way);
int dds_handshake(int fd);
int dds_register(int fd, char *app, uint64_t bytes);
void dds_unregister(int fd, char *app, uint64_t bytes);
void dds_continue(dds_keeper *k, uint64_t from, uint64_t to); // maps, wakes
void dds_guard(dds_keeper *k, uint64_t from, uint64_t to, int on); // write protection
void dds_drop(dds_keeper *k, uint64_t from, uint64_t to); // unmaps
void dds_rouse(dds_keeper *k, uint64_t from, uint64_t to); // wakes only

// With the mutex held.
void dds_landed(dds_transfer *t, int i, uint32_t bits, int64_t at); // opens nothing yet
void dds_open_ready(dds_transfer *t); // what landings have made ready to be opened
void dds_failed(dds_transfer *t, int i);
void dds_settle_bytes(dds_transfer *t, int i, uint64_t n, int64_t at); // opens nothing yet
void dds_fault(dds_keeper *k, uint64_t at, int write_guard, int tid);
void dds_unpend(dds_transfer *t);
int dds_find(dds_keeper *k, uint64_t at, uint64_t n, int send, dds_transfer **t);
void dds_land_due(dds_keeper *k);   // whatever is due, and opens it
void dds_reckon(dds_keeper *k);     // when the thread is needed next, after that has changed
void dds_forget_due(dds_transfer *t);

#endif
