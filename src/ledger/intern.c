/*
 * Gives each distinct text, module, frame and stack one row of the spool.
 *
 * A row and its key are written with signals deferred: a signal handler that leaves by longjmp() in
 * between would leave a row that cannot be found.
 */
#include "ledger/intern.h"

#include <string.h>

#include "base/guest/signals.h"

enum {
	TEXT_MOST = 16 << 10, /* bytes; longer texts are cut */
	STACK_KEYS = 1 << 21, /* maximum size of the map of stacks; a stack may have several keys */
};

static const struct hash128 seed = { HASH_A, HASH_B };

static const uint64_t bounds[SPOOL_KINDS] = {
#define BOUND(kind, most, what) [SPOOL_##kind] = (most),
#include "ledger/bounds.def"
};

bool intern_full(struct spool *spool, enum spool_kind kind, uint64_t rows)
{
	if (__builtin_expect(!bounds[kind] || spool_count(spool, kind) + rows <= bounds[kind], 1))
		return false;
	spool->header->left_out[kind]++;
	return true;
}

int intern_init(struct intern *intern, struct spool *spool)
{
	int error;

	memset(intern, 0, sizeof(*intern));
	intern->spool = spool;
	error = spool_need(spool, SPOOL_TEXT, 0) ?: spool_need(spool, SPOOL_STACK, 0);
	if (error)
		return error;
	spool_add_rows(spool, SPOOL_TEXT, 1);
	intern_pseudo_stack(intern, PSEUDO_NOT_RECORDED, 0, SPACE_DEVICE);
	return 0;
}

void intern_clear(struct intern *intern)
{
	map_clear(&intern->texts);
	map_clear(&intern->modules);
	map_clear(&intern->frames);
	map_clear(&intern->stacks);
	memset(intern, 0, sizeof(*intern));
}

static uint32_t add_text(struct intern *intern, const char *text, size_t length)
{
	struct spool *spool = intern->spool;
	uint64_t at = spool_count(spool, SPOOL_TEXT);
	size_t left = SPOOL_BLOCK - (at & (SPOOL_BLOCK - 1));

	/* A text never crosses the end of a block. The last byte of each block stays free for the
	 * NUL that analyse/spool/read.c writes there. */
	if (left <= length + 1)
		at += left;
	if (intern_full(spool, SPOOL_TEXT, at + length + 1 - spool_count(spool, SPOOL_TEXT)) ||
	    spool_need(spool, SPOOL_TEXT, at))
		return 0;
	memcpy(spool_at(spool, SPOOL_TEXT, at), text, length);
	spool_add_rows(spool, SPOOL_TEXT, at + length + 1 - spool_count(spool, SPOOL_TEXT));
	return (uint32_t)at;
}

static uint32_t enter_text(struct intern *intern, uint64_t key, const char *text, size_t length)
{
	SIGNALS_DEFERRED();
	uint32_t id = add_text(intern, text, length);

	if (id)
		map_put(&intern->texts, key, id);
	return id;
}

uint32_t intern_text_n(struct intern *intern, const char *text, size_t length)
{
	uint64_t key;
	uint32_t id;

	if (length > TEXT_MOST)
		length = TEXT_MOST;
	for (key = hash_bytes(text, length);; key = hash_mix(key, length)) {
		const char *known;

		id = map_get(&intern->texts, key);
		known = spool_text(intern->spool, id);
		if (!known)
			break;
		if (!strncmp(known, text, length) && !known[length])
			return id;
	}
	return length ? enter_text(intern, key, text, length) : 0;
}

uint32_t intern_text(struct intern *intern, const char *text)
{
	return text ? intern_text_n(intern, text, strlen(text)) : 0;
}

void intern_fact(struct intern *intern, const char *key, const char *value)
{
	if (!intern_full(intern->spool, SPOOL_FACT, 1))
		spool_append(intern->spool, SPOOL_FACT,
			     &(struct spool_fact){ .key = intern_text(intern, key),
						   .value = intern_text(intern, value) });
}

