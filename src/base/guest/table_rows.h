/*
 * Texts in the rows of constant tables.
 *
 * A constant pointer is written by ld.so in each process that the library is preloaded into, and
 * its page with it, shells and compilers included (base/guest/start.h). So tables hold no pointers:
 * texts lie in arrays of their rows, functions are told by a switch or called by name. With no
 * relocation a table is a page of the file that is read when somebody asks. scripts/check-start.sh
 * holds it.
 */
#pragma once

/*
 * A text with its end, for rows of a .def: in C an array may be too short for the end alone, and no
 * compiler tells. What is listed where its array is has room to spare.
 */
#define WHOLE(text) text "\0"
