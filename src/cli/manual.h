/*
 * The manual's pages in roff (man(7)), from the tables that --help is printed from.
 *
 * memtrace.1, one memtrace-COMMAND.1 a command, libmemtrace.7 for the settings. libmemtrace.3 comes
 * from the public header: scripts/manual-api.sh.
 */
#pragma once

#include "cli/cli.h"

/* The names of the pages, one a line. */
void manual_list(struct out *out);

/* Prints the page to cli_out(); false when there is none of that name. */
bool manual_page(const char *name);
