/* What a trace may ask of its reader. */
#include "analyse/input/limits.h"

static struct {
	bool lifted;
} limits;

void limits_lift(void)
{
	limits.lifted = true;
}

bool limits_hold(void)
{
	return !limits.lifted;
}
