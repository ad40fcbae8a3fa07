#ifdef GOOGLE_CUDA
#define EIGEN_USE_GPU

#include "example.h"

#include "tensorflow/core/util/gpu_kernel_helper.h"

using namespace tensorflow;

using GPUDevice = Eigen::GpuDevice;

template <typename T>
__global__ void ExampleCudaKernel(const int size, const T* in, T* out) {
  GPU_1D_KERNEL_LOOP(i, size) { out[i] = 2 * ldg(in + i); }
}

template <typename T>
void ExampleFunctor<GPUDevice, T>::operator()(const GPUDevice& d, int size, const T* in, T* out) {
  if (size == 0) return;
  GpuLaunchConfig config = GetGpuLaunchConfig(size, d);
  ExampleCudaKernel<T>
      <<<config.block_count, config.thread_per_block, 0, d.stream()>>>(size, in, out);
}

template struct ExampleFunctor<GPUDevice, float>;
#endif  // GOOGLE_CUDA
