/*
 * option_rows.h - rows that stand in the option tables of several commands. at
 * is the offset of the field; where stands before the help: "sim: ", or "".
 */
#ifndef LOCKSTEP_CLI_OPTION_ROWS_H
#define LOCKSTEP_CLI_OPTION_ROWS_H

#include "scenarios/arguments.h"

/* ---- the world ---------------------------------------------------------- */

#define BACKEND_ROW(at)                                                        \
	"backend", OPTION_TEXT, at, "sim|tcp|nccl|mpi",                        \
		.help = "the world to run in",                                 \
		.usual = "$LOCKSTEP_BACKEND, else tcp"

#define INTRA_ROW(kind, at)                                                    \
	"intra", kind, at, "shm|tcp",                                          \
		.help = "tcp: what ranks of one machine talk through",         \
		.usual = "shm"

/* more: what else it does, "" or "; ...". */
#define BIND_TO_ROW(kind, at, more)                                            \
	"bind-to", kind, at, "none|core",                                      \
		.help = "tcp: core: a processor each for the ranks, by turns " \
			"where there are fewer" more,                          \
		.usual = "none"

/* ---- what is simulated -------------------------------------------------- */

#define RANKS_PER_NODE_ROW(at)                                                 \
	"ranks-per-node", OPTION_COUNT, at, "R",                               \
		.help = "ranks on each node of the machine",                   \
		.usual = "one a GPU, or one where there are none", .min = 1,   \
		.max = 256

#define UNCALIBRATED_ROW(at)                                                   \
	"uncalibrated", OPTION_SWITCH, at, NULL,                               \
		.help = "by the library's profile alone, without what the "    \
			"machine's file says that it measured"

#define PROFILE_ROW(at, where)                                                 \
	"profile", OPTION_TEXT, at, "LIBRARY",                                 \
		.help = "library: a name or a YAML file",                      \
		.usual = where "nccl for NVIDIA's GPUs, else built in",        \
		.list = "profiles"

/* what: "collectives are", "it is". */
#define FIDELITY_ROW(kind, at, where, what)                                    \
	"fidelity", kind, at, "auto|message|flow|formula",                     \
		.help = where "how closely " what " simulated",                \
		.usual = "auto, by the number of ranks"

#define ENGINE_ROW(kind, at, where)                                            \
	"engine", kind, at, "auto|own|simgrid",                                \
		.help = where "what keeps the clock and shares the links",     \
		.usual = "own, where it knows the platform's network model"

/* ---- what comes of it --------------------------------------------------- */

#define DRY_RUN_ROW(at)                                                        \
	"dry-run", OPTION_SWITCH, at, NULL,                                    \
		.help = "only say what would be refused"

/* Of the verdict. */
#define JSON_ROW(at)                                                           \
	"json", OPTION_TEXT, at, "FILE", .help = "write the verdict as JSON"
#define JUNIT_ROW(at)                                                          \
	"junit", OPTION_TEXT, at, "FILE", .help = "write it as JUnit XML"
#define SARIF_ROW(at)                                                          \
	"sarif", OPTION_TEXT, at, "FILE", .help = "write it as SARIF 2.1.0"
#define ANNOTATE_ROW(kind, at)                                                 \
	"annotate", kind, at, "github",                                        \
		.help = "print it as annotation lines, too"

#endif
