/* Walks this thread's stack at each memory call, and adds each new stack to the recording. */
#include "capture/stack/stacks.h"

#include <stdatomic.h>

#include "base/guest/own_stack_and_thread.h"
#include "base/mem/arena.h"
#include "base/text/text.h"
#include "capture/loader/loader.h"
#include "capture/recorder/callbacks.h"
#include "capture/stack/modules.h"
#include "capture/stack/walk.h"

enum {
	WALKS = 64, /* number of rooms; each has the memory of one walk, see struct room */
	HOMES = 16, /* a thread's search for a free room begins at one of the first 16 rooms */
	BARES = 8,  /* stack numbers cached for each thread, by caller: see bares[] */
};

static HOT_DATA uint32_t forks; /* number of forks that led to this process */

/*
 * A room has the memory of one walk (5.3 KiB, too much for a thread's stack of PTHREAD_STACK_MIN)
 * and the state that earlier walks leave for later ones. If a signal handler jumps out of a walk,
 * the room stays taken. If all rooms are taken, capture_here() makes the walk.
 */
static struct room {
	_Alignas(64) atomic_bool taken;
	struct walk_memory *memory; /* NULL before the first walk in this room */
} rooms[WALKS];

static uint32_t native_frame(void *pc, uint32_t *owner)
{
	const struct module *module = modules_find((uint64_t)pc - 1);
	struct spool_frame frame = { .language = FRAME_NATIVE, .offset = (uint64_t)pc };

	if (module) {
		frame.module = module->row;
		frame.offset -= module->at.base;
	}
	if (!*owner && module)
		*owner = modules_owner(module);
	return intern_frame(record_intern(), &frame);
}

static uint32_t python_frame(const struct python_frame *frame)
{
	static struct python_name name; /* large, so static; the recorder's lock guards it */
	struct spool_frame row = { .language = FRAME_PYTHON };

	if (!python_name(frame, &name))
		return 0;
	row.function = record_text(name.function);
	row.file = record_text(name.file);
	row.line = name.line > 0 ? (uint32_t)name.line : 0;
	return intern_frame(record_intern(), &row);
}

static void mark_modules(void *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct module *module = modules_find((uint64_t)addresses[i] - 1);

		if (module)
			module->walked = true;
	}
}

/* Returns the stack's number. If the stack is new, adds it with the names of its frames, since the
 * names of Python frames can be read only while the frames run. */
static uint32_t enter_stack(const struct walk *walk)
{
	static uint32_t frames[WALK_NATIVE + WALK_PYTHON]; /* the recorder's lock guards them */
	struct intern_steps steps = {
		.frames = frames,
		.via_forward = walk->via.forward,
		.via_backward = walk->via.backward,
		.known = walk->unloaded != 0,
	};
	uint32_t count = 0;
	uint32_t id;

	/* Marked for dlclose(): libunwind caches data of each module that it has walked through. */
	mark_modules(walk->buffer, walk->count);
	mark_modules(walk->native, walk->native_count);
	id = intern_stack_find(record_intern(), walk->hash);
	if (id)
		return id;
	for (size_t i = 0; i < walk->native_count; i++) {
		uint32_t frame = native_frame(walk->native[i], &steps.owner);

		if (frame)
			frames[count++] = frame;
	}
	steps.native = (uint16_t)count;
	for (unsigned i = 0; i < walk->python.count; i++) {
		uint32_t frame = python_frame(&walk->frames[i]);

		if (!frame)
			continue;
		if (walk->frames[i].entry && count - steps.native < 64)
			steps.entries |= 1ull << (count - steps.native);
		frames[count++] = frame;
	}
	steps.python = (uint16_t)(count - steps.native);
	return intern_stack(record_intern(), walk->hash, &steps);
}

static bool all_known(void *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!modules_find((uint64_t)addresses[i] - 1))
			return false;
	}
	return true;
}

/* True if the list of modules has changed since the last call of guest_loaded(), which takes the
 * loader's lock and is therefore called only in walks with `may_load`. */
static atomic_bool loaded_since;

/* Records a stack that may be new; first updates the list of modules, if allowed or necessary. */
static void name_walk(void *argument)
{
	struct walk *walk = argument;
	bool refreshes = walk->may_load;

	walk->id = 0;
	if (record_held()) /* signals are deferred, so a wait for the lock would not end */
		return;
	walk_list(walk);
	if (!python_list(&walk->python))
		walk->python.count = 0;
	if (!refreshes) {
		record_lock();
		refreshes = modules_stale() || !all_known(walk->native, walk->native_count) ||
			    (walk->learnt && !all_known(walk->buffer, walk->count));
		record_unlock();
	}
	if (refreshes && modules_refresh())
		atomic_store(&loaded_since, true);
	if (walk->may_load && atomic_exchange(&loaded_since, false))
		guest_loaded();
	record_lock();
	walk->id = enter_stack(walk);
	record_unlock();
}

/* Mixes the hash with `forks`, so that numbers cached before a fork() are not found afterwards. */
static inline uint64_t sum_of(struct hash128 hash)
{
	return hash.a + hash.b * HASH_C + forks;
}

/* The stack number cached in `next` if it belongs to `sum`, else 0. The number is read twice,
 * because an interrupting signal handler may store another number in between. */
static inline uint32_t recall(const struct predict_next *next, uint64_t sum)
{
	uint32_t id = next->stack;
	bool same;

	atomic_signal_fence(memory_order_seq_cst);
	same = id && next->sum == sum;
	atomic_signal_fence(memory_order_seq_cst);
	return same && next->stack == id ? id : 0;
}

