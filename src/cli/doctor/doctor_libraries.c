/* The examination: our library, CUDA's, the unwinder, and the pythons. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "cli/doctor/doctor.h"
#include "cli/library.h"

enum {
	SECONDS = 10, /* what asking a program may take */
	OLDEST = 8,   /* of Python 3: reference frames are known from 3.8 to 3.14 */
	NEWEST = 14,
};

/* What a command prints, on both its outputs; false when it cannot be run or fails. */
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

	if (library_find(library, sizeof(library))) {
		doctor_say(FINDING_MISSING, "library", err_text(), "make; or make install");
		return;
	}
	if (library_preload(library, preload, sizeof(preload))) {
		doctor_say(FINDING_MISSING, "library", err_text(),
			   "put it where the path has neither");
		return;
	}
	/* The loader complains on stderr, in front of what the program prints, and goes on without.
	 */
	if (!ask_program(command, library, text, sizeof(text)) ||
	    strncmp(text, "memtrace ", 9) != 0)
		doctor_say(FINDING_MISSING, "library", text,
			   "build it for this machine: make clean all");
	else
		doctor_say(FINDING_OK, "library", library, NULL);
}

/* --- what the loader finds --- */

static bool loaded_from(const char *name, char *path, size_t size, void **handle)
{
	struct link_map *map;
	char real[PATH_MAX];

	*handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (!*handle)
		return false;
	if (dlinfo(*handle, RTLD_DI_LINKMAP, &map) || !map->l_name[0])
		text_copy(path, size, name);
	else
		text_copy(path, size, realpath(map->l_name, real) ? real : map->l_name);
	return true;
}

static void unwinder(void)
{
	char path[PATH_MAX];
	void *handle;

	if (loaded_from("libunwind.so.8", path, sizeof(path), &handle))
		doctor_say(FINDING_OK, "libunwind", path, NULL);
	else
		doctor_say(FINDING_WARN, "libunwind",
			   "not found: native stacks cost seven times as much",
			   "apt-get install libunwind8");
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
	if (!strncmp(version, "for ", 4)) /* the open one names its architecture first */
		version += 4 + strcspn(version + 4, " ");
	version += strspn(version, " ");
	text_copy_n(text, size, version, strcspn(version, " \n"));
}

static void driver(void)
{
	char path[PATH_MAX];
	char kernel[64];
	char text[PATH_MAX + 200];
	int number = 0;
	void *handle;
	int (*ask_version)(int *);

	driver_version(kernel, sizeof(kernel));
	if (kernel[0])
		doctor_say(FINDING_OK, "driver", kernel, NULL);
	else
		doctor_say(FINDING_WARN, "driver",
			   "no NVIDIA kernel driver is loaded on this machine",
			   "nvidia-smi should work; without a GPU try the simulation: make demo");
	if (!loaded_from("libcuda.so.1", path, sizeof(path), &handle)) {
		doctor_say(FINDING_MISSING, "libcuda", "not found: no program can use CUDA here",
			   "install NVIDIA's driver, or start the container with --gpus all");
		return;
	}
	*(void **)&ask_version = dlsym(handle, "cuDriverGetVersion");
	if (ask_version && !ask_version(&number))
		snprintf(text, sizeof(text), "%s (CUDA up to %d.%d)", path, number / 1000,
			 number % 1000 / 10);
	else
		text_copy(text, sizeof(text), path);
	doctor_say(FINDING_OK, "libcuda", text, NULL);
}

static void runtime(void)
{
	static const char *const names[] = { "libcudart.so.13", "libcudart.so.12",
					     "libcudart.so.11.0" };
	char path[PATH_MAX];
	void *handle;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (loaded_from(names[i], path, sizeof(path), &handle)) {
			doctor_say(FINDING_OK, "libcudart", path, NULL);
			return;
		}
	}
	doctor_say(FINDING_NOTE, "libcudart",
		   "not where the loader looks; PyTorch and JAX bring their own, which will do",
		   NULL);
}

/* Whether a process may see itself in NVML's list is known only once it has a context. */
static void nvml(void)
{
	char path[PATH_MAX];
	void *handle;

	if (loaded_from("libnvidia-ml.so.1", path, sizeof(path), &handle))
		doctor_say(FINDING_OK, "nvml", path, NULL);
	else
		doctor_say(FINDING_NOTE, "nvml",
			   "not found: what is occupied will be the whole device's, other "
			   "processes included",
			   "NVIDIA_DRIVER_CAPABILITIES=compute,utility for a container");
}

void doctor_cuda(void)
{
	driver();
	runtime();
	nvml();
	unwinder();
}

/* --- pythons --- */

struct python {
	char path[PATH_MAX]; /* of the interpreter itself, whatever script or link led to it */
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
	char text[PATH_MAX + 100];

	snprintf(text, sizeof(text), "%d.%d %s", python->major, python->minor, python->path);
	if (strcmp(python->implementation, "cpython") != 0)
		doctor_say(FINDING_NOTE, "python", text,
			   "is not CPython: stacks will hold native frames only");
	else if (python->major != 3 || python->minor < OLDEST || python->minor > NEWEST)
		doctor_say(FINDING_WARN, "python", text,
			   "Python frames are known from 3.8 to 3.14");
	else
		doctor_say(FINDING_OK, "python", text, NULL);
}

void doctor_pythons(void)
{
	static const char *const names[] = { "python",     "python3",    "python3.8",
					     "python3.9",  "python3.10", "python3.11",
					     "python3.12", "python3.13", "python3.14" };
	static struct python seen[sizeof(names) / sizeof(names[0])];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];
		bool known = false;

		if (program_find(names[i], path, sizeof(path)) || !ask_python(path, &seen[count]))
			continue;
		for (size_t k = 0; k < count; k++)
			known = known || (seen[k].minor == seen[count].minor &&
					  !strcmp(seen[k].path, seen[count].path));
		if (!known)
			say_python(&seen[count++]);
	}
	if (!count)
		doctor_say(FINDING_NOTE, "python", "none in PATH", NULL);
}
