/* fuzz_config.c: settings as lines NAME=VALUE or WRING_NAME=VALUE, and a struct with wild bytes. */
#include "tests/fuzz/fuzz.h"

#include "bootstrap/config.h"
#include "bootstrap/config_fields.h"

enum { LINES = 64 };

/* "@", two digits of an offset divided by 4, then bytes: what a program scribbles on its struct. */
static void scribble(struct wring_config *program, const char *line)
{
	size_t first = offsetof(struct wring_config, set_mask);
	size_t last = offsetof(struct wring_config, log);
	size_t len = strlen(line), at;

	if (len < 3)
		return;
	at = first + (size_t)((line[1] & 15) * 16 + (line[2] & 15)) * 4;
	if (at < last)
		memcpy((char *)program + at, line + 3, len - 3 < last - at ? len - 3 : last - at);
}

static void set_field(struct wring_config *program, char *line)
{
	struct wring_config before = *program;
	struct wring_error error = {0};
	char *equals = strchr(line, '=');
	const char *value = equals ? equals + 1 : "";
	enum wring_status status;

	if (equals)
		*equals = '\0';
	status = wring_config_set(program, line, value, &error);
	if (!status)
		return;
	must(status == WRING_ERR_INVALID && error.status == status, "a wrong setting is INVALID");
	must_be_named(&error);
	must(memcmp(&before, program, sizeof(before)) == 0, "a refused setting changes nothing");
}

static void check_resolved(struct wring_config *resolved)
{
	for (size_t i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];

		if (field->kind == CONFIG_STRING)
			must(memchr(config_field_string(field, resolved), 0, field->size) != NULL,
			     "a resolved string ends");
		else
			must(config_field_allows(field, *config_field_number(field, resolved)) &&
				     (field->fallback == -1 ||
				      *config_field_number(field, resolved) != -1),
			     "a resolved number lies in its range");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *line;
	char *environment[LINES + 1] = {NULL};
	struct wring_config program, resolved;
	struct wring_error error = {0};
	int n = 0;

	must(text && !wring_config_init(&program, sizeof(program), &error), "there is memory");
	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (line[0] == '@')
			scribble(&program, line);
		else if (strncmp(line, "WRING", 5) != 0)
			set_field(&program, line);
		else if (n < LINES)
			environment[n++] = line;
	}
	if (config_resolve(&resolved, &program, environment, &error) == WRING_OK)
		check_resolved(&resolved);
	else
		must_be_named(&error);
	free(text);
	return 0;
}
