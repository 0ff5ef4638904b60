/* commands.c - the table of subcommands. */
#include "cli/command.h"

#include "base/text.h"

const struct command commands[] = {
	{"run", "run a program or scenario, simulated or for real", &manual_run,
	 .main = command_run},
	{"predict", "predict one training step on a platform", &manual_predict,
	 "-llm", &manual_predict_llm, command_predict},
	{"plan", "find the fastest layout of a language model", &manual_plan,
	 .main = command_plan},
	{"sweep", "predict every point of a study, and report", &manual_sweep,
	 .main = command_sweep},
	{"bench", "time a collective over sizes", &manual_bench,
	 .main = command_bench},
	{"check", "judge a program, for CI; run the conformance table",
	 &manual_check, "--conformance", &manual_conformance, command_check},
	{"explore", "run a program in every order of its messages",
	 &manual_explore, .main = command_explore},
	{"diagnose", "judge a job that has ended, from its dumps",
	 &manual_diagnose, .main = command_diagnose},
	{"calibrate", "fit a platform and a profile to this machine",
	 &manual_calibrate, .main = command_calibrate},
	{"compare", "compare a predicted trace with a measured one",
	 &manual_compare, .main = command_compare},
	{"validate", "compare predictions with published measurements",
	 &manual_validate, .main = command_validate},
	{"trace", "show a trace: its calls, timeline or critical path",
	 &manual_trace, .main = command_trace},
	{"platform", "platforms: list, show, write new ones", &manual_platform,
	 "new", &manual_platform_new, command_platform},
	{"model", "language models: list, show, write new ones", &manual_model,
	 "new", &manual_model_new, command_model},
	{"list", "list scenarios, algorithms, models, machines, ...",
	 &manual_list, .main = command_list},
	{.name = NULL}};

const struct command *command_find(const char *name)
{
	return DIST__NAMED(commands, name);
}
