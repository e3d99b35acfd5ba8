/* broadcast.c: broadcast from every root, in every datatype and kind of buffer. */
#include "tests/exact/exact.h"

#include <stdlib.h>

enum { SMALL = 5000, LARGE_BYTES = 4 << 20 };

static void send_bytes(struct exact *x, const struct exact_buffers *buffers, unsigned char *bytes,
		       struct exact_call call)
{
	unsigned int salt = x->test->seed + call.variant * 64 + (unsigned int)call.root;

	exact_pattern_bytes(bytes, call.count * wring_datatype_size(call.datatype), salt);
	exact_broadcast(x, buffers, &call, bytes);
}

/* All datatypes and kinds at one count from one root. */
static void small_from(struct exact *x, const struct exact_buffers *buffers, unsigned char *bytes,
		       size_t count, int root)
{
	for (int i = 0; i < EXACT_DATATYPES * EXACT_KINDS && !x->broken; i++) {
		struct exact_call call = {
			.datatype = (enum wring_datatype)(i / EXACT_KINDS),
			.kind = (enum exact_kind)(i % EXACT_KINDS),
			.count = count,
			.root = root,
			.variant = (unsigned int)i + (unsigned int)count,
		};

		send_bytes(x, buffers, bytes, call);
	}
}

void exact_broadcast_small(struct exact *x)
{
	static const size_t counts[] = {0,   1,	   2,	 3,    7,    8,	   15,	 17,   31,   33,
					63,  64,   65,	 127,  129,  200,  255,	 257,  511,  513,
					999, 1023, 1025, 2047, 2049, 4095, 4096, 4097, SMALL};
	size_t n = sizeof(counts) / sizeof(counts[0]), step = x->test->quick ? 3 : 1;
	unsigned char *bytes = malloc(SMALL * sizeof(double));
	struct exact_buffers buffers;

	if (bytes && exact_buffers_open(x, &buffers, SMALL * sizeof(double)) == 0) {
		for (int root = 0; root < x->size; root++) {
			for (size_t i = (size_t)root % step; i < n && !x->broken; i += step)
				small_from(x, &buffers, bytes, counts[i], root);
		}
		exact_buffers_close(x, &buffers);
	}
	free(bytes);
}

static void large_from(struct exact *x, const struct exact_buffers *buffers, unsigned char *bytes,
		       int root)
{
	static const size_t sizes[] = {8192,	10000,	 16384,	  20000,   32768,
				       65536,	65600,	 100000,  131072,  262144,
				       1000000, 1048576, 1048640, 3000000, LARGE_BYTES};
	size_t n = sizeof(sizes) / sizeof(sizes[0]) - (x->test->quick ? 4 : 0);

	for (size_t i = 0; i < n && !x->broken; i++) {
		size_t turn = i + (size_t)root;
		struct exact_call call = {
			.datatype = (enum wring_datatype)(turn % EXACT_DATATYPES),
			.kind = (enum exact_kind)(turn % EXACT_KINDS),
			.root = root,
			.variant = (unsigned int)turn,
		};

		call.count = sizes[i] / wring_datatype_size(call.datatype);
		send_bytes(x, buffers, bytes, call);
	}
}

void exact_broadcast_large(struct exact *x)
{
	unsigned char *bytes = malloc(LARGE_BYTES);
	struct exact_buffers buffers;

	if (bytes && exact_buffers_open(x, &buffers, LARGE_BYTES) == 0) {
		for (int root = 0; root < x->size && !x->broken; root++)
			large_from(x, &buffers, bytes, root);
		exact_buffers_close(x, &buffers);
	}
	free(bytes);
}