void intern_thread(struct intern *intern, uint32_t thread, const char *name, uint64_t t)
{
	if (!intern_full(intern->spool, SPOOL_THREAD, 1))
		spool_append(intern->spool, SPOOL_THREAD,
			     &(struct spool_thread){ thread, intern_text(intern, name), t });
}

/* Finds or adds the row with the key `words`. Returns 1 + its position, 0 if there is no room. */
static uint32_t intern_row(struct intern *intern, enum spool_kind kind, struct map *map,
			   const uint64_t *words, size_t words_n, const void *from)
{
	uint64_t key = hash_words(seed, words, words_n).a;
	uint32_t id = map_get(map, key);

	if (id)
		return id;
	SIGNALS_DEFERRED();
	if (!intern_full(intern->spool, kind, 1) && spool_append(intern->spool, kind, from)) {
		id = (uint32_t)spool_count(intern->spool, kind);
		map_put(map, key, id);
	}
	return id;
}

uint32_t intern_module(struct intern *intern, const struct spool_module *module)
{
	uint64_t words[] = { (uint64_t)module->path << 32 | module->build_id,
			     module->high - module->low, module->low - module->base };

	return intern_row(intern, SPOOL_MODULE, &intern->modules, words, 3, module);
}

uint32_t intern_frame(struct intern *intern, const struct spool_frame *frame)
{
	uint64_t words[sizeof(*frame) / 8];

	memcpy(words, frame, sizeof(words));
	return intern_row(intern, SPOOL_FRAME, &intern->frames, words, sizeof(words) / 8, frame);
}

uint32_t intern_stack_find(const struct intern *intern, struct hash128 hash)
{
	uint32_t id = map_get(&intern->stacks, hash.a);
	const struct spool_stack *row;

	if (!id)
		return 0;
	row = spool_at(intern->spool, SPOOL_STACK, id);
	return __atomic_load_n(&row->hash[1], __ATOMIC_RELAXED) == hash.b ? id : 0;
}

static bool same_steps(const struct spool *spool, const struct spool_stack *row,
		       const struct intern_steps *steps)
{
	if (row->native != steps->native || row->python != steps->python ||
	    row->entries != steps->entries || row->via_forward != steps->via_forward ||
	    row->via_backward != steps->via_backward)
		return false;
	for (uint32_t i = 0; i < (uint32_t)steps->native + steps->python; i++) {
		if (*(uint32_t *)spool_at(spool, SPOOL_STEP, row->step + i) != steps->frames[i])
			return false;
	}
	return true;
}

/* A key made from a stack's frames. It does not depend on where the libraries are loaded. */
static uint64_t key_of_steps(const struct intern_steps *steps)
{
	uint64_t key =
		hash_mix(steps->entries, (uint64_t)steps->via_forward << 32 | steps->via_backward);

	for (uint32_t i = 0; i < (uint32_t)steps->native + steps->python; i++)
		key = hash_mix(key, steps->frames[i]);
	return key;
}

static uint64_t key_of_row(const struct spool *spool, const struct spool_stack *row)
{
	uint64_t key = hash_mix(row->entries, (uint64_t)row->via_forward << 32 | row->via_backward);

	for (uint32_t i = 0; i < (uint32_t)row->native + row->python; i++)
		key = hash_mix(key, *(uint32_t *)spool_at(spool, SPOOL_STEP, row->step + i));
	return key;
}

/* Enters a key made from the frames of each stack. Done only once a library has been unloaded,
 * because until then, these keys would take memory without being used. */
static void enter_keys_of_steps(struct intern *intern)
{
	const struct spool *spool = intern->spool;

	for (uint32_t id = 1; !intern->by_steps && id < spool_count(spool, SPOOL_STACK); id++)
		map_put(&intern->stacks, key_of_row(spool, spool_at(spool, SPOOL_STACK, id)), id);
	intern->by_steps = true;
}

