/* Checks of memtrace doctor: the preloaded library, CUDA's libraries, the unwinder, Python. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/mem/each.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "capture/python/python_versions.h"
#include "cli/doctor/doctor.h"
#include "cli/preload_refusals.h"

enum {
	SECONDS = 10, /* time limit for a program that is run to print its version */
};

/* Runs a command and stores the first line that it prints; false if it cannot run or fails. */
static bool ask_program(char *const *command, const char *preload, char *text, size_t size)
{
	ssize_t length;
	int output[2];
	int status = 0;
	pid_t pid;

	if (pipe(output))
		return false;
	pid = fork();
	if (!pid) {
		alarm(SECONDS);
		dup2(output[1], STDOUT_FILENO);
		dup2(output[1], STDERR_FILENO);
		close(output[0]);
		close(output[1]);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execv(command[0], command);
		_exit(127);
	}
	close(output[1]);
	length = pid < 0 ? 0 : fd_read_all(output[0], text, size - 1);
	text[length < 0 ? 0 : length] = '\0';
	close(output[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	text[strcspn(text, "\n")] = '\0';
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

void doctor_library(void)
{
	char library[PATH_MAX];
	char preload[PATH_MAX * 2];
	char text[PATH_MAX * 2];
	char self[] = "/proc/self/exe";
	char version[] = "--version";
	char *command[] = { self, version, NULL };

	if (library_find(library)) {
		doctor_say(FINDING_MISSING, "library",
			   "build it with make, or install it with make install", "%s", err_text());
		return;
	}
	if (library_preload(library, preload, sizeof(preload))) {
		doctor_say(FINDING_MISSING, "library",
			   "install it under a path without spaces and colons", "%s", err_text());
		return;
	}
	/* A loader that cannot preload the library prints an error first, then runs the program. */
	if (!ask_program(command, library, text, sizeof(text)) ||
	    strncmp(text, "memtrace ", 9) != 0)
		doctor_say(FINDING_MISSING, "library", "build it for this machine: make clean all",
			   "%s", text);
	else
		doctor_say(FINDING_OK, "library", NULL, "%s", library);
}

/* --- libraries that the loader finds --- */

/* Loads a library, writes its path to `path` (PATH_MAX bytes); NULL if the loader finds none. */
static void *load(const char *name, char *path)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;

	if (handle && (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map->l_name[0] ||
		       !realpath(map->l_name, path)))
		text_copy(path, PATH_MAX, name);
	return handle;
}

static void driver_version(char *text, size_t size)
{
	char words[1000];
	char *version = NULL;

	text_copy(text, size, "");
	if (fd_read_file("/proc/driver/nvidia/version", words, sizeof(words)) > 0)
		version = strstr(words, "Kernel Module");
	if (!version)
		return;
	version += strlen("Kernel Module");
	version += strspn(version, " ");
	if (!strncmp(version, "for ", 4)) /* NVIDIA's open modules have "for x86_64 580.1" */
		version += 4 + strcspn(version + 4, " ");
	version += strspn(version, " ");
	text_copy_n(text, size, version, strcspn(version, " \n"));
}

static void driver(void)
{
	char path[PATH_MAX];
	char kernel[64];
	int number = 0;
	void *handle;
	int (*ask_version)(int *);

	driver_version(kernel, sizeof(kernel));
	if (kernel[0])
		doctor_say(FINDING_OK, "driver", NULL, "%s", kernel);
	else
		doctor_say(FINDING_WARN, "driver",
			   "install the driver; without a GPU, `make demo` runs a simulation",
			   "no NVIDIA kernel driver is loaded on this machine");
	handle = load("libcuda.so.1", path);
	if (!handle) {
		doctor_say(FINDING_MISSING, "libcuda",
			   "install NVIDIA's driver, or start the container with --gpus all",
			   "libcuda.so.1 was not found: no program can use CUDA here");
		return;
	}
	*(void **)&ask_version = dlsym(handle, "cuDriverGetVersion");
	if (ask_version && !ask_version(&number))
		doctor_say(FINDING_OK, "libcuda", NULL, "%s (CUDA up to %d.%d)", path,
			   number / 1000, number % 1000 / 10);
	else
		doctor_say(FINDING_OK, "libcuda", NULL, "%s", path);
}

/* Libraries that recording can do without. Of names[], the first that can be loaded is used. */
static const struct optional {
	const char *what, *names[4];
	enum finding without;
	const char *text, *mend;
} optional[] = {
	{ "libcudart",
	  { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" },
	  FINDING_NOTE,
	  "not found in the system; PyTorch and JAX bring their own copies, which are enough",
	  NULL },
	/* Only the presence of NVML is checked: it lists no process without a CUDA context. */
	{ "nvml",
	  { "libnvidia-ml.so.1" },
	  FINDING_NOTE,
	  "NVML was not found: used memory will include all processes on the device",
	  "in a container: set NVIDIA_DRIVER_CAPABILITIES=compute,utility" },
	{ "libunwind",
	  { "libunwind.so.8" },
	  FINDING_WARN,
	  "libunwind was not found: recording native stacks takes seven times as long",
	  "apt-get install libunwind8" },
};

void doctor_cuda(void)
{
	driver();
	foreach (library, optional, COUNT_OF(optional)) {
		const char *const *name = library->names;
		char path[PATH_MAX];

		while (*name && !load(*name, path))
			name++;
		if (*name)
			doctor_say(FINDING_OK, library->what, NULL, "%s", path);
		else
			doctor_say(library->without, library->what, library->mend, "%s",
				   library->text);
	}
}

/* --- Python interpreters --- */

struct python {
	char path[PATH_MAX]; /* the interpreter's file, with links and wrappers resolved */
	int major, minor;
	char implementation[32];
};

static bool ask_python(char *path, struct python *python)
{
	static char code[] = "import os, sys; v = sys.version_info; "
			     "print(v[0], v[1], sys.implementation.name, "
			     "os.path.realpath(sys.executable))";
	static char isolated[] = "-ISE";
	static char code_option[] = "-c";
	char *command[] = { path, isolated, code_option, code, NULL };
	char answer[PATH_MAX + 100];
	int at = 0;

	if (!ask_program(command, NULL, answer, sizeof(answer)) ||
	    sscanf(answer, "%d %d %31s %n", &python->major, &python->minor, python->implementation,
		   &at) != 3 ||
	    !answer[at])
		return false;
	text_copy(python->path, sizeof(python->path), answer + at);
	return true;
}

static void say_python(const struct python *python)
{
	enum finding finding = FINDING_OK;
	const char *mend = NULL;

	if (strcmp(python->implementation, "cpython") != 0) {
		finding = FINDING_NOTE;
		mend = "not CPython: stacks will hold native frames only";
	} else if (python->major != 3 || python->minor < PYTHON_OLDEST ||
		   python->minor > PYTHON_NEWEST) {
		finding = FINDING_WARN;
		mend = "Python frames can be read only from versions " PYTHON_VERSIONS;
	}
	doctor_say(finding, "python", mend, "%d.%d %s", python->major, python->minor, python->path);
}

void doctor_pythons(void)
{
	char names[PYTHON_NEWEST - PYTHON_OLDEST + 3][16] = { "python", "python3" };
	static struct python seen[COUNT_OF(names)];
	size_t count = 0;

	for (int minor = PYTHON_OLDEST; minor <= PYTHON_NEWEST; minor++)
		snprintf(names[minor - PYTHON_OLDEST + 2], sizeof(*names), "python3.%d", minor);
	foreach (name, names, COUNT_OF(names)) {
		char path[PATH_MAX];
		bool known = false;

		if (program_find(*name, path, sizeof(path)) || !ask_python(path, &seen[count]))
			continue;
		foreach (row, seen, count)
			known = known || (row->minor == seen[count].minor &&
					  !strcmp(row->path, seen[count].path));
		if (!known)
			say_python(&seen[count++]);
	}
	if (!count)
		doctor_say(FINDING_NOTE, "python", NULL, "no Python was found in PATH");
}
