// An op with a kernel for the CPU and one for GPUs: twice its input, and how many elements there are.
#define EIGEN_USE_THREADS

#include "example.h"

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

using CPUDevice = Eigen::ThreadPoolDevice;
using GPUDevice = Eigen::GpuDevice;

REGISTER_OP("Example")
    .Attr("T: numbertype")
    .Input("input: T")
    .Input("bias: int32")
    .Output("input_times_two: T")
    .Output("size: int32")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->Scalar());
      return Status::OK();
    });

template <typename T>
struct ExampleFunctor<CPUDevice, T> {
  void operator()(const CPUDevice& d, int size, const T* in, T* out) {
    for (int i = 0; i < size; ++i) out[i] = 2 * in[i];
  }
};

template <typename Device, typename T>
class ExampleOp : public OpKernel {
 public:
  explicit ExampleOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input_tensor = context->input(0);
    Tensor* output_tensor = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, input_tensor.shape(), &output_tensor));
    OP_REQUIRES(context, input_tensor.NumElements() <= tensorflow::kint32max,
                errors::InvalidArgument("Too many elements in tensor"));
    ExampleFunctor<Device, T>()(context->eigen_device<Device>(), static_cast<int>(input_tensor.NumElements()),
                                input_tensor.flat<T>().data(), output_tensor->flat<T>().data());
    Tensor* size = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({}), &size));
    size->scalar<int32>()() = static_cast<int32>(input_tensor.NumElements()) + context->input(1).scalar<int32>()();
  }
};

#define REGISTER_CPU(T) \
  REGISTER_KERNEL_BUILDER(Name("Example").Device(DEVICE_CPU).TypeConstraint<T>("T"), ExampleOp<CPUDevice, T>);
REGISTER_CPU(float);
REGISTER_CPU(int32);

#ifdef GOOGLE_CUDA
#define REGISTER_GPU(T)                                                                                      \
  extern template struct ExampleFunctor<GPUDevice, T>;                                                       \
  REGISTER_KERNEL_BUILDER(                                                                                   \
      Name("Example").Device(DEVICE_GPU).HostMemory("bias").HostMemory("size").TypeConstraint<T>("T"),       \
      ExampleOp<GPUDevice, T>);
REGISTER_GPU(float);
#endif