/* Returns the stack with the same frames, after giving it the new hash; 0 if there is none. */
static uint32_t rename_stack(struct intern *intern, struct hash128 hash,
			     const struct intern_steps *steps)
{
	struct spool_stack *row;
	uint32_t id;

	enter_keys_of_steps(intern);
	id = map_get(&intern->stacks, key_of_steps(steps));
	row = spool_at(intern->spool, SPOOL_STACK, id);
	if (!id || !same_steps(intern->spool, row, steps))
		return 0;
	row->hash[0] = hash.a;
	__atomic_store_n(&row->hash[1], hash.b, __ATOMIC_RELAXED);
	/* Libraries that are loaded again and again, at ever new addresses, would fill the map.
	 * Above the limit, their stacks are found only by their frames. */
	if (intern->stacks.used < STACK_KEYS)
		map_put(&intern->stacks, hash.a, id);
	return id;
}

static uint32_t add_stack(struct intern *intern, struct hash128 hash,
			  const struct intern_steps *steps)
{
	struct spool *spool = intern->spool;
	uint32_t count = (uint32_t)steps->native + steps->python;
	uint64_t step = spool_count(spool, SPOOL_STEP);
	struct spool_stack *row = spool_next_row(spool, SPOOL_STACK);
	uint32_t id = (uint32_t)spool_count(spool, SPOOL_STACK);

	if (!row || spool_need(spool, SPOOL_STEP, step + count))
		return 0;
	for (uint32_t i = 0; i < count; i++)
		*(uint32_t *)spool_at(spool, SPOOL_STEP, step + i) = steps->frames[i];
	spool_add_rows(spool, SPOOL_STEP, count);
	*row = (struct spool_stack){
		.step = (uint32_t)step,
		.native = steps->native,
		.python = steps->python,
		.owner = steps->owner,
		.entries = steps->entries,
		.hash = { hash.a, hash.b },
		.via_forward = steps->via_forward,
		.via_backward = steps->via_backward,
	};
	spool_add_rows(spool, SPOOL_STACK, 1);
	return id;
}

static uint32_t add_named_frame(struct intern *intern, const char *name)
{
	const struct spool_frame frame = { .language = FRAME_NAMED,
					   .function = intern_text(intern, name) };

	return intern_frame(intern, &frame);
}

static uint32_t too_many(struct intern *intern)
{
	uint32_t step;

	if (!intern->too_many) {
		step = add_named_frame(intern, "[too many stacks]");
		intern->too_many =
			add_stack(intern, seed,
				  &(struct intern_steps){ .frames = &step, .native = step != 0 });
	}
	return intern->too_many;
}

/* Adds a stack. Without room, the stack's hash is not stored, so each use of it ends up here. */
static uint32_t enter_stack(struct intern *intern, struct hash128 hash,
			    const struct intern_steps *steps)
{
	uint32_t count = (uint32_t)steps->native + steps->python;
	uint32_t id = steps->known ? rename_stack(intern, hash, steps) : 0;

	if (id)
		return id;
	if (intern_full(intern->spool, SPOOL_STACK, 1) ||
	    intern_full(intern->spool, SPOOL_STEP, count))
		return too_many(intern);
	id = add_stack(intern, hash, steps);
	if (id && map_put(&intern->stacks, hash.a, id) && intern->by_steps)
		map_put(&intern->stacks, key_of_steps(steps), id);
	return id;
}

uint32_t intern_stack(struct intern *intern, struct hash128 hash, const struct intern_steps *steps)
{
	SIGNALS_DEFERRED();
	return enter_stack(intern, hash, steps);
}

uint32_t intern_pseudo_stack(struct intern *intern, const char *name, uint32_t owner,
			     enum space space)
{
	uint64_t words[] = { hash_bytes(name, strlen(name)), (uint64_t)space << 32 | owner };
	struct hash128 hash = hash_words(seed, words, words[1] ? 2 : 1);
	uint32_t id = intern_stack_find(intern, hash);
	uint32_t step = id ? 0 : add_named_frame(intern, name);

	if (id || !step)
		return id;
	return intern_stack(intern, hash,
			    &(struct intern_steps){ .frames = &step, .native = 1, .owner = owner });
}
