/* gradient_sync.c: trains a small network on several ranks; checks it against one rank alone. */
/* SPDX-License-Identifier: MIT */

/*
 * Data-parallel training. Every rank has the same weights and its own share of the batch:
 *
 *	forward		what does the network say?              from the first layer to the last
 *	backward	in which direction is each weight wrong? from the last layer to the first
 *	synchronise	the average of all ranks' directions: one all-reduce per layer
 *	update		one step against it; the weights stay equal on all ranks
 *
 * The gradient of the last layer is ready first. Its all-reduce is started at once and is under way
 * while the layer before it is still being computed:
 *
 *	compute     | backward 3 | backward 2 | backward 1 |          | update
 *	network                  | layer 3 ---| layer 2 ---| layer 1 -|
 *
 * The memory of one such all-reduce is called a bucket; wring_alloc makes it, so that the device or
 * the neighbour's CPU writes straight into it. How much really overlaps depends on who works
 * while we compute: with WRING_PROGRESS=thread somebody does all the time.
 *
 * In the end rank 0 trains once more, alone, on the whole batch. Both add the same numbers, but in
 * another order, and float rounds. So the losses may differ, but by less than TOLERANCE; and by
 * nothing at all if there is one rank.
 */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <wring-mpi.h>

#define TOLERANCE 1e-5 /* of the first loss, in every step */

enum { LAYERS = 3 };
static const size_t widths[LAYERS + 1] = {16, 128, 128, 1};
static const float learning_rate = 0.1f;

/* Weights stand output by output: one for each input, then the bias. Rows are examples. */
struct layer {
	size_t inputs, outputs;
	size_t count; /* of weights */
	float *weights, *gradient;
	const float *in; /* rows x inputs: the out of the layer before */
	float *out;	 /* rows x outputs */
	float *error;	 /* rows x outputs: how the loss changes with out, before tanh */
};

struct network {
	struct wring_comm *comm; /* NULL: alone */
	size_t rows;		 /* how many examples are ours */
	size_t batch;		 /* how many all ranks have */
	const float *wanted;	 /* what the last layer should say */
	struct layer layers[LAYERS];
};

struct options {
	size_t steps, batch;
	uint64_t seed;
};

/* ---- errors ---- */

static struct wring_comm *comm;
static struct wring_error error;

