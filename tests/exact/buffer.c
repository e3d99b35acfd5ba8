/* buffer.c: buffers of every kind with guards around the bytes that a call may touch. */
#include "tests/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTE = 0x5a };

const char *exact_kind_name(enum exact_kind kind)
{
	static const char *const names[EXACT_KINDS] = {"alloc", "malloc", "registered", "mixed"};

	return names[kind];
}

static size_t total(size_t bytes)
{
	return bytes + 2 * (size_t)EXACT_GUARD + EXACT_SHIFT;
}

int exact_buffer_open(struct exact *x, struct exact_buffer *buffer, enum exact_kind kind,
		      size_t bytes)
{
	void *base = NULL;
	size_t all = total(bytes);

	*buffer = (struct exact_buffer){.kind = kind, .bytes = bytes};
	if (kind == EXACT_ALLOC) {
		if (!exact_ok(x, wring_alloc(x->comm, all, &base), "alloc %zu bytes", all))
			return -1;
		buffer->base = base;
		return 0;
	}
	base = malloc(all);
	if (!base) {
		exact_complain(x, "malloc %zu bytes", all);
		return -1;
	}
	if (kind == EXACT_REGISTERED &&
	    !exact_ok(x, wring_register(x->comm, base, all), "register %zu bytes", all)) {
		free(base);
		return -1;
	}
	buffer->base = base;
	return 0;
}

void exact_buffer_close(struct exact *x, struct exact_buffer *buffer)
{
	if (!buffer->base)
		return;
	if (buffer->kind == EXACT_ALLOC) {
		wring_free(x->comm, buffer->base);
	} else {
		if (buffer->kind == EXACT_REGISTERED)
			(void)exact_ok(x, wring_deregister(x->comm, buffer->base), "deregister");
		free(buffer->base);
	}
	buffer->base = NULL;
}

int exact_buffers_open(struct exact *x, struct exact_buffers *buffers, size_t bytes)
{
	*buffers = (struct exact_buffers){0};
	for (int k = 0; k < EXACT_MIXED; k++) {
		enum exact_kind kind = (enum exact_kind)k;

		if (exact_buffer_open(x, &buffers->send[k], kind, bytes) ||
		    exact_buffer_open(x, &buffers->recv[k], kind, bytes)) {
			exact_buffers_close(x, buffers);
			return -1;
		}
	}
	return 0;
}

void exact_buffers_close(struct exact *x, struct exact_buffers *buffers)
{
	for (int k = 0; k < EXACT_MIXED; k++) {
		exact_buffer_close(x, &buffers->send[k]);
		exact_buffer_close(x, &buffers->recv[k]);
	}
}

void exact_guard(unsigned char *data, size_t bytes)
{
	memset(data - EXACT_GUARD, GUARD_BYTE, EXACT_GUARD);
	memset(data + bytes, GUARD_BYTE, EXACT_GUARD);
}

bool exact_guarded(const unsigned char *data, size_t bytes)
{
	unsigned char whole[EXACT_GUARD];

	memset(whole, GUARD_BYTE, sizeof(whole));
	return memcmp(data - EXACT_GUARD, whole, sizeof(whole)) == 0 &&
	       memcmp(data + bytes, whole, sizeof(whole)) == 0;
}
