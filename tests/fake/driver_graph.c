/*
 * Graphs, as far as memory goes: nodes that allocate and free, and what a launch of them takes.
 *
 * An allocation has its address as soon as the node is made and memory when the graph is uploaded
 * or launched. What a graph frees stays with its device, for the next launch, until it is trimmed;
 * what it does not free is allocated until a call outside of it frees it.
 */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK (32 * MIB)
#define ADDRESSES (MIB * 1024 * 4) /* reserved at a time */

struct node {
	bool allocates;
	uint64_t address;
	uint64_t size;
	struct device *device;
	struct node *next;
};

/* What a launch allocated and nothing has freed yet. */
struct piece {
	uint64_t address;
	uint64_t size;
	struct device *device;
	struct piece *next;
};

/* Graphs and what is instantiated from them: both are a list of nodes. */
struct graph {
	bool instantiated;
	struct node *nodes;
	struct node **end;
	struct graph *next;
};

static struct graph *graphs;
static struct graph captured; /* what streams that capture have recorded so far */
static struct piece *pieces;
static struct {
	uint64_t next, end;
} addresses;

static struct {
	struct figure used, reserved;
} memory[DEVICES_MAX];

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

/* --- graphs and nodes ---------------------------------------------------------------------- */

static struct graph *graph_new(bool instantiated)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->instantiated = instantiated;
	graph->end = &graph->nodes;
	graph->next = graphs;
	graphs = graph;
	return graph;
}

static struct graph *graph_of(const void *handle, bool instantiated)
{
	struct graph *graph = graphs;

	while (graph && (void *)graph != handle)
		graph = graph->next;
	return graph && graph->instantiated == instantiated ? graph : NULL;
}

static struct node *node_add(struct graph *graph, const struct node *from)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		return NULL;
	*node = *from;
	node->next = NULL;
	if (!graph->end)
		graph->end = &graph->nodes;
	*graph->end = node;
	graph->end = &node->next;
	return node;
}

static struct node *node_find(const struct graph *graph, uint64_t address)
{
	struct node *node = graph->nodes;

	while (node && (!node->allocates || node->address != address))
		node = node->next;
	return node;
}

static void graph_delete(struct graph *graph)
{
	struct graph **link = &graphs;

	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
	for (struct node *node = graph->nodes; node;) {
		struct node *next = node->next;

		free(node);
		node = next;
	}
	free(graph);
}

static uint64_t address_new(uint64_t size)
{
	uint64_t base;

	size = round_up(size, GRANULE);
	if (addresses.end - addresses.next < size) {
		uint64_t more = size > ADDRESSES ? size : ADDRESSES;

		addresses.next = address_reserve(more, GRANULE, false);
		addresses.end = addresses.next ? addresses.next + more : 0;
	}
	base = addresses.next;
	if (base)
		addresses.next += size;
	return base;
}

static struct node *add_alloc(struct graph *graph, struct device *device, uint64_t size)
{
	struct node node = { .allocates = true, .size = size, .device = device };

	node.address = address_new(size);
	return node.address ? node_add(graph, &node) : NULL;
}

static struct node *add_free(struct graph *graph, uint64_t address)
{
	struct node *from = node_find(graph, address);
	struct node node = { .address = address };

	if (!from)
		return NULL;
	node.size = from->size;
	node.device = from->device;
	return node_add(graph, &node);
}

uint64_t graph_capture_alloc(struct device *device, uint64_t size)
{
	struct node *node = size ? add_alloc(&captured, device, size) : NULL;

	return node ? node->address : 0;
}

bool graph_capture_free(uint64_t address)
{
	return add_free(&captured, address) != NULL;
}

CUgraph graph_captured(void)
{
	struct graph *graph = graph_new(false);

	if (!graph)
		return NULL;
	for (struct node *node = captured.nodes; node; node = node->next)
		node_add(graph, node);
	while (captured.nodes) {
		struct node *next = captured.nodes->next;

		free(captured.nodes);
		captured.nodes = next;
	}
	captured.end = NULL;
	return (CUgraph)(void *)graph;
}

