/*
 * Calls of counted_calls.def that nothing here models: they succeed. Weak, so that a model takes
 * their place.
 *
 * Without CUDA's headers: whatever a call is given, none of it is looked at.
 */
typedef int status_fn(void);

int runtime_nothing(void);

#ifdef FAKE_CUDART_STATIC
#define SEEN "hidden"
#else
#define SEEN "default"
#endif

#define NOTHING_RT(name)                                        \
	__attribute__((weak, visibility(SEEN))) status_fn name; \
	int name(void)                                          \
	{                                                       \
		return runtime_nothing();                       \
	}
#define NOTHING_DRV(name)
#define CALL(api, name, ...) NOTHING_##api(name)
#define CALLS(twin, api, name, ...) NOTHING_##api(name) NOTHING_##api(name##twin)
#include "../../src/capture/loader/counted_calls.def"
