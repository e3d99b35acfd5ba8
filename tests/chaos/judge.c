/* judge.c: has everyone ended as the plan's fault allows? */
/* SPDX-License-Identifier: MIT */
#include "tests/chaos/chaos.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Beside the time that a rank was kept from the processor; a virtual machine is kept as a whole. */
enum { SLACK_S = 1, EMULATION_S = 1 };

static char verdict[1024];

__attribute__((format(printf, 1, 2))) static const char *say(const char *what, ...)
{
	va_list args;

	va_start(args, what);
	(void)vsnprintf(verdict, sizeof(verdict), what, args);
	va_end(args);
	return verdict;
}

static bool ends_silently(const struct chaos_plan *plan, const struct chaos_board *board, int rank)
{
	return rank == plan->victim && board->fault_at > 0 &&
	       (plan->fault == FAULT_KILL || plan->fault == FAULT_EXIT);
}

static const char *judge_process(const struct chaos_plan *plan, const struct chaos_board *board,
				 const struct ranks_outcome *outcome, int rank)
{
	int status = outcome->status[rank];
	const struct chaos_result *result = &board->results[rank];

	if (status == RANKS_TIMED_OUT)
		return say("rank %d hung after %d steps", rank, result->steps_done);
	if (ends_silently(plan, board, rank) && (status == -SIGKILL || status == 0))
		return NULL;
	if (status != 0 || !result->reported)
		return say("rank %d ended with %d: %s", rank, status, result->complaint);
	return NULL;
}

/* Which statuses a survivor may report, and who is to be named. */
static const char *judge_error(const struct chaos_plan *plan, const struct chaos_result *result,
			       int rank, enum wring_status wanted)
{
	const struct wring_error *error = &result->error;
	bool right_rank = error->rank == plan->victim;

	if (result->status != wanted || error->status != wanted)
		return say("rank %d: %s, not %s: %s", rank, wring_strerror(result->status),
			   wring_strerror(wanted), error->text);
	if (!text_is_one_line(error->text))
		return say("rank %d: text \"%s\"", rank, error->text);
	if (wanted == WRING_ERR_MISMATCH)
		right_rank = (error->rank == plan->victim) != (error->peer == plan->victim) &&
			     text_names_rank(error->text, error->peer);
	if (!right_rank || !text_names_rank(error->text, error->rank))
		return say("rank %d: not rank %d is named: %s", rank, plan->victim, error->text);
	if (plan->fault == FAULT_LEAVE && !strstr(error->text, "has left"))
		return say("rank %d: not \"has left\": %s", rank, error->text);
	return NULL;
}

/* In time: what a rank was kept from the processor is not counted. */
static const char *judge_time(const struct chaos_board *board, const struct chaos_result *result,
			      int rank)
{
	double took = result->ended_at - board->fault_at;
	double most = board->plan->peer_timeout_ms * 1e-3 + 1 + SLACK_S + result->kept_waiting;

	if (board->victim_is_far)
		return NULL;
	if (!strstr(board->plan->settings, "transport=shm"))
		most += EMULATION_S;
	return took > most ? say("rank %d was told only after %.3f s", rank, took) : NULL;
}

static bool may_end_well(const struct chaos_plan *plan, const struct chaos_board *board)
{
	switch (plan->fault) {
	case FAULT_NONE:
	case FAULT_STOP:
	case FAULT_DELAY:
		return true;
	case FAULT_KILL:
		return true; /* it may have done its part by then; the barrier says so */
	case FAULT_EXIT:
	case FAULT_MISMATCH:
	case FAULT_ABORT:
	case FAULT_LEAVE:
	case CHAOS_FAULTS:
	default:
		return board->fault_at == 0 && !board->victim_is_far;
	}
}

static enum wring_status wanted_status(enum chaos_fault fault)
{
	switch (fault) {
	case FAULT_KILL:
	case FAULT_EXIT:
	case FAULT_LEAVE:
		return WRING_ERR_PEER;
	case FAULT_MISMATCH:
		return WRING_ERR_MISMATCH;
	case FAULT_ABORT:
		return WRING_ERR_ABORTED;
	case FAULT_NONE:
	case FAULT_STOP:
	case FAULT_DELAY:
	case CHAOS_FAULTS:
	default:
		return WRING_OK;
	}
}

static const char *judge_rank(const struct chaos_plan *plan, const struct chaos_board *board,
			      int rank)
{
	const struct chaos_result *result = &board->results[rank];
	const char *wrong;

	if (ends_silently(plan, board, rank) && !result->reported)
		return NULL;
	if (result->complaint[0])
		return say("rank %d: %s", rank, result->complaint);
	if (result->wrong_values)
		return say("rank %d: %d wrong values", rank, result->wrong_values);
	if (plan->fault == FAULT_LEAVE && rank == plan->victim && board->fault_at > 0)
		return NULL;
	if (result->status == WRING_OK && may_end_well(plan, board))
		return result->steps_done == plan->steps
			       ? NULL
			       : say("rank %d: only %d steps", rank, result->steps_done);
	wrong = judge_error(plan, result, rank, wanted_status(plan->fault));
	return wrong ? wrong : judge_time(board, result, rank);
}

const char *chaos_judge(const struct chaos_plan *plan, const struct chaos_board *board,
			const struct ranks_outcome *outcome)
{
	const char *wrong = NULL;
	int rank;

	for (rank = 0; rank < plan->ranks && !wrong; rank++)
		if (outcome->status[rank] != RANKS_ELSEWHERE)
			wrong = judge_process(plan, board, outcome, rank);
	for (rank = 0; rank < plan->ranks && !wrong; rank++)
		if (outcome->status[rank] != RANKS_ELSEWHERE)
			wrong = judge_rank(plan, board, rank);
	return wrong;
}
