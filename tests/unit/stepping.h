/* A child that is stepped through, an instruction at a time. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Before the fork. Who steps and who is stepped stay on one CPU, for the rest of this test: a step
 * that has another CPU woken takes four times as long. */
static inline void stepping_begin(void)
{
	int cpu = sched_getcpu();
	cpu_set_t here;

	if (cpu < 0)
		return;
	CPU_ZERO(&here);
	CPU_SET((size_t)cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

/* False where there is no such thing. */
static inline bool stepping_next(pid_t child, int *status)
{
	return !ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) && waitpid(child, status, 0) == child;
}
