/* llm_spread.h - a layout of a language model over so many GPUs. */
#ifndef LOCKSTEP_TESTS_SUPPORT_LLM_SPREAD_H
#define LOCKSTEP_TESTS_SUPPORT_LLM_SPREAD_H

#include "model/llm/layout.h"

/* spread has 1,024 sequences a step, and else what llm_layout_init says. */
static inline struct llm_layout spread(int gpus, int tp, int pp, int cp, int ep)
{
	struct llm_layout l;

	llm_layout_init(&l);
	l.gpus = gpus;
	l.tp = tp;
	l.pp = pp;
	l.cp = cp;
	l.ep = ep;
	l.global_batch = 1024;
	return l;
}

#endif
