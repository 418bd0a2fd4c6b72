/*
 * help: everything that is said about a command, out of its own tables
 *
 * `refault help` and `--help` for people; and, for the Makefile, the man pages (`help --man
 * [COMMAND]`), the bash completion (`help --bash`) and the names of the commands (`help
 * --commands`).
 */
#ifndef REFAULT_CLI_HELP_H
#define REFAULT_CLI_HELP_H

#include <stdio.h>

struct command_entry;

void help_overview(FILE *out);
void help_command(FILE *out, const struct command_entry *entry);

/* `refault help ...`: argv is what follows "help". Returns the exit code. */
int help_main(int argc, char **argv);

#endif
