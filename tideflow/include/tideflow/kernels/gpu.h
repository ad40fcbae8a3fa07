// What kernels for CUDA use around a launch. A source that includes it is compiled by nvcc.
#ifndef TIDEFLOW_KERNELS_GPU_H_
#define TIDEFLOW_KERNELS_GPU_H_

#include "tideflow/kernels/bounds_check.h"
#include "tideflow/kernels/status.h"
#include "tideflow/kernels/views.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>

typedef cudaStream_t gpuStream_t;

#define CUDA_1D_KERNEL_LOOP(i, n) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define GPU_1D_KERNEL_LOOP(i, n) CUDA_1D_KERNEL_LOOP(i, n)

namespace tensorflow {

struct GpuLaunchConfig {
  int virtual_thread_count = -1, thread_per_block = -1, block_count = -1;
};
typedef GpuLaunchConfig CudaLaunchConfig;

// Enough threads for `count` elements, but no more blocks than the device runs at once.
inline GpuLaunchConfig GetGpuLaunchConfig(int count, const Eigen::GpuDevice&) {
  CHECK_GT(count, 0);
  int device = 0, processors = 1, threads = 2048;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  GpuLaunchConfig config;
  config.virtual_thread_count = count;
  config.thread_per_block = 1024;
  const int resident = processors * threads / config.thread_per_block;
  config.block_count = std::min((count + config.thread_per_block - 1) / config.thread_per_block, resident);
  return config;
}
inline GpuLaunchConfig GetCudaLaunchConfig(int count, const Eigen::GpuDevice& device) {
  return GetGpuLaunchConfig(count, device);
}

template <typename... Parameters, typename... Args>
Status GpuLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t shared_bytes,
                       gpuStream_t stream, Args... args) {
  kernel<<<blocks, threads, shared_bytes, stream>>>(args...);
  const cudaError_t result = cudaGetLastError();
  if (result != cudaSuccess) return errors::Internal(cudaGetErrorString(result));
  return Status::OK();
}
template <typename... Parameters, typename... Args>
Status CudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t shared_bytes,
                        gpuStream_t stream, Args... args) {
  return GpuLaunchKernel(kernel, blocks, threads, shared_bytes, stream, args...);
}

template <typename T>
__device__ __host__ inline T ldg(const T* address) {
#if defined(__CUDA_ARCH__)
  return __ldg(address);
#else
  return *address;
#endif
}

}  // namespace tensorflow

#endif  // __CUDACC__
#endif  // TIDEFLOW_KERNELS_GPU_H_
