// What ops over images and texts use beside the rest: paddings, formats, sizes of windows, numbers in texts, and kernels
// that begin work in another thread.
#define EIGEN_USE_THREADS

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/numeric_op.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/core/threadpool.h"
#include "tensorflow/core/lib/strings/numbers.h"
#include "tensorflow/core/util/padding.h"
#include "tensorflow/core/util/tensor_format.h"

namespace tensorflow {

typedef Eigen::ThreadPoolDevice CPUDevice;
using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("LargestInWindows")
    .Input("x: float")
    .Attr("ksize: int >= 1")
    .Attr("strides: list(int)")
    .Attr(GetPaddingAttrString())
    .Attr(GetConvnetDataFormatAttrString())
    .Output("y: float")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &x));
      std::vector<int32> strides;
      int32 window;
      Padding padding;
      string text;
      TensorFormat format;
      TF_RETURN_IF_ERROR(c->GetAttr("strides", &strides));
      if (strides.size() != 4) return errors::InvalidArgument("there must be 4 strides, not ", strides.size());
      TF_RETURN_IF_ERROR(c->GetAttr("ksize", &window));
      TF_RETURN_IF_ERROR(c->GetAttr("padding", &padding));
      TF_RETURN_IF_ERROR(c->GetAttr("data_format", &text));
      if (!FormatFromString(text, &format)) return errors::InvalidArgument("Invalid data format ", text);
      ShapeHandle y = x;
      for (char axis : {'H', 'W'}) {
        const int at = GetTensorDimIndex(format, axis);
        DimensionHandle size;
        TF_RETURN_IF_ERROR(
            GetWindowedOutputSizeFromDims(c, c->Dim(x, at), window, GetTensorDim(strides, format, axis), padding, &size));
        TF_RETURN_IF_ERROR(c->ReplaceDim(y, at, size, &y));
      }
      c->set_output(0, y);
      return Status::OK();
    });

class LargestInWindowsOp : public OpKernel {
 public:
  explicit LargestInWindowsOp(OpKernelConstruction* context) : OpKernel(context) {
    string text;
    OP_REQUIRES_OK(context, context->GetAttr("ksize", &window_));
    OP_REQUIRES_OK(context, context->GetAttr("strides", &strides_));
    OP_REQUIRES_OK(context, context->GetAttr("padding", &padding_));
    OP_REQUIRES_OK(context, context->GetAttr("data_format", &text));
    OP_REQUIRES(context, FormatFromString(text, &format_), errors::InvalidArgument("Invalid data format"));
    OP_REQUIRES(context, format_ == FORMAT_NHWC, errors::Unimplemented("no ", ToString(format_), " on the CPU"));
  }
  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const int64 rows = GetTensorDim(x, format_, 'H'), columns = GetTensorDim(x, format_, 'W');
    const int64 down = GetTensorDim(strides_, format_, 'H'), right = GetTensorDim(strides_, format_, 'W');
    int64 high, wide, above, left;
    OP_REQUIRES_OK(context, GetWindowedOutputSize(rows, window_, down, padding_, &high, &above));
    OP_REQUIRES_OK(context, GetWindowedOutputSize(columns, window_, right, padding_, &wide, &left));
    Tensor* y = nullptr;
    const TensorShape shape = ShapeFromFormat(format_, x.dim_size(0), high, wide, x.dim_size(3));
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &y));
    const auto from = x.tensor<float, 4>();
    auto to = y->tensor<float, 4>();
    to.setConstant(-1.0f);
    for (int64 n = 0; n < to.dimension(0); ++n)
      for (int64 i = 0; i < high * wide * window_ * window_; ++i) {
        const int64 place = i / (window_ * window_), within = i % (window_ * window_);
        const int64 row = place / wide * down - above + within / window_;
        const int64 column = place % wide * right - left + within % window_;
        if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
        for (int64 k = 0; k < to.dimension(3); ++k) {
          float& largest = to(n, place / wide, place % wide, k);
          largest = std::max(largest, from(n, row, column, k));
        }
      }
  }

 private:
  int32 window_;
  std::vector<int32> strides_;
  Padding padding_;
  TensorFormat format_;
};
REGISTER_KERNEL_BUILDER(Name("LargestInWindows").Device(DEVICE_CPU), LargestInWindowsOp);

REGISTER_OP("ReadNumbers")
    .Input("texts: string")
    .Output("integers: int64")
    .Output("floats: float")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return Status::OK();
    });

class ReadNumbersOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const Tensor& texts = context->input(0);
    Tensor *integers, *floats;
    OP_REQUIRES_OK(context, context->allocate_output(0, texts.shape(), &integers));
    OP_REQUIRES_OK(context, context->allocate_output(1, texts.shape(), &floats));
    for (int64 i = 0; i < texts.NumElements(); ++i) {
      const string& text = texts.flat<string>()(i);
      if (!strings::safe_strto64(text, &integers->flat<int64>()(i))) integers->flat<int64>()(i) = -99;
      OP_REQUIRES(context, strings::safe_strtof(text.c_str(), &floats->flat<float>()(i)),
                  errors::InvalidArgument("no number: '", text, "'"));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("ReadNumbers").Device(DEVICE_CPU), ReadNumbersOp);

REGISTER_OP("LaterSquare")
    .Input("x: float")
    .Output("y: float")
    .Attr("throws: bool = false")
    .SetShapeFn(shape_inference::UnchangedShape);

class LaterSquareOp : public AsyncOpKernel {
 public:
  explicit LaterSquareOp(OpKernelConstruction* context) : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("throws", &throws_));
  }
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK_ASYNC(
        context, context->forward_input_or_allocate_output({0}, 0, context->input(0).shape(), &y), done);
    OP_REQUIRES_ASYNC(context, y->NumElements() > 0, errors::InvalidArgument("nothing to square"), done);
    context->device()->tensorflow_cpu_worker_threads()->workers->Schedule([this, context, y, done] {
      if (throws_) throw std::runtime_error("thrown by another thread");
      y->flat<float>().device(context->eigen_device<CPUDevice>()) = context->input(0).flat<float>().square();
      done();
    });
  }

 private:
  bool throws_;
};
REGISTER_KERNEL_BUILDER(Name("LaterSquare").Device(DEVICE_CPU), LaterSquareOp);

REGISTER_OP("Halve").Input("x: T").Output("y: T").Attr("T: {float, int32}").SetShapeFn(shape_inference::UnchangedShape);

template <typename T>
class HalveOp : public UnaryOp<T> {
 public:
  explicit HalveOp(OpKernelConstruction* context) : UnaryOp<T>(context) {}
  void Compute(OpKernelContext* context) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &y));
    y->flat<T>() = context->input(0).flat<T>() / static_cast<T>(2);
  }
};
REGISTER_KERNEL_BUILDER(Name("Halve").Device(DEVICE_CPU).TypeConstraint<float>("T"), HalveOp<float>);
REGISTER_KERNEL_BUILDER(Name("Halve").Device(DEVICE_CPU).TypeConstraint<int32>("T"), HalveOp<int32>);

// Functions of numbers of 16 bits; rows and columns that are assigned to, at dimensions that only a run knows.
REGISTER_OP("Curve").Attr("T: {half, float}").Input("x : T").Output("y : T").SetShapeFn(shape_inference::UnchangedShape);

template <typename T>
class CurveOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output("y", context->input(0).shape(), &y));
    const auto x = context->input(0).flat<T>();
    auto to = y->flat<T>();
    for (int i = 0; i < x.size(); ++i) to(i) = x(i) * (T(1.0) + tanh(pow(x(i), T(3)))) + sqrt(exp(x(i)));
  }
};
REGISTER_KERNEL_BUILDER(Name("Curve").Device(DEVICE_CPU).TypeConstraint<float>("T"), CurveOp<float>);
REGISTER_KERNEL_BUILDER(Name("Curve").Device(DEVICE_CPU).TypeConstraint<Eigen::half>("T"), CurveOp<Eigen::half>);

REGISTER_OP("Crosses").Input("x: float").Input("texts: string").Output("y: float").Output("rows: string");

class CrossesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto x = context->input(0).flat<float>();
    const int64 n = x.size();
    Tensor *y = nullptr, *rows = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {n, n, 2}, &y));
    auto cube = y->tensor<float, 3>();
    cube.setZero();
    for (int dimension = 0; dimension < 2; ++dimension) {
      auto plane = cube.chip(n - 1, dimension);
      plane.chip(dimension, 1) = x + x.constant(static_cast<float>(dimension));
    }
    cube.chip<2>(0).chip<0>(0) += x;
    cube.chip<1>(0).setConstant(9.0f);
    TensorShape shape = context->input(1).shape();
    shape.InsertDim(0, 2);
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &rows));
    auto texts = rows->flat_outer_dims<string>();
    for (size_t i = 0; i < 2; ++i) texts.chip(i, 0) = context->input(1).flat<string>();
  }
};
REGISTER_KERNEL_BUILDER(Name("Crosses").Device(DEVICE_CPU), CrossesOp);

}  // namespace tensorflow
