/*
 * shell: commands that can be pasted
 *
 * Whatever a name has in it, blanks, quotes, newlines, the shell reads it back as it is; and no line is wider than 100 columns.
 */
#ifndef REFAULT_REPORT_SHELL_H
#define REFAULT_REPORT_SHELL_H

#include <stddef.h>
#include <stdio.h>

/* Print `text` so that a shell reads it back as one word. */
void shell_word(FILE *out, const char *text);

/*
 * Print a command, whose words are quoted already, from column `at` on and to the end of the line. What is
 * too long goes on in the next line, `indent` columns in, behind a backslash; within a word at its beginning.
 */
void shell_command(FILE *out, const char *command, size_t at, size_t indent);

#endif
