/*
 * Streams of the simulated driver. Their work is done when a call returns; what they have is a
 * state of capture.
 */
#include "fake.h"

#include <stdlib.h>

struct stream {
	CUstreamCaptureStatus capture;
	struct stream *next;
};

static struct stream *streams;

static CUstream handle_of(struct stream *stream)
{
	return (CUstream)(void *)stream;
}

/* The default streams are there without being made. */
static bool is_default(CUstream handle)
{
	return !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

static struct stream *stream_of(CUstream handle)
{
	struct stream *stream = streams;

	while (stream && handle_of(stream) != handle)
		stream = stream->next;
	return stream;
}

static CUresult find(CUstream handle, struct stream **stream)
{
	*stream = is_default(handle) ? NULL : stream_of(handle);
	return is_default(handle) || *stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult stream_known(CUstream handle)
{
	struct stream *stream;

	return find(handle, &stream);
}

CUresult stream_capturing(CUstream handle, bool *capturing)
{
	struct stream *stream;
	CUresult status = find(handle, &stream);

	*capturing = stream && stream->capture == CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (stream && stream->capture == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	return status;
}

CUresult cuStreamCreate(CUstream *handle, unsigned int flags)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct stream *stream = NULL;

	(void)flags;
	if (status == CUDA_SUCCESS && !handle)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		stream = calloc(1, sizeof(*stream));
		status = stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS) {
		stream->next = streams;
		streams = stream;
		*handle = handle_of(stream);
	}
	return call_end(status);
}

CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned int flags, int priority)
{
	(void)priority;
	return cuStreamCreate(handle, flags);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
	CUresult status = call_begin();
	struct stream *stream = status == CUDA_SUCCESS ? stream_of(handle) : NULL;
	struct stream **link = &streams;

	if (status == CUDA_SUCCESS && !stream)
		status = CUDA_ERROR_INVALID_HANDLE;
	if (status == CUDA_SUCCESS) {
		while (*link != stream)
			link = &(*link)->next;
		*link = stream->next;
		free(stream);
	}
	return call_end(status);
}

CUresult cuStreamSynchronize(CUstream handle)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct stream *stream = NULL;

	if (status == CUDA_SUCCESS)
		status = find(handle, &stream);
	if (status == CUDA_SUCCESS && stream && stream->capture != CU_STREAM_CAPTURE_STATUS_NONE) {
		stream->capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	if (status == CUDA_SUCCESS)
		pools_synchronize();
	return call_end(status);
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *capture)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct stream *stream = NULL;

	if (status == CUDA_SUCCESS)
		status = find(handle, &stream);
	if (status == CUDA_SUCCESS)
		*capture = stream ? stream->capture : CU_STREAM_CAPTURE_STATUS_NONE;
	return call_end(status);
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct stream *stream = NULL;

	(void)mode;
	if (status == CUDA_SUCCESS)
		status = find(handle, &stream);
	if (status == CUDA_SUCCESS && !stream) /* a default stream */
		status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (status == CUDA_SUCCESS && stream->capture != CU_STREAM_CAPTURE_STATUS_NONE)
		status = CUDA_ERROR_ILLEGAL_STATE;
	if (status == CUDA_SUCCESS)
		stream->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return call_end(status);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *made)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct stream *stream = NULL;

	if (status == CUDA_SUCCESS)
		status = find(handle, &stream);
	if (status == CUDA_SUCCESS && (!stream || stream->capture == CU_STREAM_CAPTURE_STATUS_NONE))
		status = CUDA_ERROR_ILLEGAL_STATE;
	if (status == CUDA_SUCCESS) {
		if (stream->capture == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
			status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
		*made = status == CUDA_SUCCESS ? graph_captured() : NULL;
		stream->capture = CU_STREAM_CAPTURE_STATUS_NONE;
	}
	return call_end(status);
}
