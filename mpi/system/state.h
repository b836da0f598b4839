// Shared by the C files.
#ifndef WEFT_STATE_H
#define WEFT_STATE_H

#include <mpi.h>
#include <sched.h>
#include <stddef.h>

#include "shim.h"

typedef struct { MPI_Comm visible, hidden; int size; } weft_comm;
// weft_win is a window: its memory, in bytes, and its words. The memory of a rank begins
// shift bytes after MPI's base.
typedef struct { MPI_Win data, words; int64_t *base; int64_t *shift; int ranks, element; } weft_win;

// Tables by number; the functions of table.c make them grow.
extern weft_comm *weft_comms;
extern MPI_Datatype *weft_types;
extern weft_win *weft_wins;
extern MPI_Op weft_ops_table[];
extern MPI_Message *weft_messages;
extern weft_shared *weft_mem;
extern MPI_Comm weft_control; // for revocations

int weft_take_number(void **table, int *cap, size_t size, int (*used)(int));
int weft_new_comm(MPI_Comm c, int *out);
int weft_base_types(void);
int weft_add_message(MPI_Message m);

// weft_start starts o; request stays MPI_REQUEST_NULL if it has ended already.
int weft_start(const weft_op *o, MPI_Request *request);
int weft_start_window(const weft_op *o, MPI_Request *request);

// weft_start_gets starts the gets from a window that are held back (line.c).
void weft_start_gets(int window);

// weft_listen starts to listen for revocations; weft_hear checks for one.
int weft_listen(void);
void weft_hear(void);
void weft_deaf(void);

int weft_all_ended(void);

// A weft_line is the sends of the parts of a message, or its gets: line.c. weft_line_join adds
// one, and sets *now if it must be started at once; otherwise weft_line_next returns it later
// (1 if there is one to start). Call weft_line_leave when a started part has ended;
// weft_line_drop removes an unstarted one (1 if there was one). After weft_line_open
// weft_line_next returns all gets from a window.
typedef struct weft_line weft_line;
weft_line *weft_line_join(const weft_op *o, int *now);
void weft_line_leave(weft_line *l);
int weft_line_next(weft_op *o);
int weft_line_drop(weft_line *l, int slot);
void weft_line_open(int window);
int weft_line_waiting(void); // number of unstarted parts

// weft_room returns how many of n bytes at to may be written: fewer if an operation
// receives there and has room for fewer.
size_t weft_room(const char *to, size_t n);

static inline MPI_Comm weft_comm_of(const weft_op *o) {
	return o->flags & WEFT_HIDDEN ? weft_comms[o->comm].hidden : weft_comms[o->comm].visible;
}

static inline int weft_tag(int tag) { return tag == WEFT_ANY ? MPI_ANY_TAG : tag; }
static inline int weft_peer(int peer) { return peer == WEFT_ANY ? MPI_ANY_SOURCE : peer; }

int64_t weft_now(void);
int64_t weft_cpu_time(void); // of this thread

// weft_wait_state is the duration of a fruitless wait. weft_pause is called after each
// fruitless test; it may yield or sleep, and returns how long the wait has lasted, or 0.
typedef struct { int64_t began, yielded; unsigned turn, naps, long_yields; } weft_wait_state;
int64_t weft_pause(weft_wait_state *p);
int weft_survey(void);       // collective
extern cpu_set_t weft_mask; // CPU mask at the start of the process

// See background.c. WEFT_INSIDE, at the top of functions called by Go, excludes other
// threads from MPI until the function returns; weft_let_in admits them while it waits.
#define WEFT_INSIDE int weft_inside __attribute__((cleanup(weft_out))) = weft_in(); (void)weft_inside
int weft_in(void);
void weft_out(int *in);
void weft_let_in(void);
void weft_background_init(void);
void weft_background_more(void);
void weft_background_stop(void);
int weft_waited_for(void); // operations with a completion function of a mover
int weft_look_aside(void); // polls, keeps the ends for Go, and returns their number

#endif