static inline void note(struct predict_next *next, uint64_t sum, uint32_t id)
{
	next->stack = 0; /* invalid meanwhile: a signal handler may interrupt or jump out */
	atomic_signal_fence(memory_order_seq_cst);
	next->sum = sum;
	atomic_signal_fence(memory_order_seq_cst);
	next->stack = id;
}

/* The number of the stack with this hash, 0 if it is new. Cached in `next`, if that is not NULL. */
static inline uint32_t find_stack(struct predict_next *next, struct hash128 hash)
{
	uint32_t id = next ? recall(next, sum_of(hash)) : 0;

	if (id)
		return id;
	id = intern_stack_find(record_intern(), hash);
	if (next && id)
		note(next, sum_of(hash), id);
	return id;
}

/* The cache entry for the stack's number, found by prediction or by hash; NULL if there is none. */
static inline struct predict_next *next_of(struct walk *walk, struct walk_memory *memory)
{
	if (walk->next || !memory)
		return walk->next;
	return &memory->predict.next[walk->hash.a % PREDICT_NEXT];
}

/* The number of this thread's stack. Inlined, since each frame takes 100 instructions to unwind. */
static INLINED uint32_t capture_in(struct walk *walk, struct walk_memory *memory, void *caller,
				   void *const *frame, bool may_load)
{
	uint32_t id;

	walk->may_load = may_load;
	walk_stack(walk, memory, caller, frame);
	id = find_stack(next_of(walk, memory), walk->hash);
	if (memory)
		predict_ahead(&memory->predict);
	if (__builtin_expect(id && !walk->learnt, 1))
		return id;
	own_stack_call(name_walk, walk);
	return walk->id;
}

struct capturing {
	void *caller;
	bool may_load;
	uint32_t id;
};

static void capture_apart(void *argument)
{
	struct capturing *capturing = argument;
	struct python_trail trail;
	struct walk walk;

	/* The rest of the trail (13 KiB) needs no zeros: it is written before it is read. */
	trail.last = trail.high = trail.good = 0;
	trail.sum[0] = 0;
	trail.frames[0] = 0;
	walk.python.trail = &trail;
	capturing->id = capture_in(&walk, NULL, capturing->caller, NULL, capturing->may_load);
}

/* Like capture_in(), without a room: the walk's memory is on a stack that this library provides. */
static uint32_t capture_here(void *caller, bool may_load)
{
	struct capturing capturing = { caller, may_load, 0 };

	own_stack_call(capture_apart, &capturing);
	return capturing.id;
}

/* Takes a free room (the memory of one walk); NULL if all are taken. A thread mostly gets the same
 * room again, where the state of its last walks speeds up the next walk. A room's memory is
 * allocated at the room's first use. */
static inline struct room *take_room(void)
{
	static _Atomic unsigned threads;
	static HOT_THREAD _Thread_local unsigned first; /* 1 + index in `rooms` to try first */

	if (__builtin_expect(!first, 0))
		first = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % HOMES;
	for (unsigned i = 0; i < WALKS; i++) {
		struct room *room = &rooms[(first - 1 + i) % WALKS];

		if (atomic_exchange_explicit(&room->taken, true, memory_order_acquire))
			continue;
		if (__builtin_expect(!room->memory, 0))
			room->memory = pages_grow(NULL, 0, sizeof(struct walk_memory));
		return room;
	}
	return NULL;
}

/* Cache of stack numbers by caller, for MEMTRACE_STACKS=none, where stacks have one frame. */
static _Thread_local struct predict_next bares[BARES];

static HOT_CODE uint32_t capture_bare(void *caller, bool may_load)
{
	struct hash128 of = { (uint64_t)(uintptr_t)caller, unload_word() };
	struct predict_next *bare = &bares[(of.a * HASH_A >> 32) % BARES];
	uint32_t id = recall(bare, sum_of(of));

	if (__builtin_expect(!id, 0)) {
		id = capture_here(caller, may_load);
		note(bare, sum_of(of), id);
	}
	return id;
}

HOT_CODE uint32_t stacks_capture(void *caller, void *const *frame, bool may_load)
{
	struct room *room;
	uint32_t id;

	if (!walk_is_wanted())
		return capture_bare(caller, may_load);
	room = take_room();
	if (__builtin_expect(room && room->memory, 1))
		id = capture_in(&room->memory->walk, room->memory, caller, frame, may_load);
	else
		id = capture_here(caller, may_load);
	if (room)
		atomic_store_explicit(&room->taken, false, memory_order_release);
	return id;
}

void stacks_forked(void)
{
	forks++;
	step_forked();
	for (int i = 0; i < WALKS; i++) {
		if (!atomic_load(&rooms[i].taken))
			continue;
		if (rooms[i].memory)
			walk_forget(rooms[i].memory);
		atomic_store(&rooms[i].taken, false);
	}
}

struct owner_search {
	void *caller;
	char *name;
	size_t size;
};

static void find_owner(void *argument)
{
	const struct owner_search *search = argument;
	struct walk walk;

	walk_unwind(&walk, search->caller);
	for (size_t i = 0; i < walk.native_count && !search->name[0]; i++) {
		const char *module = resolve_module((char *)walk.native[i] - 1);

		if (module[0] && !modules_is_runtime(module))
			text_copy(search->name, search->size, module);
	}
}

void stacks_owner(char *name, size_t size, void *caller)
{
	name[0] = '\0';
	loader_call(find_owner, &(struct owner_search){ caller, name, size });
}
