/* wring-info.c: shows the RDMA devices that Wring can use, and what is missing. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-info/wring-info.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: wring-info [--device NAME] [--port N] [--json]\n"
	"  --device NAME  only this device\n"
	"  --port N       only this port of each device, 1 to 254\n"
	"  --json         as JSON, for programs\n"
	"  --help         this text\n"
	"  --version      the version\n"
	"Exit status: 0 if Wring can use a device, 1 if not, 2 if an option is wrong.\n";

static const struct option options[] = {
	{"device", required_argument, NULL, 'd'}, {"port", required_argument, NULL, 'p'},
	{"json", no_argument, NULL, 'j'},	  {"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},	  {NULL, 0, NULL, 0},
};

struct settings {
	struct info_filter filter;
	bool json;
};

__attribute__((noreturn)) static void refuse(const char *what, const char *why)
{
	(void)fprintf(stderr, "wring-info: %s: %s; --help lists the options\n", what, why);
	exit(2);
}

static int parse_port(const char *text)
{
	char *end;
	long port;

	errno = 0;
	port = strtol(text, &end, 10);
	if (errno || end == text || *end || port < 1 || port > 254) {
		(void)fprintf(stderr, "wring-info: --port %s: not a number from 1 to 254\n", text);
		exit(2);
	}
	return (int)port;
}

static const char *parse_device(const char *text)
{
	if (!*text || strlen(text) >= sizeof(((struct wring_config *)NULL)->device))
		refuse("--device", "not a name of 1 to 63 letters");
	return text;
}

__attribute__((noreturn)) static void finish(const char *text)
{
	(void)fputs(text, stdout);
	exit(fflush(stdout) ? 1 : 0);
}

static void parse(struct settings *settings, int argc, char **argv)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			settings->filter.device = parse_device(optarg);
			break;
		case 'p':
			settings->filter.port = parse_port(optarg);
			break;
		case 'j':
			settings->json = true;
			break;
		case 'h':
			finish(usage);
		case 'v':
			(void)printf("wring-info %s\n", wring_version());
			finish("");
		case ':':
			refuse(argv[optind - 1], "a value is missing");
		default:
			refuse(argv[optind - 1], "no such option");
		}
	}
	if (optind < argc)
		refuse(argv[optind], "not an option");
}

int main(int argc, char **argv)
{
	struct settings settings = {.filter = {.device = "", .port = -1}};
	static struct info info;

	parse(&settings, argc, argv);
	info_gather(&info, &settings.filter);
	info_find_mends(&info, &settings.filter);
	if (settings.json)
		info_print_json(&info);
	else
		info_print_text(&info);
	if (fflush(stdout) || ferror(stdout)) {
		(void)fprintf(stderr, "wring-info: stdout: %s\n", strerror(errno));
		return 1;
	}
	return info.usable ? 0 : 1;
}
