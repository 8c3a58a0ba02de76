/*
 * Names of pseudo-stacks, which stand for bytes that no call took: the library writes them, and
 * what reads a trace knows them again.
 */
#ifndef CODEC_PSEUDO_STACKS_H
#define CODEC_PSEUDO_STACKS_H

#define PSEUDO_NOT_RECORDED "[not recorded]"
#define PSEUDO_NOT_SAMPLED "[not sampled]" /* what the samples stand for */
#define PSEUDO_GRAPH_MEMORY "[graph memory]"

#endif
