/* report_limits.c: what the machine allows, as JSON. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-bench/report_json.h"

void report_json_limits(struct json *json, const struct limits *limits)
{
	json_open(json, "limits", '{');
	json_text(json, "measured_by", limits->shared ? "shared memory" : "barrier and broadcast");
	json_real(json, "notification_us", limits->latency * 1e6);
	if (limits->shared) {
		json_real(json, "one_way_copy_GBps", limits->one_way / 1e9);
	} else {
		json_real(json, "link_one_way_GBps", limits->link_one / 1e9);
		json_real(json, "link_each_way_GBps", limits->link_both / 1e9);
	}
	json_close(json, '}');
}

void report_json_limit(struct json *json, const struct limits *limits, const struct result *result)
{
	const struct limit *limit = &result->limit;

	if (limits->shared) {
		json_real(json, "copy_GBps", limit->copy / 1e9);
		json_real(json, "reduce_GBps", limit->reduce / 1e9);
	}
	json_real(json, "limit_us", limit->seconds * 1e6);
	json_real(json, "percent_of_limit", measure_percent_of_limit(result));
}
