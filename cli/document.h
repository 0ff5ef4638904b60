/* document.h - what is made of the commands' manuals: pages for man, and the
 * words that a shell completes. */
#ifndef LOCKSTEP_CLI_DOCUMENT_H
#define LOCKSTEP_CLI_DOCUMENT_H

/* document_write writes a page a command to the folder, lockstep-run.1 and so
 * on; NULL: prints the entries of all, for the page lockstep.1. Returns one of
 * enum dist_exit. */
int document_write(const char *folder);

/* document_complete prints what the last of num words, those behind "lockstep",
 * may be: a line each, with what it means behind a tab; nothing where it is a
 * file. Returns one of enum dist_exit. */
int document_complete(int num, const char **text);

#endif
