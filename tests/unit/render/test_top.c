/* The page of `memtrace top`, of looks that are made up: what is wide stays apart from its
 * neighbours. */
#include "check.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/text/out.h"
#include "render/live/top.h"

static struct look look;
static char text[4096];

static void show(void)
{
	static char buffer[4096];
	struct look *const looks[] = { &look };
	const struct top top = { looks, 1, 5 };
	const struct top_page page = { .columns = 120, .rows = 30 };
	int fd = memfd_create("page", MFD_CLOEXEC);
	struct out out;

	out_init(&out, fd, buffer, sizeof(buffer));
	top_text(&top, &out, &page);
	EQ(out_flush(&out), 0);
	OK(pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(fd);
}

TEST(a_range_that_is_long_open_keeps_its_name_apart)
{
	look.uptime = 118000000000;
	look.ranges.open_n = 1;
	look.ranges.open[0].end = TRACE_NONE;
	show();
	OK(strstr(text, "  open for     1 min 58 s    [no name]\n"));
	look.uptime = 1000 * 3600000000000;
	show();
	OK(strstr(text, "  open for     1000 h 00 min [no name]\n"));
}

TEST(the_widest_sums_keep_apart)
{
	const uint64_t wide = ((uint64_t)1 << 30) - 8000;
	struct live_view_scope scope = {
		.row = { .kind = SCOPE_DEVICE,
			 .sums = { { wide, wide, 0, 0 },
				   { 2 * wide, 2 * wide, 0, 0 },
				   { wide, wide, 0, 0 } },
			 .used_samples = 1,
			 .residual = -(int64_t)wide },
		.total = TRACE_NONE,
		.cached = wide,
	};

	look.scopes = &scope;
	look.scopes_n = 1;
	show();
	OK(strstr(text, "  GPU 0      1023.99 MiB   2.00 GiB 1023.99 MiB 1023.99 MiB "
			"-1023.99 MiB"));
}