static void check(enum wring_status status)
{
	if (status == WRING_OK)
		return;
	if (comm)
		wring_comm_error(comm, &error);
	fprintf(stderr, "gradient_sync: %s: %s\n", wring_strerror(status), error.text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static float *allocate(size_t count)
{
	float *memory = calloc(count ? count : 1, sizeof(float));

	if (!memory) {
		fprintf(stderr,
			"gradient_sync: calloc: no memory for %zu floats; try a smaller "
			"--batch\n",
			count);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return memory;
}

/* ---- the data: made from a seed, so equal on every rank ---- */

/* A number from -1 to 1. */
static float draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (float)((double)(*state >> 40) / (double)(1 << 23) - 1.0);
}

/* The network is to learn a wavy function of the inputs. */
static void make_examples(float *in, float *wanted, size_t rows, uint64_t seed)
{
	size_t row, i;

	for (row = 0; row < rows; row++) {
		float *x = in + row * widths[0];

		for (i = 0; i < widths[0]; i++)
			x[i] = draw(&seed);
		wanted[row] = sinf(3 * x[0]) + x[1] * x[2] - 0.5f * x[3];
	}
}

/* ---- the network ---- */

/* in: rows x widths[0] numbers, borrowed as long as the network lives; wanted: one for each row. */
static void make_network(struct network *net, const float *in, uint64_t seed)
{
	size_t l, i;

	for (l = 0; l < LAYERS; l++) {
		struct layer *layer = &net->layers[l];
		void *bucket = NULL;

		layer->inputs = widths[l];
		layer->outputs = widths[l + 1];
		layer->count = layer->outputs * (layer->inputs + 1);
		if (net->comm)
			check(wring_alloc(net->comm, layer->count * sizeof(float), &bucket));
		layer->gradient = net->comm ? bucket : allocate(layer->count);
		layer->weights = allocate(layer->count);
		for (i = 0; i < layer->count; i++)
			layer->weights[i] = draw(&seed) / sqrtf((float)layer->inputs);
		layer->in = l ? net->layers[l - 1].out : in;
		layer->out = allocate(net->rows * layer->outputs);
		layer->error = allocate(net->rows * layer->outputs);
	}
}

static void free_network(struct network *net)
{
	size_t l;

	for (l = 0; l < LAYERS; l++) {
		struct layer *layer = &net->layers[l];

		if (net->comm)
			wring_free(net->comm, layer->gradient);
		else
			free(layer->gradient);
		free(layer->weights);
		free(layer->out);
		free(layer->error);
	}
}

static void forward(const struct network *net, const struct layer *layer, bool last)
{
	size_t row, o, i;

	for (row = 0; row < net->rows; row++) {
		for (o = 0; o < layer->outputs; o++) {
			const float *w = layer->weights + o * (layer->inputs + 1);
			float sum = w[layer->inputs];

			for (i = 0; i < layer->inputs; i++)
				sum += w[i] * layer->in[row * layer->inputs + i];
			layer->out[row * layer->outputs + o] = last ? sum : tanhf(sum);
		}
	}
}

/* Our rows' part of the loss: half the mean square of the error, over the whole batch. */
static double compare(const struct network *net, struct layer *last)
{
	double loss = 0;
	size_t row;

	for (row = 0; row < net->rows; row++) {
		last->error[row] = last->out[row] - net->wanted[row];
		loss += (double)last->error[row] * (double)last->error[row];
	}
	return loss / 2 / (double)net->batch;
}

/*
 * The sum over our rows, times scale. Synchronising takes the average over the ranks, so scale =
 * ranks / batch makes it the mean over the batch, even where ranks have unequal shares.
 */
static void find_gradient(const struct network *net, struct layer *layer, float scale)
{
	size_t row, o, i, stride = layer->inputs + 1;

	for (i = 0; i < layer->count; i++)
		layer->gradient[i] = 0;
	for (row = 0; row < net->rows; row++) {
		const float *in = layer->in + row * layer->inputs;

		for (o = 0; o < layer->outputs; o++) {
			float *gradient = layer->gradient + o * stride;
			float e = layer->error[row * layer->outputs + o] * scale;

			for (i = 0; i < layer->inputs; i++)
				gradient[i] += e * in[i];
			gradient[layer->inputs] += e;
		}
	}
}

/* The error of the layer before, through our weights and its tanh (whose slope is 1 - out^2). */
static void pass_error_back(const struct network *net, const struct layer *layer,
			    struct layer *before)
{
	size_t row, o, i, stride = layer->inputs + 1;

	for (row = 0; row < net->rows; row++) {
		for (i = 0; i < layer->inputs; i++) {
			float out = before->out[row * layer->inputs + i], sum = 0;

			for (o = 0; o < layer->outputs; o++)
				sum += layer->weights[o * stride + i] *
				       layer->error[row * layer->outputs + o];
			before->error[row * layer->inputs + i] = sum * (1 - out * out);
		}
	}
}

static void update(struct layer *layer)
{
	size_t i;

	for (i = 0; i < layer->count; i++)
		layer->weights[i] -= learning_rate * layer->gradient[i];
}

/* ---- one step: the reason for this program ---- */

/* Starts the average of a layer's gradient over all ranks; in place, in its bucket. */
static void start_average(const struct network *net, struct layer *layer,
			  struct wring_request **request)
{
	if (net->comm)
		check(wring_iallreduce(net->comm, layer->gradient, layer->gradient, layer->count,
				       WRING_FLOAT32, WRING_AVG, request));
}

/* Returns the loss of the whole batch before the step. */
static double train_step(struct network *net)
{
	struct wring_request *requests[LAYERS + 1] = {NULL};
	int ranks = net->comm ? wring_comm_size(net->comm) : 1;
	float scale = (float)ranks / (float)net->batch;
	double loss;
	size_t l;

	for (l = 0; l < LAYERS; l++)
		forward(net, &net->layers[l], l == LAYERS - 1);
	loss = compare(net, &net->layers[LAYERS - 1]);
	if (net->comm)
		check(wring_iallreduce(net->comm, &loss, &loss, 1, WRING_FLOAT64, WRING_SUM,
				       &requests[LAYERS]));
	for (l = LAYERS; l-- > 0;) {
		find_gradient(net, &net->layers[l], scale);
		start_average(net, &net->layers[l], &requests[l]);
		if (l > 0) /* meanwhile */
			pass_error_back(net, &net->layers[l], &net->layers[l - 1]);
	}
	/* Nothing may touch a bucket, nor loss, before its request has completed. */
	check(wring_waitall(LAYERS + 1, requests));
	for (l = 0; l < LAYERS; l++)
		update(&net->layers[l]);
	return loss;
}

/* Trains on the rows from first to last of the batch; gives the loss of each step. */
static void train(struct wring_comm *with, const struct options *options, size_t first, size_t last,
		  double *losses)
{
	float *in = allocate(options->batch * widths[0]), *wanted = allocate(options->batch);
	struct network net = {
		.comm = with,
		.rows = last - first,
		.batch = options->batch,
		.wanted = wanted + first,
	};
	size_t step;

	make_examples(in, wanted, options->batch, options->seed);
	make_network(&net, in + first * widths[0], options->seed + 1);
	for (step = 0; step < options->steps; step++)
		losses[step] = train_step(&net);
	free_network(&net);
	free(in);
	free(wanted);
}

/* ---- the comparison, on rank 0 ---- */

/* 0 if every step's losses agree, 1 otherwise. A NaN does not agree. */
static int32_t judge(const struct options *options, const double *together, const double *alone)
{
	double difference, worst = 0;
	size_t step;
	bool agree = true;

	printf("%6s %16s %16s %12s\n", "step", "loss, together", "loss, alone", "difference");
	for (step = 0; step < options->steps; step++) {
		difference = fabs(together[step] - alone[step]) / alone[0];
		agree = agree && difference <= TOLERANCE;
		worst = fmax(worst, difference);
		if (step % ((options->steps + 9) / 10) == 0 || step == options->steps - 1)
			printf("%6zu %16.9f %16.9f %12.1e\n", step + 1, together[step], alone[step],
			       difference);
	}
	printf("%d ranks, %zu examples: greatest difference %.1e, tolerance %.0e: %s\n",
	       wring_comm_size(comm), options->batch, worst, TOLERANCE, agree ? "equal" : "WRONG");
	return agree ? 0 : 1;
}

/* ---- options ---- */

static bool parse_number(const char *text, unsigned long long most, unsigned long long *number)
{
	char *rest;

	*number = strtoull(text, &rest, 10);
	return *text >= '0' && *text <= '9' && *rest == '\0' && *number >= 1 && *number <= most;
}

/* Every rank sees the same mistake; rank 0 reports it. */
static void refuse(const char *option, const char *why)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		fprintf(stderr,
			"gradient_sync: %s: %s; usage: gradient_sync [--steps N] "
			"[--batch N] [--seed N]\n",
			option, why);
	MPI_Finalize();
	exit(2);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {{"steps", required_argument, NULL, 's'},
					      {"batch", required_argument, NULL, 'b'},
					      {"seed", required_argument, NULL, 'r'},
					      {0}};
	unsigned long long number;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (option == '?')
			refuse(argv[optind - 1], "unknown, or without its number");
		if (!parse_number(optarg, 1000000, &number))
			refuse(optarg, "not a number from 1 to 1000000");
		if (option == 's')
			options->steps = number;
		else if (option == 'b')
			options->batch = number;
		else
			options->seed = number;
	}
	if (optind < argc)
		refuse(argv[optind], "unknown");
}

int main(int argc, char **argv)
{
	struct options options = {.steps = 100, .batch = 240, .seed = 1};
	double *together, *alone;
	size_t rank, size;
	int32_t verdict = 0;

	MPI_Init(&argc, &argv);
	parse_options(&options, argc, argv);
	check(wring_comm_create_mpi(MPI_COMM_WORLD, NULL, &comm, &error));
	rank = (size_t)wring_comm_rank(comm);
	size = (size_t)wring_comm_size(comm);

	together = calloc(options.steps, sizeof(*together));
	alone = calloc(options.steps, sizeof(*alone));
	if (!together || !alone)
		MPI_Abort(MPI_COMM_WORLD, 1);
	train(comm, &options, options.batch * rank / size, options.batch * (rank + 1) / size,
	      together);
	if (rank == 0) {
		train(NULL, &options, 0, options.batch, alone);
		verdict = judge(&options, together, alone);
	}
	/* The others have been waiting here for rank 0: that is no error, it is only late. */
	check(wring_broadcast(comm, &verdict, 1, WRING_INT32, 0));

	free(together);
	free(alone);
	wring_comm_destroy(comm);
	MPI_Finalize();
	return verdict;
}
