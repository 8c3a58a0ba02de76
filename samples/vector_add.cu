/*
 * Holds three vectors of 4 MiB while a kernel adds two of them, and frees them all.
 *
 * The sample for a real GPU and nvcc; it links the CUDA runtime statically, as nvcc does.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static const size_t count = (size_t)1 << 20;
static const size_t bytes = count * sizeof(float);

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "vector_add: %s\n", cudaGetErrorString(error));
	exit(1);
}

__global__ void add(const float *a, const float *b, float *sum, size_t n)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		sum[i] = a[i] + b[i];
}

__attribute__((noinline)) float *device_vector(void)
{
	float *vector = NULL;

	must(cudaMalloc(&vector, bytes));
	return vector;
}

int main(void)
{
	std::vector<float> a(count, 1.0f), b(count, 2.0f), sum(count);
	float *device_a = device_vector();
	float *device_b = device_vector();
	float *device_sum = device_vector();
	size_t wrong = 0;

	must(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
	must(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));
	add<<<(unsigned int)((count + 255) / 256), 256>>>(device_a, device_b, device_sum, count);
	must(cudaGetLastError());
	must(cudaMemcpy(sum.data(), device_sum, bytes, cudaMemcpyDeviceToHost));
	for (float value : sum)
		wrong += value != 3.0f;
	must(cudaFree(device_a));
	must(cudaFree(device_b));
	must(cudaFree(device_sum));
	printf("wrong=%zu\n", wrong);
	printf("allocations=3\nfrees=3\n");
	printf("peak=%zu\nlive=0\n", 3 * bytes);
	return wrong ? 1 : 0;
}
