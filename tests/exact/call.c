/* call.c: makes one collective call and compares every element and the bytes around it. */
#include "tests/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STALE_BYTE = 0xa5 };

/* The element's bits, widened. */
static uint64_t bits_of(const void *element, size_t size)
{
	uint64_t bits = 0;

	memcpy(&bits, element, size);
	return bits;
}

/* All NaN are one. */
static bool is_nan(enum wring_datatype datatype, uint64_t bits)
{
	if (datatype == WRING_FLOAT16)
		return (bits & 0x7fff) > 0x7c00;
	if (datatype == WRING_BFLOAT16)
		return (bits & 0x7fff) > 0x7f80;
	if (datatype == WRING_FLOAT32)
		return (bits & 0x7fffffff) > 0x7f800000;
	if (datatype == WRING_FLOAT64)
		return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
	return false;
}

static void describe(char *text, size_t bytes, const struct exact_call *call)
{
	(void)snprintf(text, bytes, "%s %s count %zu root %d %s %s variant %u",
		       wring_datatype_name(call->datatype), wring_op_name(call->op), call->count,
		       call->root, call->in_place ? "in place" : "out of place",
		       exact_kind_name(call->kind), call->variant);
}

void exact_compare(struct exact *x, const struct exact_call *call, const void *got,
		   const void *expected, size_t first, size_t count)
{
	size_t size = wring_datatype_size(call->datatype), wrong = 0, example = 0;
	uint64_t is = 0, should_be = 0;
	char text[256];

	x->report.elements += count;
	if (memcmp(got, expected, count * size) == 0)
		return;
	for (size_t i = count; i-- > 0;) {
		uint64_t a = bits_of((const char *)got + i * size, size);
		uint64_t b = bits_of((const char *)expected + i * size, size);

		if (a == b || (is_nan(call->datatype, a) && is_nan(call->datatype, b)))
			continue;
		wrong++;
		example = i;
		is = a;
		should_be = b;
	}
	if (wrong == 0)
		return;
	x->report.wrong += wrong;
	describe(text, sizeof(text), call);
	exact_complain(x, "%s: %zu of %zu wrong, element %zu is 0x%llx, not 0x%llx", text, wrong,
		       count, first + example, (unsigned long long)is,
		       (unsigned long long)should_be);
}

/* A mixed kind is another one on every rank, and another one for sending than for receiving. */
static enum exact_kind resolve(const struct exact *x, const struct exact_call *call, bool sending)
{
	unsigned int rank = (unsigned int)x->rank;

	if (call->kind != EXACT_MIXED)
		return call->kind;
	return (enum exact_kind)((sending ? 2 * rank + call->variant / 3 : rank + call->variant) %
				 EXACT_MIXED);
}

/* An element-aligned place in the buffer, at another distance to a cache line on every rank. */
static unsigned char *place(const struct exact *x, const struct exact_buffer *buffer,
			    const struct exact_call *call)
{
	size_t size = wring_datatype_size(call->datatype);
	size_t shift = (call->variant & 1) ? size * ((size_t)x->rank + call->variant) : 0;

	return buffer->base + EXACT_GUARD + shift % EXACT_SHIFT;
}

void exact_allreduce(struct exact *x, const struct exact_buffers *buffers,
		     const struct exact_call *call, const void *input, const void *expected)
{
	size_t bytes = call->count * wring_datatype_size(call->datatype);
	unsigned char *recv = place(x, &buffers->recv[resolve(x, call, false)], call);
	unsigned char *send = recv;
	enum wring_status status;
	char text[256];

	if (!call->in_place)
		send = place(x, &buffers->send[resolve(x, call, true)], call);
	memset(recv, STALE_BYTE, bytes);
	memcpy(send, input, bytes);
	exact_guard(recv, bytes);
	exact_guard(send, bytes);
	describe(text, sizeof(text), call);
	status = wring_allreduce(x->comm, send, recv, call->count, call->datatype, call->op);
	x->report.operations++;
	if (!exact_ok(x, status, "allreduce %s", text))
		return;
	exact_compare(x, call, recv, expected, 0, call->count);
	if (!call->in_place && memcmp(send, input, bytes) != 0)
		exact_complain(x, "allreduce %s: sendbuf was changed", text);
	if (!exact_guarded(recv, bytes) || !exact_guarded(send, bytes))
		exact_complain(x, "allreduce %s: bytes around a buffer were changed", text);
}

void exact_broadcast(struct exact *x, const struct exact_buffers *buffers,
		     const struct exact_call *call, const void *expected)
{
	size_t bytes = call->count * wring_datatype_size(call->datatype);
	unsigned char *buf = place(x, &buffers->recv[resolve(x, call, false)], call);
	enum wring_status status;
	char text[256];

	if (x->rank == call->root)
		memcpy(buf, expected, bytes);
	else
		memset(buf, STALE_BYTE, bytes);
	exact_guard(buf, bytes);
	describe(text, sizeof(text), call);
	status = wring_broadcast(x->comm, buf, call->count, call->datatype, call->root);
	x->report.operations++;
	if (!exact_ok(x, status, "broadcast %s", text))
		return;
	exact_compare(x, call, buf, expected, 0, call->count);
	if (!exact_guarded(buf, bytes))
		exact_complain(x, "broadcast %s: bytes around the buffer were changed", text);
}
