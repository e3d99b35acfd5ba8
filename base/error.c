/* error.c: fills struct wring_error. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Texts may quote what a program or a peer has said. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = ' ';
}

static void fill(struct wring_error *error, enum wring_status status, int native,
		 const char *format, va_list args)
{
	*error = (struct wring_error){
		.status = status,
		.rank = -1,
		.peer = -1,
		.native = native,
	};
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	make_one_line(error->text);
}

enum wring_status error_set(struct wring_error *error, enum wring_status status, const char *format,
			    ...)
{
	va_list args;

	if (!error)
		return status;
	va_start(args, format);
	fill(error, status, 0, format, args);
	va_end(args);
	return status;
}

enum wring_status error_native(struct wring_error *error, enum wring_status status, int native,
			       const char *format, ...)
{
	va_list args;

	if (!error)
		return status;
	va_start(args, format);
	fill(error, status, native, format, args);
	va_end(args);
	return status;
}
