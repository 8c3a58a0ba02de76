/* The turning points of a guest (recorder/guest.h): what is to be done then, room by room. */
#include "capture/recorder/guest.h"

#include "base/guest/watch.h"
#include "capture/cuda/device_usage.h"
#include "capture/life/life.h"
#include "capture/loader/loader.h"
#include "capture/loader/resolve.h"
#include "capture/python/python.h"
#include "capture/recorder/record_parts.h"
#include "capture/stack/sampling.h"
#include "capture/stack/unwind.h"
#include "capture/stack/walk.h"
#include "capture/torch/torch.h"

void guest_wake(void)
{
	walk_init();
	sampling_init();
}

void guest_prepare(void *unused)
{
	(void)unused;
	life_watch_end();
	unwind_prepare();
	python_prepare(resolve_dlsym);
	torch_prepare();
	autograd_prepare();
	finalize_load();
}

void guest_loaded(void)
{
	const char *path = watch_path(NULL); /* the loader allocates */

	loader_enter();
	torch_prepare();
	autograd_prepare();
	if (!python_version())
		python_prepare(resolve_dlsym);
	loader_leave();
	watch_path(path);
	record_lock();
	process_info_late(record_intern());
	record_unlock();
}

void guest_open(void)
{
	struct spool_header *header = recorder.spool.header;

	header->sample = sampling_interval();
	control_opened(header);
	process_info_record();
	usage_settle();
	if (atomic_load(&torch_cpu_lost))
		intern_fact(&recorder.intern, "note",
			    "born while PyTorch's CPU allocator was at work: CPU tensors were not "
			    "looked at");
}
