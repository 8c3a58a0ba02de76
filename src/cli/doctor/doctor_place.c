/* Checks of memtrace doctor: settings, the output's directory, compression, the program. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text/path.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/doctor/doctor.h"
#include "cli/packed.h"
#include "cli/preload_refusals.h"
#include "render/emit/term.h"

#define SPACE_NEEDED ((uint64_t)512 << 20) /* bytes for a trace of 8,000,000 events */

/* --- settings --- */

void doctor_settings(void)
{
	unsigned set = 0;

	for (char **variable = environ; *variable; variable++) {
		struct setting_variable setting;
		uint64_t count;
		char mend[200];

		if (!setting_variable(*variable, &setting))
			continue;
		if (setting.id == OPT_IDS) {
			snprintf(mend, sizeof(mend), "did you mean MEMTRACE_%s?", setting.meant);
			doctor_say(FINDING_WARN, "settings",
				   setting.meant ? mend : "memtrace run --help lists the settings",
				   "there is no setting MEMTRACE_%s", setting.name);
			continue;
		}
		set++;
		if (*setting.value && !opt_parse(setting.id, setting.value, &count)) {
			snprintf(mend, sizeof(mend), "the value must be %s; the default is used",
				 setting_wants(setting.id));
			doctor_say(FINDING_WARN, "settings", mend, "%.900s", *variable);
		} else {
			doctor_say(FINDING_OK, "settings", NULL, "%.900s", *variable);
		}
	}
	if (!set)
		doctor_say(FINDING_OK, "settings", NULL, "all settings have their defaults");
	if (!opt_flag(OPT_ID_enable))
		doctor_say(FINDING_WARN, "settings", "unset MEMTRACE_ENABLE to record",
			   "MEMTRACE_ENABLE=0: nothing will be recorded");
}

/* --- the output --- */

static void limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	doctor_say(limit.rlim_cur < SPACE_NEEDED ? FINDING_WARN : FINDING_NOTE, "output",
		   "recording stops at that size; to lift the limit: ulimit -f unlimited",
		   "files may not grow beyond %s (ulimit -f)", SAY_BYTES(limit.rlim_cur));
}

/* Returns a warning if files mapped on this file system are slow or may lack space, else NULL. */
static const char *file_system_trouble(const char *directory)
{
	struct statfs system;

	if (statfs(directory, &system))
		return NULL;
	switch ((unsigned long)system.f_type) {
	case NFS_SUPER_MAGIC:
	case 0xff534d42: /* cifs */
	case 0x0bd00bd0: /* lustre */
	case 0x65735546: /* fuse */
		return "is a network (or FUSE) file system, which makes recording slow";
	case BTRFS_SUPER_MAGIC:
	case 0x2fc12fc1: /* zfs */
		return "is on a file system that cannot reserve space: when it is full, SIGBUS "
		       "may kill the program";
	default:
		return NULL;
	}
}

/* Creates a file as a test: access() would not notice a quota or a lack of inodes. */
static bool can_write(const char *directory)
{
	char name[PATH_MAX];
	int fd;

	text_join(name, sizeof(name), directory, "/.memtrace-XXXXXX");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	unlink(name);
	return true;
}

static void directory(const char *path, const char *what)
{
	const char *trouble;
	struct statvfs space;
	uint64_t left;

	if (!can_write(path)) {
		doctor_say(FINDING_MISSING, what, "set MEMTRACE_OUTPUT=/elsewhere/memtrace.%p.json",
			   "%s: %s", path, strerror(errno));
		return;
	}
	if (statvfs(path, &space))
		return;
	left = (uint64_t)space.f_bavail * space.f_frsize;
	doctor_say(left < SPACE_NEEDED ? FINDING_WARN : FINDING_OK, what,
		   left < SPACE_NEEDED ? "a full disk stops the recording, not the program" : NULL,
		   "%s, %s free", path, SAY_BYTES(left));
	trouble = file_system_trouble(path);
	if (trouble)
		doctor_say(FINDING_WARN, what, "set MEMTRACE_SPOOL_DIR=/dev/shm, or a local disk",
			   "%s %s", path, trouble);
}

void doctor_output(void)
{
	const struct path_words words = { .program = program_invocation_short_name };
	char path[PATH_MAX];
	char *slash;

	if (path_expand(path, sizeof(path), opt_text(OPT_ID_output), &words)) {
		doctor_say(FINDING_MISSING, "output", NULL,
			   "MEMTRACE_OUTPUT is too long for a path");
		return;
	}
	slash = strrchr(path, '/');
	slash[slash == path] = '\0';
	directory(path, "output");
	if (opt_text(OPT_ID_spool_dir)[0])
		directory(opt_text(OPT_ID_spool_dir), "spool");
	limits();
}

/* --- compression --- */

void doctor_built(void)
{
	char text[PACKED_LIBRARIES];
	bool all = packed_libraries(text);

	doctor_say(all ? FINDING_OK : FINDING_NOTE, "tool",
		   all ? NULL : "formats that need a missing library cannot be used", "%s", text);
}

/* Checks the libraries that a traced process loads when it ends, to compress its trace. */
void doctor_compression(void)
{
	enum pack_kind asked = pack_named(opt_text(OPT_ID_output));

	for (int kind = PACK_NONE + 1; kind < PACK_KINDS; kind++) {
		const struct pack_row *row = &pack_rows[kind];
		void *handle = dlopen(row->library, RTLD_NOW | RTLD_LOCAL);
		bool missed = !handle && (int)asked == kind;

		doctor_say(handle   ? FINDING_OK
			   : missed ? FINDING_WARN
				    : FINDING_NOTE,
			   "compression", missed ? "the trace will not be compressed" : NULL,
			   "%s for *.json%s%s", row->library, row->suffix,
			   handle ? "" : " cannot be loaded");
		if (handle)
			dlclose(handle);
	}
}

/* --- the program --- */

void doctor_program(const char *name)
{
	char path[PATH_MAX];
	char text[PATH_MAX * 2];
	int error = program_find(name, path, sizeof(path));

	if (error) {
		doctor_say(FINDING_MISSING, "program", NULL, "%s: %s", name, strerror(-error));
	} else if (program_refuses(path, text, sizeof(text))) {
		doctor_say(FINDING_MISSING, "program",
			   "needed: a dynamically linked 64-bit program without special rights",
			   "%s", text);
	} else {
		doctor_say(FINDING_OK, "program", NULL, "%s", path);
		if (sanitizer_in(path))
			doctor_say(FINDING_NOTE, "program",
				   "without memtrace run: LD_PRELOAD=libasan.so.8:libmemtrace.so, "
				   "or ASAN_OPTIONS=verify_asan_link_order=0",
				   "AddressSanitizer requires that its runtime is loaded first; "
				   "memtrace run turns that check off");
	}
}
