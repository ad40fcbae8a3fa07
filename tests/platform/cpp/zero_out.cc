// The ops of TensorFlow's tutorial on new ops: one after another, as a reader meets them.
#define EIGEN_USE_THREADS

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

// Of int32 alone.
REGISTER_OP("ZeroOut")
    .Input("to_zero: int32")
    .Output("zeroed: int32")
    .SetShapeFn([](::tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return Status::OK();
    });

class ZeroOutOp : public OpKernel {
 public:
  explicit ZeroOutOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input_tensor = context->input(0);
    auto input = input_tensor.flat<int32>();
    Tensor* output_tensor = NULL;
    OP_REQUIRES_OK(context, context->allocate_output(0, input_tensor.shape(), &output_tensor));
    auto output_flat = output_tensor->flat<int32>();
    const int N = input.size();
    for (int i = 1; i < N; i++) {
      output_flat(i) = 0;
    }
    if (N > 0) output_flat(0) = input(0);
  }
};

REGISTER_KERNEL_BUILDER(Name("ZeroOut").Device(DEVICE_CPU), ZeroOutOp);

// With an attribute and a check, and of several types.
REGISTER_OP("PolymorphicZeroOut")
    .Attr("preserve_index: int = 0")
    .Attr("T: {float, int32, double, half}")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .SetShapeFn(shape_inference::UnchangedShape)
    .Doc(R"doc(
Keeps one element and zeroes the others.

preserve_index: Which one.
)doc");

template <typename T>
class PolymorphicZeroOutOp : public OpKernel {
 public:
  explicit PolymorphicZeroOutOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("preserve_index", &preserve_index_));
    OP_REQUIRES(context, preserve_index_ >= 0,
                errors::InvalidArgument("Need preserve_index >= 0, got ", preserve_index_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input_tensor = context->input(0);
    OP_REQUIRES(context, TensorShapeUtils::IsVector(input_tensor.shape()),
                errors::InvalidArgument("PolymorphicZeroOut expects a 1-D vector."));
    auto input = input_tensor.flat<T>();
    OP_REQUIRES(context, preserve_index_ < input.dimension(0),
                errors::InvalidArgument("preserve_index out of range"));
    Tensor* output_tensor = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, input_tensor.shape(), &output_tensor));
    auto output = output_tensor->template flat<T>();
    output.setZero();
    output(preserve_index_) = input(preserve_index_);
  }

 private:
  int preserve_index_;
};

#define REGISTER_KERNEL(type)                                                         \
  REGISTER_KERNEL_BUILDER(                                                            \
      Name("PolymorphicZeroOut").Device(DEVICE_CPU).TypeConstraint<type>("T"),        \
      PolymorphicZeroOutOp<type>)
REGISTER_KERNEL(float);
REGISTER_KERNEL(int32);
REGISTER_KERNEL(Eigen::half);
#undef REGISTER_KERNEL

// Of every type of numbers.
REGISTER_OP("ZeroLike").Attr("T: realnumbertype").Input("x: T").Output("y: T").SetShapeFn(shape_inference::UnchangedShape);

template <typename T>
class ZeroLikeOp : public OpKernel {
 public:
  explicit ZeroLikeOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &y));
    y->flat<T>().setConstant(T(0));
  }
};

#define REGISTER_KERNEL(type) \
  REGISTER_KERNEL_BUILDER(Name("ZeroLike").Device(DEVICE_CPU).TypeConstraint<type>("T"), ZeroLikeOp<type>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_KERNEL);
#undef REGISTER_KERNEL

// a * b + c, in one pass over memory; its gradient is registered in Python.
REGISTER_OP("MultiplyAdd")
    .Attr("T: {float, double}")
    .Input("a: T")
    .Input("b: T")
    .Input("c: T")
    .Output("sum: T")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      shape_inference::ShapeHandle merged;
      TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &merged));
      TF_RETURN_IF_ERROR(c->Merge(merged, c->input(2), &merged));
      c->set_output(0, merged);
      return Status::OK();
    });

typedef Eigen::ThreadPoolDevice CPUDevice;

template <typename T>
class MultiplyAddOp : public OpKernel {
 public:
  explicit MultiplyAddOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    if (!context->ValidateInputsAreSameShape(this)) return;
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0}, 0, context->input(0).shape(), &sum));
    sum->flat<T>().device(context->eigen_device<CPUDevice>()) =
        context->input(0).flat<T>() * context->input(1).flat<T>() + context->input(2).flat<T>();
  }
};

REGISTER_KERNEL_BUILDER(Name("MultiplyAdd").Device(DEVICE_CPU).TypeConstraint<float>("T"), MultiplyAddOp<float>);
REGISTER_KERNEL_BUILDER(Name("MultiplyAdd").Device(DEVICE_CPU).TypeConstraint<double>("T"), MultiplyAddOp<double>);