/* --- memory -------------------------------------------------------------------------------- */

static bool reserve(struct device *device, uint64_t bytes)
{
	struct figure *reserved = &memory[device->ordinal].reserved;
	uint64_t wanted = round_up(bytes, CHUNK);

	if (wanted <= reserved->current)
		return true;
	if (!device_take(device, wanted - reserved->current))
		return false;
	account_pool_reserve(device, reserved->current, wanted);
	/* To the driver all of it is in use: what a graph maps, it keeps mapped until it is
	 * trimmed. */
	account_add(device, KIND_GRAPH, wanted - reserved->current);
	reserved->current = wanted;
	if (wanted > reserved->peak)
		reserved->peak = wanted;
	return true;
}

/* The most that the nodes hold of a device at once, one after another, on top of what is used. */
static uint64_t needed(const struct graph *graph, const struct device *device)
{
	uint64_t now = memory[device->ordinal].used.current;
	uint64_t most = now;

	for (const struct node *node = graph->nodes; node; node = node->next) {
		if (node->device != device)
			continue;
		now = node->allocates ? now + node->size : now - node->size;
		most = now > most ? now : most;
	}
	return most;
}

static bool reserve_all(const struct graph *graph)
{
	for (unsigned int i = 0; i < device_count(); i++)
		if (!reserve(device_at((int)i), needed(graph, device_at((int)i))))
			return false;
	return true;
}

static bool piece_add(const struct node *node)
{
	struct piece *piece = malloc(sizeof(*piece));
	struct figure *used = &memory[node->device->ordinal].used;

	if (!piece)
		return false;
	*piece = (struct piece){ node->address, node->size, node->device, pieces };
	pieces = piece;
	used->current += node->size;
	if (used->current > used->peak)
		used->peak = used->current;
	return true;
}

bool graph_range(uint64_t address, uint64_t *base, uint64_t *size)
{
	for (const struct piece *piece = pieces; piece; piece = piece->next) {
		if (address - piece->address >= piece->size)
			continue;
		*base = piece->address;
		*size = piece->size;
		return true;
	}
	return false;
}

bool graph_free(uint64_t address)
{
	struct piece **link = &pieces;
	struct piece *piece;

	while (*link && (*link)->address != address)
		link = &(*link)->next;
	piece = *link;
	if (!piece)
		return false;
	*link = piece->next;
	memory[piece->device->ordinal].used.current -= piece->size;
	free(piece);
	return true;
}

/* A graph that still holds what it allocated cannot run again. */
static bool holds(const struct graph *graph)
{
	for (const struct piece *piece = pieces; piece; piece = piece->next)
		if (node_find(graph, piece->address))
			return true;
	return false;
}

