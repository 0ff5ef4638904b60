#include "cli/point.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

/* Writes all values of an axis, separated by commas. */
static void join(const struct study_axis *axis, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < axis->num_values && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? "," : "", axis->values[i].text);
}

void point_command_init(struct point_command *command,
			const struct study *study, size_t point,
			const char *extra, const char *together)
{
	command->argv[0] = "lockstep predict";
	command->argv[1] = extra;
	command->argc = 2;
	for (size_t i = 0; i < study->num_axes; i++) {
		const struct study_axis *axis = &study->axes[i];
		const char *value = study_value(study, point, i);
		char *word = command->words[i];
		size_t size = sizeof(command->words[i]);
		int length = snprintf(word, size, "--%s", axis->name);

		if (strcmp(value, "false") == 0)
			continue;
		if (together && strcmp(axis->name, together) == 0) {
			word[length++] = '=';
			join(axis, word + length, size - (size_t)length);
		} else if (strcmp(value, "true") != 0) {
			snprintf(word + length, size - (size_t)length, "=%s",
				 value);
		}
		command->argv[command->argc++] = word;
	}
	command->argv[command->argc] = NULL;
}

int point_answer(const struct study *study, size_t point, int pipe)
{
	struct point_command command;

	point_command_init(&command, study, point, "--json", NULL);
	command.argv[command.argc++] = "--no-explain";
	command.argv[command.argc] = NULL;
	dup2(pipe, STDOUT_FILENO);
	return command_predict(command.argc, command.argv);
}
