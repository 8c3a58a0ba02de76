#include "cli/preload_refusals.h"
#include "base/mem/each.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/fd.h"
#include "base/text/text.h"

#define LIBRARY "libmemtrace.so"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define TRIPLET "x86_64-linux-gnu"
#else
#define MACHINE EM_AARCH64
#define TRIPLET "aarch64-linux-gnu"
#endif

enum { INTERPRETERS = 4 };

/* --- finding the library --- */

int library_find(char *path)
{
	enum { BESIDE = 4 }; /* places that lie beside this program */
	static const char *const places[] = { "",           "/../lib",        "/../lib/" TRIPLET,
					      "/../lib64",  "/usr/local/lib", "/usr/lib/" TRIPLET,
					      "/usr/lib64", "/usr/lib" };
	const char *given = getenv("MEMTRACE_LIBRARY");
	char own[PATH_MAX], name[PATH_MAX];

	if (given && given[0]) {
		if (access(given, R_OK) || !realpath(given, path))
			return err("MEMTRACE_LIBRARY: %s: %s", given, strerror(errno));
		return 0;
	}
	if (realpath("/proc/self/exe", own))
		*strrchr(own, '/') = '\0';
	else
		own[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		text_join(name, sizeof(name), i < BESIDE ? own : "", places[i]);
		text_append(name, sizeof(name), "/" LIBRARY);
		if (!access(name, R_OK) && realpath(name, path))
			return 0;
	}
	return err(LIBRARY " was not found next to memtrace, in ../lib or in a system folder; set "
			   "MEMTRACE_LIBRARY=PATH");
}

int library_preload(const char *library, char *value, size_t size)
{
	const char *old = getenv("LD_PRELOAD");

	if (strpbrk(library, " :"))
		return err("%s: the loader cannot preload a path with a space or a colon in it",
			   library);
	text_copy(value, size, library);
	if (!old || !old[0] || !strcmp(old, library))
		return 0;
	text_append(value, size, ":");
	text_append(value, size, old);
	return 0;
}

/* --- finding programs, and reasons why nothing can be preloaded into them --- */

int program_find(const char *name, char *path, size_t size)
{
	const char *list = getenv("PATH");
	int error = -ENOENT;

	if (strchr(name, '/')) {
		text_copy(path, size, name);
		return access(path, X_OK) ? -errno : 0;
	}
	for (const char *p = list ? list : "/bin:/usr/bin"; *p;) {
		size_t length = strcspn(p, ":");
		struct stat status;

		text_copy_n(path, size, length ? p : ".", length ? length : 1);
		text_append(path, size, "/");
		text_append(path, size, name);
		if (!stat(path, &status) && S_ISREG(status.st_mode)) {
			if (!access(path, X_OK))
				return 0;
			error = -EACCES;
		}
		p += length + (p[length] == ':');
	}
	return error;
}

/* Finds the interpreter in a script's "#!" line, also one started by `env`. Returns 0 or -errno. */
static int find_interpreter(char *line, char *path, size_t size)
{
	char *save;
	char *interpreter;
	char *argument;

	line[strcspn(line, "\n")] = '\0';
	interpreter = strtok_r(line + 2, " \t", &save);
	if (!interpreter)
		return -ENOENT;
	argument = strtok_r(NULL, " \t", &save);
	while (argument && argument[0] == '-')
		argument = strtok_r(NULL, " \t", &save);
	if (!strcmp(text_base(interpreter), "env") && argument)
		return program_find(argument, path, size);
	return program_find(interpreter, path, size);
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum && i < 1000; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return false;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* The reason why the loader can preload nothing into the file that begins with `head`, or NULL. */
static const char *elf_trouble(int fd, const char *head, size_t length)
{
	Elf64_Ehdr header;

	if (length < sizeof(header) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return "is neither a 64-bit Linux program nor a script";
	memcpy(&header, head, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return "is a 32-bit program, which cannot load the 64-bit library";
	if (header.e_machine != MACHINE)
		return "is built for another kind of processor";
	return has_interpreter(fd, &header)
		       ? NULL
		       : "is linked statically: nothing can be preloaded into it";
}

static const char *privileged(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return NULL;
	if ((status.st_mode & S_ISUID && status.st_uid != getuid()) ||
	    (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid()))
		return "runs with another user's rights (setuid, setgid): the loader preloads "
		       "nothing into it";
	if (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities: the loader preloads nothing into it";
	return NULL;
}

bool program_refuses(const char *path, char *why, size_t size)
{
	char file[PATH_MAX];
	const char *trouble = NULL;

	text_copy(file, sizeof(file), path);
	for (int i = 0; i < INTERPRETERS && !trouble; i++) {
		char head[256];
		int fd = open(file, O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? -1 : fd_read_all(fd, head, sizeof(head) - 1);

		if (length < 0) {
			if (fd >= 0)
				close(fd);
			return false; /* the file cannot be read, so no reason is known */
		}
		head[length] = '\0';
		trouble = privileged(fd);
		if (!trouble && !strncmp(head, "#!", 2)) {
			close(fd);
			if (find_interpreter(head, file, sizeof(file)))
				return false;
			continue;
		}
		if (!trouble)
			trouble = elf_trouble(fd, head, (size_t)length);
		close(fd);
		break;
	}
	if (trouble)
		snprintf(why, size, "%s %s", file, trouble);
	return trouble != NULL;
}

/* --- programs under AddressSanitizer --- */

/* AddressSanitizer's shared runtimes (gcc, clang). Static ones need no care: they load first. */
static const char *const runtimes[] = { "libasan.so", "libclang_rt.asan" };

/* The flag for the check of load order: github.com/google/sanitizers/wiki/AddressSanitizerFlags */
#define ORDER "verify_asan_link_order"

/* True if an ELF file's string table names a runtime: each name in it follows a 0 byte. */
static bool names_runtime(const char *bytes, size_t size)
{
	foreach (runtime, runtimes, COUNT_OF(runtimes)) {
		char text[64] = "";

		text_copy(text + 1, sizeof(text) - 1, *runtime);
		if (memmem(bytes, size, text, strlen(*runtime) + 1))
			return true;
	}
	return false;
}

bool sanitizer_in(const char *program)
{
	char path[PATH_MAX];
	struct stat status;
	void *bytes = MAP_FAILED;
	bool found;
	int fd;

	if (program_find(program, path, sizeof(path)))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	found = status.st_size > 4 && !memcmp(bytes, "\177ELF", 4) &&
		names_runtime(bytes, (size_t)status.st_size);
	munmap(bytes, (size_t)status.st_size);
	return found;
}

static bool preloaded(void)
{
	const char *preload = getenv("LD_PRELOAD");

	foreach (runtime, runtimes, COUNT_OF(runtimes)) {
		if (preload && strstr(preload, *runtime))
			return true;
	}
	return false;
}

void sanitizer_admit(const char *program)
{
	const char *old = getenv("ASAN_OPTIONS");
	char options[4096];

	if ((old && strstr(old, ORDER)) || !(preloaded() || sanitizer_in(program)))
		return;
	text_join(options, sizeof(options), old ? old : "", old && *old ? ":" : "");
	if (text_append(options, sizeof(options), ORDER "=0") + 1 < sizeof(options))
		setenv("ASAN_OPTIONS", options, 1);
}
