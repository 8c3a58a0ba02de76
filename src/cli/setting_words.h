/* Settings as help and messages name them; base/settings/opt.h has their values. */
#pragma once

#include "base/settings/opt.h"

/* The help of its row in opt.def. */
const char *setting_help(enum opt_id id);

/* The values that it takes, in words that end "... is not ". */
const char *setting_wants(enum opt_id id);
