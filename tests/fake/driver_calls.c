/*
 * Calls of counted_calls.def that nothing here models: they succeed. Weak, so that a model takes
 * their place.
 *
 * Without CUDA's headers: whatever a call is given, none of it is looked at.
 */
typedef int status_fn(void);

int driver_nothing(const char *name);

#define NOTHING_DRV(name)                                            \
	__attribute__((weak, visibility("default"))) status_fn name; \
	int name(void)                                               \
	{                                                            \
		return driver_nothing(#name);                        \
	}
#define NOTHING_RT(name)
#define CALL(api, name, ...) NOTHING_##api(name)
#define CALLS(twin, api, name, ...) NOTHING_##api(name) NOTHING_##api(name##twin)
#include "../../src/capture/loader/counted_calls.def"
