/* The functions of PyTorch that ours replace. */
#ifndef CAPTURE_TORCH_TORCH_FIND_H
#define CAPTURE_TORCH_TORCH_FIND_H

#include <stdatomic.h>
#include <stddef.h>

enum torch_function {
#define REPORT(form, name) TORCH_##name,
#define ASKED(name) TORCH_##name,
#include "capture/torch/torch.def"
#undef REPORT
#undef ASKED
	TORCH_FUNCTIONS
};

extern _Atomic(void *) torch_reals[TORCH_FUNCTIONS];

void *torch_ask_real(enum torch_function function, void *caller);

/* NULL if the caller's PyTorch has none of the name. */
static inline void *torch_real(enum torch_function function, void *caller)
{
	void *real = atomic_load_explicit(&torch_reals[function], memory_order_relaxed);

	return __builtin_expect(real != NULL, 1) ? real : torch_ask_real(function, caller);
}

#endif
