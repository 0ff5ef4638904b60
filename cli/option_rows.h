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
		.help = "where ranks run",                                     \
		.usual = "$LOCKSTEP_BACKEND, else tcp"

#define INTRA_ROW(kind, at)                                                    \
	"intra", kind, at, "shm|tcp",                                          \
		.help = "tcp: transport between ranks of one machine",         \
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
		.usual = "one a GPU, or one without GPUs", .min = 1,           \
		.max = 256

#define TOPOLOGY_ROW(at)                                                       \
	"topology", OPTION_TEXT, at, "KIND:SHAPE",                             \
		.help = "switches between nodes of the machine, in the form "  \
			"of platform new: fat-tree:4x8,taper=2; calls are "    \
			"then simulated",                                      \
		.usual = "star"

#define UNCALIBRATED_ROW(at)                                                   \
	"uncalibrated", OPTION_SWITCH, at, NULL,                               \
		.help = "use only the library's profile, not the constants "   \
			"in the machine's file"

#define PROFILE_ROW(at, where)                                                 \
	"profile", OPTION_TEXT, at, "LIBRARY",                                 \
		.help = "profile of the library: a name or a YAML file",       \
		.usual = where                                                 \
		"nccl for NVIDIA's and AMD's GPUs, else built in",             \
		.list = "profiles"

/* what: "collectives are", "it is". */
#define FIDELITY_ROW(kind, at, where, what)                                    \
	"fidelity", kind, at, "auto|message|flow|formula",                     \
		.help = where "how finely " what " simulated",                 \
		.usual = "auto, by the number of ranks"

#define ENGINE_ROW(kind, at, where)                                            \
	"engine", kind, at, "auto|own|simgrid",                                \
		.help = where "what keeps the clock and shares the links",     \
		.usual = "own, if it can run the platform"

/* ---- what comes of it --------------------------------------------------- */

#define DRY_RUN_ROW(at)                                                        \
	"dry-run", OPTION_SWITCH, at, NULL, .help = "only check the options"

/* Of the verdict. */
#define JSON_ROW(at)                                                           \
	"json", OPTION_TEXT, at, "FILE", .help = "write the verdict as JSON"
#define JUNIT_ROW(at)                                                          \
	"junit", OPTION_TEXT, at, "FILE",                                      \
		.help = "write the verdict as JUnit XML"
#define SARIF_ROW(at)                                                          \
	"sarif", OPTION_TEXT, at, "FILE",                                      \
		.help = "write the verdict as SARIF 2.1.0"
#define ANNOTATE_ROW(kind, at)                                                 \
	"annotate", kind, at, "github",                                        \
		.help = "also print the verdict as GitHub annotations"

#endif
