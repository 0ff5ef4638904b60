/* misbehave.c - tests/support/misbehave.h as a program. */
#include "tests/support/misbehave.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	return argc == 4 ? misbehave(argv[1], argv[2], atoi(argv[3])) : 2;
}
