/*
 * Texts in the rows of constant tables.
 *
 * ld.so writes each constant pointer, and so touches its page, in every process that the library is
 * preloaded into, even into shells and compilers (base/guest/start.h). So tables hold no pointers:
 * texts are arrays in their rows, and a switch chooses functions. A table without relocations is
 * read from the file only when it is used. scripts/check-start.sh checks this.
 */
#pragma once

/* A text of a .def row with a second NUL, so that compilers warn if the text does not fit its
 * array. C silently drops a single NUL if the text is as long as the array. */
#define WHOLE(text) text "\0"
