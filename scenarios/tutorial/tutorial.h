/*
 * tutorial.h - how the programs of this folder begin. Each shows a section of
 * PyTorch's distributed tutorials, named at its head, and is an ordinary
 * program over the public headers: rank_main() is what the tutorials call
 * run().
 */
#ifndef LOCKSTEP_TUTORIAL_TUTORIAL_H
#define LOCKSTEP_TUTORIAL_TUTORIAL_H

/* tutorial_main is the main() of a program without options: it refuses
 * arguments and starts rank_main on every rank. Returns one of enum
 * dist_exit. */
int tutorial_main(int argc, char **argv, int (*rank_main)(void *arg));

#endif
