/* Settings as help and messages name them; base/settings/opt.h has their values. */
#ifndef CLI_SETTING_WORDS_H
#define CLI_SETTING_WORDS_H

#include "base/settings/opt.h"

/* The help of its row in opt.def. */
const char *setting_help(enum opt_id id);

/* The values that it takes, in words that end "... is not ". */
const char *setting_wants(enum opt_id id);

#endif
