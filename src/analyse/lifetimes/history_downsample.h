/*
 * A long history made shorter: what tells least is told in sums.
 *
 * Blocks of a device that were small or short-lived (bytes times events lived) go; in their place
 * stand folds, events of op HISTORY_FOLD: from there on until its death so many blocks of one
 * stack, place and category hold so many bytes together. Folds stand at the ends of slices and in
 * front of each peak, so what lives is exact there; the sums (history->sums) are exact at every
 * event that is left, and each slice keeps the events at which a device's sum is highest and
 * lowest.
 */
#ifndef ANALYSE_LIFETIMES_HISTORY_DOWNSAMPLE_H
#define ANALYSE_LIFETIMES_HISTORY_DOWNSAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct history;

struct history_folded {
	uint64_t events, blocks; /* that are told in sums */
	uint64_t largest;        /* bytes of the largest of the blocks */
	uint64_t folds;          /* events in their place */
	uint64_t slices;
};

/* Leaves about `most` events, if there are more: 0 or -ENOMEM. */
int history_fold(struct history *history, size_t most, struct history_folded *folded);

#endif
