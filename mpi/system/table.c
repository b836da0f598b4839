//go:build mpi && cgo

// Tables of communicators, datatypes and messages, by number.

#include <limits.h>
#include <stdlib.h>

#include "state.h"

weft_comm *weft_comms;
MPI_Datatype *weft_types;
MPI_Message *weft_messages;
static int comms, types, messages; // sizes of the tables

MPI_Op weft_ops_table[WEFT_REPLACE + 1];

// weft_take_number returns the number of an unused entry of a table, which grows if
// it has none; -1 without memory.
int weft_take_number(void **table, int *cap, size_t size, int (*used)(int)) {
	for (int i = 0; i < *cap; i++)
		if (!used(i))
			return i;
	int n = *cap ? 2 * *cap : 64;
	char *grown = realloc(*table, n * size);
	if (grown == NULL)
		return -1;
	for (char *p = grown + *cap * size; p < grown + n * size; p++)
		*p = 0;
	*table = grown;
	int first = *cap;
	*cap = n;
	return first;
}

static int comm_used(int i) { return weft_comms[i].size > 0; }
static int type_used(int i) { return i < WEFT_FIRST_DERIVED || weft_types[i] != MPI_DATATYPE_NULL; }
static int message_used(int i) { return weft_messages[i] != MPI_MESSAGE_NULL; }

// weft_new_comm enters c and makes its hidden twin. Collective.
int weft_new_comm(MPI_Comm c, int *out) {
	int i = weft_take_number((void **)&weft_comms, &comms, sizeof *weft_comms, comm_used);
	if (i < 0)
		return MPI_ERR_NO_MEM;
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	weft_comms[i].visible = c;
	int rc = MPI_Comm_dup(c, &weft_comms[i].hidden);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Comm_set_errhandler(weft_comms[i].hidden, MPI_ERRORS_RETURN);
	MPI_Comm_size(c, &weft_comms[i].size);
	*out = i;
	return MPI_SUCCESS;
}

int weft_comm_create(int parent, int n, const int *members, int tag, int *out) {
	WEFT_INSIDE;
	MPI_Group all, some;
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Comm_group(weft_comms[parent].visible, &all);
	int rc = MPI_Group_incl(all, n, members, &some);
	if (rc == MPI_SUCCESS) {
		rc = MPI_Comm_create_group(weft_comms[parent].visible, some, tag, &c);
		MPI_Group_free(&some);
	}
	MPI_Group_free(&all);
	return rc == MPI_SUCCESS ? weft_new_comm(c, out) : rc;
}

int weft_comm_free(int comm) {
	WEFT_INSIDE;
	weft_comm *c = &weft_comms[comm];
	int rc = MPI_Comm_free(&c->hidden);
	if (rc == MPI_SUCCESS)
		rc = MPI_Comm_free(&c->visible);
	c->size = 0;
	return rc;
}

int weft_base_types(void) {
	types = WEFT_FIRST_DERIVED;
	weft_types = calloc(types, sizeof *weft_types);
	if (weft_types == NULL)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < types; i++)
		weft_types[i] = MPI_BYTE;
	MPI_Datatype known[] = {MPI_C_BOOL, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T,
		MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};
	for (int i = 0; i < (int)(sizeof known / sizeof *known); i++)
		weft_types[WEFT_BOOL + i] = known[i];
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE};
	for (int i = 0; i <= WEFT_REPLACE; i++)
		weft_ops_table[i] = ops[i];
	return MPI_SUCCESS;
}

// enter commits a type and gives it a number.
static int enter(MPI_Datatype t, int *out) {
	int had = types;
	int i = weft_take_number((void **)&weft_types, &types, sizeof *weft_types, type_used);
	if (i < 0)
		return MPI_ERR_NO_MEM;
	for (int k = had; k < types; k++)
		weft_types[k] = MPI_DATATYPE_NULL;
	weft_types[i] = t;
	*out = i;
	return MPI_Type_commit(&weft_types[i]);
}

// contiguous returns n elements of t, however many, in a type that is not committed.
static int contiguous(int64_t n, MPI_Datatype t, MPI_Datatype *out) {
	enum { CHUNK = 1 << 30 };
	if (n <= INT_MAX)
		return MPI_Type_contiguous((int)n, t, out);
	MPI_Aint low, extent;
	MPI_Datatype chunk, parts[2];
	MPI_Type_get_extent(t, &low, &extent);
	int rc = MPI_Type_contiguous(CHUNK, t, &chunk);
	if (rc != MPI_SUCCESS)
		return rc;
	int lengths[2] = {(int)(n / CHUNK), (int)(n % CHUNK)};
	MPI_Aint at[2] = {0, (MPI_Aint)(n / CHUNK) * CHUNK * extent};
	parts[0] = chunk;
	parts[1] = t;
	rc = MPI_Type_create_struct(2, lengths, at, parts, out);
	MPI_Type_free(&chunk);
	return rc;
}

int weft_type(int64_t blocks, int64_t block, int64_t stride, int base, int *out) {
	WEFT_INSIDE;
	MPI_Datatype t, part;
	MPI_Aint low, extent;
	int rc;
	if (blocks <= 1) {
		rc = contiguous(block, weft_types[base], &t);
	} else if (blocks > INT_MAX) {
		rc = MPI_ERR_COUNT;
	} else {
		MPI_Type_get_extent(weft_types[base], &low, &extent);
		if ((rc = contiguous(block, weft_types[base], &part)) != MPI_SUCCESS)
			return rc;
		rc = MPI_Type_create_hvector((int)blocks, 1, (MPI_Aint)stride * extent, part, &t);
		MPI_Type_free(&part);
	}
	return rc == MPI_SUCCESS ? enter(t, out) : rc;
}

int weft_type_bytes(int64_t bytes, int *out) {
	WEFT_INSIDE;
	MPI_Datatype t;
	int rc = contiguous(bytes, MPI_BYTE, &t);
	return rc == MPI_SUCCESS ? enter(t, out) : rc;
}

int weft_type_free(int type) {
	WEFT_INSIDE;
	int rc = MPI_Type_free(&weft_types[type]);
	weft_types[type] = MPI_DATATYPE_NULL;
	return rc;
}

int weft_add_message(MPI_Message m) {
	int had = messages;
	int i = weft_take_number((void **)&weft_messages, &messages, sizeof *weft_messages, message_used);
	if (i < 0)
		return -1;
	for (int k = had; k < messages; k++)
		weft_messages[k] = MPI_MESSAGE_NULL;
	weft_messages[i] = m;
	return i;
}
