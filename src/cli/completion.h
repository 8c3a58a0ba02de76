/*
 * Completion for bash and zsh: scripts printed from the tables that --help is printed from.
 *
 * `source <(memtrace help --completion bash)`, or installed where shells look for them.
 */
#pragma once

#include <stdbool.h>

/* Prints the script to cli_out(); false when the shell is neither bash nor zsh. */
bool completion_print(const char *shell);
