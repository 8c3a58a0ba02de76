/*
 * The terminal of `memtrace top`: draws on the alternate screen, reads keys and signals.
 *
 * Signals are read from a descriptor instead of being handled, so the terminal is always restored
 * by top_screen_close(), outside of a signal handler.
 */
#include "base/mem/each.h"
#include "cli/top/top_parts.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/text/fd.h"

/* Escape sequences (ECMA-48, xterm): to the alternate screen, no cursor, no line wrap; and back. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

static int show(struct top_screen *screen)
{
	struct termios raw = screen->before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(screen->keys, TCSADRAIN, &raw))
		return -errno;
	screen->shown = true;
	return fd_write_all(screen->fd, enter, sizeof(enter) - 1);
}

static void hide(struct top_screen *screen)
{
	if (!screen->shown)
		return;
	fd_write_all(screen->fd, leave, sizeof(leave) - 1);
	tcsetattr(screen->keys, TCSADRAIN, &screen->before);
	screen->shown = false;
}

int top_screen_open(struct top_screen *screen, int fd, int keys)
{
	static const int taken[] = { SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT,
				     SIGTSTP, SIGWINCH, SIGPIPE, SIGALRM };
	sigset_t set;
	int error;

	memset(screen, 0, sizeof(*screen));
	screen->fd = fd;
	screen->keys = keys;
	sigemptyset(&set);
	foreach (number, taken, COUNT_OF(taken))
		sigaddset(&set, *number);
	if (tcgetattr(keys, &screen->before) || sigprocmask(SIG_BLOCK, &set, &screen->mask))
		return -errno;
	screen->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	error = screen->signals < 0 ? -errno : show(screen);
	if (error)
		top_screen_close(screen);
	return error;
}

void top_screen_close(struct top_screen *screen)
{
	hide(screen);
	if (screen->signals >= 0)
		close(screen->signals);
	screen->signals = -1;
	sigprocmask(SIG_SETMASK, &screen->mask, NULL);
}

void top_screen_size(const struct top_screen *screen, unsigned *columns, unsigned *rows)
{
	struct winsize size;
	bool known = !ioctl(screen->fd, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;

	*columns = known ? size.ws_col : 80;
	*rows = known ? size.ws_row : 24;
}

/* Ctrl-Z: restores the terminal, stops this process, and prepares the terminal when continued. */
static void pause_here(struct top_screen *screen)
{
	hide(screen);
	raise(SIGSTOP);
	tcgetattr(screen->keys, &screen->before);
	show(screen);
}

static enum top_event take_signal(struct top_screen *screen, int *what)
{
	struct signalfd_siginfo info;

	if (read(screen->signals, &info, sizeof(info)) != sizeof(info))
		return TOP_TIME;
	*what = (int)info.ssi_signo;
	if (info.ssi_signo == SIGTSTP)
		pause_here(screen);
	if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGWINCH)
		return TOP_RESIZED;
	return TOP_SIGNAL;
}

enum top_event top_screen_wait(struct top_screen *screen, uint64_t ns, int *what)
{
	struct pollfd fds[] = {
		{ .fd = screen->signals, .events = POLLIN },
		{ .fd = screen->keys, .events = POLLIN },
	};
	struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	char key;
	int ready = ppoll(fds, 2, &wait, NULL);

	if (ready <= 0)
		return ready && errno != EINTR ? TOP_GONE : TOP_TIME;
	if (fds[0].revents)
		return take_signal(screen, what);
	if (read(screen->keys, &key, 1) != 1)
		return TOP_GONE;
	*what = (unsigned char)key;
	return TOP_KEY;
}
