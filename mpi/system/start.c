//go:build mpi && cgo

// Starts of operations: one MPI call each.

#include "state.h"

static void *in_place_or(uintptr_t p, int32_t flags, int32_t bit) {
	return flags & bit ? MPI_IN_PLACE : (void *)p;
}

static int start_message(const weft_op *o, MPI_Request *r) {
	MPI_Comm c = weft_comm_of(o);
	void *send = (void *)o->send, *recv = (void *)o->recv;
	switch (o->what) {
	case WEFT_SEND:
		return MPI_Isend(send, o->scount, weft_types[o->stype], o->peer, o->tag, c, r);
	case WEFT_SSEND:
		return MPI_Issend(send, o->scount, weft_types[o->stype], o->peer, o->tag, c, r);
	case WEFT_RECV:
		return MPI_Irecv(recv, o->rcount, weft_types[o->rtype], weft_peer(o->peer), weft_tag(o->tag), c, r);
	}
	MPI_Message *m = &weft_messages[o->at];
	int rc = MPI_Imrecv(recv, o->rcount, weft_types[o->rtype], m, r);
	*m = MPI_MESSAGE_NULL;
	return rc;
}

// Collectives use the hidden communicator: in MPICH 4.0, with one rank, a wildcard receive
// of the program would take their messages.

static int start_reduction(const weft_op *o, MPI_Request *r) {
	MPI_Comm c = weft_comms[o->comm].hidden;
	MPI_Datatype t = weft_types[o->stype];
	MPI_Op op = weft_ops_table[o->op];
	void *send = in_place_or(o->send, o->flags, WEFT_SEND_IN_PLACE), *recv = (void *)o->recv;
	switch (o->what) {
	case WEFT_REDUCE:
		return MPI_Ireduce(send, recv, o->scount, t, op, o->peer, c, r);
	case WEFT_ALLREDUCE:
		return MPI_Iallreduce(send, recv, o->scount, t, op, c, r);
	case WEFT_SCAN:
		return MPI_Iscan(send, recv, o->scount, t, op, c, r);
	case WEFT_EXSCAN:
		return MPI_Iexscan(send, recv, o->scount, t, op, c, r);
	}
	return MPI_Ireduce_scatter(send, recv, o->counts, t, op, c, r);
}

static int start_collective(const weft_op *o, MPI_Request *r) {
	MPI_Comm c = weft_comms[o->comm].hidden;
	int n = weft_comms[o->comm].size;
	MPI_Datatype st = weft_types[o->stype], rt = weft_types[o->rtype];
	void *send = in_place_or(o->send, o->flags, WEFT_SEND_IN_PLACE);
	void *recv = in_place_or(o->recv, o->flags, WEFT_RECV_IN_PLACE);
	int *counts = o->counts;
	switch (o->what) {
	case WEFT_BARRIER:
		return MPI_Ibarrier(c, r);
	case WEFT_BCAST:
		return MPI_Ibcast(recv, o->rcount, rt, o->peer, c, r);
	case WEFT_GATHERV:
		return MPI_Igatherv(send, o->scount, st, recv, counts, counts ? counts + n : NULL, rt, o->peer, c, r);
	case WEFT_SCATTERV:
		return MPI_Iscatterv(send, counts, counts ? counts + n : NULL, st, recv, o->rcount, rt, o->peer, c, r);
	case WEFT_ALLGATHER:
		return MPI_Iallgather(send, o->scount, st, recv, o->rcount, rt, c, r);
	case WEFT_ALLGATHERV:
		return MPI_Iallgatherv(send, o->scount, st, recv, counts, counts + n, rt, c, r);
	case WEFT_ALLTOALL:
		return MPI_Ialltoall(send, o->scount, st, recv, o->rcount, rt, c, r);
	case WEFT_ALLTOALLV:
		return MPI_Ialltoallv(send, counts, counts + n, st, recv, counts + 2 * n, counts + 3 * n, rt, c, r);
	}
	return start_reduction(o, r);
}

int weft_start(const weft_op *o, MPI_Request *r) {
	*r = MPI_REQUEST_NULL;
	if (o->what <= WEFT_MRECV)
		return start_message(o, r);
	if (o->what <= WEFT_REDUCE_SCATTER)
		return start_collective(o, r);
	return weft_start_window(o, r);
}
