// Shared by the files of the fault thread.
#ifndef WEFT_DDS_STATE_H
#define WEFT_DDS_STATE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>

#include "thread.h"

// dds_due is a landing that takes effect at a time.
typedef struct {
	int64_t at;
	dds_transfer *t;
	int strip;
	uint64_t bytes;
} dds_due;

// dds_copy is a copy for the thread to make as soon as it has time.
typedef struct dds_copy {
	struct dds_copy *next;
	uint64_t dst, src, n; // the remaining bytes
	uint64_t bytes; // length of the whole copy
	dds_thread *from;
	dds_transfer *t;
	int strip;
	int64_t at;
	uint32_t *word;
} dds_copy;

// dds_name identifies one strip to dds_complete.
typedef struct {
	dds_transfer *t;
	int strip;
} dds_name;

struct dds_transfer {
	dds_thread *k;
	dds_transfer *next;   // live, or spare
	int n, flags;
	int armed; // armed now or before
	int awaited; // a reader has had to wait for a strip: it follows the network closely
	int ready; // strips of it may be ready to open
	int left; // strips that have not landed
	int pending; // copies and due times that refer to it
	int ended;
	int hold, held; // number of followers; the strip that waits for them
	dds_transfer *leader; // transfer whose strip waits for this one
	char opened[DDS_STRIPS];
	dds_strip strips[DDS_STRIPS];
	dds_name names[DDS_STRIPS];
};

enum { DDS_TRACE = 1 << 16 };

struct dds_thread {
	pthread_mutex_t mu;
	pthread_t thread;
	int fd, wake, alarm, watch;
	char *app, *comm;
	uint64_t bytes, page;
	int trace, stop;
	int shares; // the thread has a single core, a reader's
	int asleep;           // the thread waits in poll, or is about to
	int rousing;          // threads that are about to write to wake
	int64_t set; // time to which the alarm is set
	int64_t soonest; // time at which the thread is needed next
	int64_t urgent; // next due time with a waiting reader
	int transfers; // live ones, and ended ones with references
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
void dds_continue(dds_thread *k, uint64_t from, uint64_t to); // maps, wakes
void dds_guard(dds_thread *k, uint64_t from, uint64_t to, int on); // write protection
void dds_drop(dds_thread *k, uint64_t from, uint64_t to); // unmaps
void dds_rouse(dds_thread *k, uint64_t from, uint64_t to); // wakes only

// With the mutex held.
void dds_landed(dds_transfer *t, int i, uint32_t bits, int64_t at); // opens nothing yet
void dds_open_ready(dds_transfer *t); // opens strips that landings have made ready
void dds_failed(dds_transfer *t, int i);
void dds_settle_bytes(dds_transfer *t, int i, uint64_t n, int64_t at); // opens nothing yet
void dds_fault(dds_thread *k, uint64_t at, int write_guard, int tid);
void dds_unpend(dds_transfer *t);
int dds_find(dds_thread *k, uint64_t at, uint64_t n, int send, dds_transfer **t);
void dds_land_due(dds_thread *k); // lands and opens all due strips
void dds_reckon(dds_thread *k); // recomputes when the thread is needed next
void dds_forget_due(dds_transfer *t);

#endif
