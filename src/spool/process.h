/* When a process started: with the pid it names a process for as long as the machine runs. */
#ifndef SPOOL_PROCESS_H
#define SPOOL_PROCESS_H

#include <stdint.h>

/* Field 22 of /proc/PID/stat, clock ticks after boot; 0 when there is no such process, or
 * it has ended and only its parent has not heard of that. */
uint64_t process_start_ticks(int pid);

/*
 * Where pids and start times mean what they say: a number for this boot of this machine and this
 * pid namespace; 0 when /proc does not tell.
 */
uint64_t process_place(void);

#endif
