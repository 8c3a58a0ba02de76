/*
 * Texts in the rows of constant tables.
 *
 * ld.so writes each constant pointer, and so touches its page, in every process that the library is
 * preloaded into, also in shells and compilers (base/guest/start.h). So tables hold no pointers:
 * texts are arrays in their rows, and functions are chosen by a switch or called by name. A table
 * without relocations is a page of the file, which is read when it is used. scripts/check-start.sh
 * checks this.
 */
#pragma once

/* A text and its NUL, for the rows of a .def: C allows an array that is too short for the NUL
 * alone, without a warning. Arrays whose texts are listed beside them have room to spare. */
#define WHOLE(text) text "\0"
