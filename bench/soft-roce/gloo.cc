/* gloo.cc: the calls of Gloo over ibverbs, to be timed by time.c. */
/* SPDX-License-Identifier: MIT */
#include "bench/soft-roce/time.h"

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

// Halving and doubling has the fewest steps, the ring in chunks the most overlap.
static const size_t RING_FROM_BYTES = 65536;

static std::shared_ptr<gloo::transport::Device> device;
static std::unique_ptr<gloo::rendezvous::FileStore> files;
static gloo::Algorithm *sum;
static std::vector<gloo::Algorithm *> from_root;
static size_t bytes;
static int prepared;

// mpirun only starts the ranks.
void peer_open(struct peer *peer)
{
	const char *shared = getenv("SOFT_ROCE_SHARED");
	const char *name = getenv("SOFT_ROCE_DEVICE");
	gloo::transport::ibverbs::attr attr = {name ? name : "rxe0", 1, 1};
	std::string directory = std::string(shared ? shared : "/dev/shm/soft-roce") + ".gloo";

	peer->rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
	peer->size = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
	mkdir(directory.c_str(), 0700); // by whoever is first
	device = gloo::transport::ibverbs::CreateDevice(attr);
	files.reset(new gloo::rendezvous::FileStore(directory));
}

// A context of its own for each size: a pair takes only a few buffers in its life. None is ever
// destroyed, for Gloo aborts when the last send of a buffer has not yet been acknowledged.
void peer_prepare(struct peer *peer, bool broadcast, size_t count)
{
	std::vector<float *> vectors = {peer->recv};
	gloo::rendezvous::PrefixStore store(std::to_string(prepared++), *files);
	auto context = std::make_shared<gloo::rendezvous::Context>(peer->rank, peer->size);

	context->connectFullMesh(store, device);
	// In its faster mode Gloo spins, over ibverbs always, and does not yield.
	for (int i = 0; i < peer->size && peer->size <= sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (i != peer->rank)
			context->getPair(i)->setSync(true, true);
	bytes = count * sizeof(float);
	from_root.clear();
	if (broadcast)
		for (int root = 0; root < peer->size; root++)
			from_root.push_back(
				new gloo::BroadcastOneToAll<float>(context, vectors, count, root));
	else if (bytes < RING_FROM_BYTES)
		sum = new gloo::AllreduceHalvingDoubling<float>(context, vectors, (int)count);
	else
		sum = new gloo::AllreduceRingChunked<float>(context, vectors, (int)count);
}

// Gloo's classes that know ibverbs reduce in place.
void peer_allreduce(struct peer *peer)
{
	memcpy(peer->recv, peer->send, bytes);
	sum->run();
}

void peer_broadcast(struct peer *, int root)
{
	from_root[root]->run();
}

void peer_progress(struct peer *)
{
}

void peer_close(struct peer *)
{
	_exit(0);
}
