/* error.h: how an error is written down, once, by whoever first decides that it is one. */
/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "wring.h"

/*
 * Fill *error (NULL is fine) with status, no culprit, no operation and a one-line text; returns
 * status, so that "return error_set(...)" reads well. Text is cut at the end, never overrun.
 */
__attribute__((format(printf, 3, 4))) enum wring_status
error_set(struct wring_error *error, enum wring_status status, const char *format, ...);

/* The same for a failed system or verbs call: native is errno or a WC status. */
__attribute__((format(printf, 4, 5))) enum wring_status error_native(struct wring_error *error,
								     enum wring_status status,
								     int native, const char *format,
								     ...);

#endif
