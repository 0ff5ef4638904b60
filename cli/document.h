/* document.h - man pages and shell completions, made from the commands'
 * manuals. */
#ifndef LOCKSTEP_CLI_DOCUMENT_H
#define LOCKSTEP_CLI_DOCUMENT_H

/* document_write writes a page for each command to folder: lockstep-run.1 and
 * so on. With NULL it prints the entries of all commands, for lockstep.1.
 * Returns one of enum dist_exit. */
int document_write(const char *folder);

/* document_complete prints completions of the last of num words after
 * "lockstep": a line each, with its meaning after a tab; nothing where a file
 * is expected. Returns one of enum dist_exit. */
int document_complete(int num, const char **text);

#endif