static CUresult launch(const struct graph *exec)
{
	if (!exec || holds(exec))
		return CUDA_ERROR_INVALID_VALUE;
	if (!reserve_all(exec))
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (const struct node *node = exec->nodes; node; node = node->next) {
		if (!node->allocates)
			graph_free(node->address);
		else if (!piece_add(node))
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

/* --- calls --------------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *handle, unsigned int flags)
{
	CUresult status = call_begin();
	struct graph *graph = NULL;

	if (status == CUDA_SUCCESS && (!handle || flags))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		graph = graph_new(false);
		status = graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS)
		*handle = (CUgraph)(void *)graph;
	return call_end(status);
}

CUresult cuGraphDestroy(CUgraph handle)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !graph_of(handle, false))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		graph_delete(graph_of(handle, false));
	return call_end(status);
}

static CUresult make_alloc(CUgraphNode *made, CUgraph handle, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	struct graph *graph = graph_of(handle, false);
	struct device *device;
	struct node *node;

	if (!made || !graph || !params || !params->bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	device = device_at(params->poolProps.location.id);
	if (!device || params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	node = add_alloc(graph, device, params->bytesize);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	params->dptr = node->address;
	*made = (CUgraphNode)(void *)node;
	return CUDA_SUCCESS;
}

static CUresult make_free(CUgraphNode *made, CUgraph handle, CUdeviceptr ptr)
{
	struct graph *graph = graph_of(handle, false);
	struct node *node = made && graph ? add_free(graph, ptr) : NULL;

	if (node)
		*made = (CUgraphNode)(void *)node;
	return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult make_node(CUgraphNode *made, CUgraph graph, CUgraphNodeParams *params)
{
	switch (params ? (int)params->type : -1) {
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return make_alloc(made, graph, (CUDA_MEM_ALLOC_NODE_PARAMS *)&params->alloc);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return make_free(made, graph, params->free.dptr);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	CUresult status = call_begin();

	(void)after;
	(void)count;
	if (status == CUDA_SUCCESS)
		status = make_alloc(node, graph, params);
	return call_end(status);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			       size_t count, CUdeviceptr ptr)
{
	CUresult status = call_begin();

	(void)after;
	(void)count;
	if (status == CUDA_SUCCESS)
		status = make_free(node, graph, ptr);
	return call_end(status);
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			CUgraphNodeParams *params)
{
	CUresult status = call_begin();

	(void)after;
	(void)count;
	if (status == CUDA_SUCCESS)
		status = make_node(node, graph, params);
	return call_end(status);
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
			   const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params)
{
	CUresult status = call_begin();

	(void)after;
	(void)edges;
	(void)count;
	if (status == CUDA_SUCCESS)
		status = make_node(node, graph, params);
	return call_end(status);
}

static CUresult instantiate(CUgraphExec *handle, CUgraph from, const char *name)
{
	CUresult status = call_begin_named(name);
	const struct graph *graph = graph_of(from, false);
	struct graph *exec = NULL;

	if (status == CUDA_SUCCESS && (!handle || !graph))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		exec = graph_new(true);
		status = exec ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS) {
		for (const struct node *node = graph->nodes; node; node = node->next)
			node_add(exec, node);
		*handle = (CUgraphExec)(void *)exec;
	}
	return call_end(status);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *handle, CUgraph from, unsigned long long flags)
{
	(void)flags;
	return instantiate(handle, from, __func__);
}

/* What else the parameters may ask for (upload, device launch) is not modelled. */
CUresult cuGraphInstantiateWithParams(CUgraphExec *handle, CUgraph from,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	(void)params;
	return instantiate(handle, from, __func__);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *handle, CUgraph from,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	(void)params;
	return instantiate(handle, from, __func__);
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !graph_of(handle, true))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		graph_delete(graph_of(handle, true));
	return call_end(status);
}

static CUresult upload(const struct graph *exec)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	return reserve_all(exec) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)stream;
	return call_end(status == CUDA_SUCCESS ? upload(graph_of(exec, true)) : status);
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)stream;
	return call_end(status == CUDA_SUCCESS ? upload(graph_of(exec, true)) : status);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)stream;
	return call_end(status == CUDA_SUCCESS ? launch(graph_of(exec, true)) : status);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	(void)stream;
	return call_end(status == CUDA_SUCCESS ? launch(graph_of(exec, true)) : status);
}

/* --- what a device keeps for graphs -------------------------------------------------------- */

CUresult cuDeviceGraphMemTrim(CUdevice ordinal)
{
	CUresult status = call_begin();
	struct device *device = device_at(ordinal);
	uint64_t kept;

	if (status == CUDA_SUCCESS && !device)
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS) {
		struct figure *reserved = &memory[ordinal].reserved;

		kept = round_up(memory[ordinal].used.current, CHUNK);
		if (kept < reserved->current) {
			device_give(device, reserved->current - kept);
			account_pool_reserve(device, reserved->current, kept);
			account_remove(device, KIND_GRAPH, reserved->current - kept);
			reserved->current = kept;
		}
	}
	return call_end(status);
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
	CUresult status = call_begin();
	cuuint64_t *number = value;

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS && (!value || (unsigned int)attribute > 3))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		const uint64_t values[] = {
			[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = memory[device].reserved.current,
			[CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = memory[device].reserved.peak,
			[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = memory[device].reserved.current,
			[CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = memory[device].reserved.peak,
		};

		*number = values[attribute];
	}
	return call_end(status);
}
