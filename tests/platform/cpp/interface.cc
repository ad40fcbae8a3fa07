// The rest of the interface of kernels that users' sources take for granted: lists, strings, shapes, state, threads.
#define EIGEN_USE_THREADS

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/status.h"
#include "tensorflow/core/lib/strings/strcat.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// Rows of matrices one after another, and how many there are of each.
REGISTER_OP("StackRows")
    .Attr("N: int >= 1")
    .Attr("T: {float, string, complex64}")
    .Input("parts: N * T")
    .Output("rows: T")
    .Output("counts: N * int64")
    .SetShapeFn([](InferenceContext* c) {
      std::vector<ShapeHandle> parts;
      TF_RETURN_IF_ERROR(c->input("parts", &parts));
      DimensionHandle total = c->MakeDim(0), width = c->UnknownDim();
      for (ShapeHandle part : parts) {
        TF_RETURN_IF_ERROR(c->WithRank(part, 2, &part));
        TF_RETURN_IF_ERROR(c->Merge(width, c->Dim(part, 1), &width));
        TF_RETURN_IF_ERROR(c->Add(total, c->Dim(part, 0), &total));
      }
      c->set_output(0, c->Matrix(total, width));
      for (int i = 1; i < c->num_outputs(); ++i) c->set_output(i, c->Scalar());
      return Status::OK();
    });

template <typename T>
class StackRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    OpInputList parts;
    OP_REQUIRES_OK(context, context->input_list("parts", &parts));
    OpOutputList counts;
    OP_REQUIRES_OK(context, context->output_list("counts", &counts));
    TensorShape shape({0, parts[0].dim_size(1)});
    for (int i = 0; i < parts.size(); ++i) {
      OP_REQUIRES(context, TensorShapeUtils::IsMatrix(parts[i].shape()) && parts[i].dim_size(1) == shape.dim_size(1),
                  errors::InvalidArgument("part ", i, " is ", parts[i].shape().DebugString(), ", after rows of ",
                                          shape.dim_size(1)));
      shape.set_dim(0, shape.dim_size(0) + parts[i].dim_size(0));
    }
    Tensor* rows = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output("rows", shape, &rows));
    auto to = rows->matrix<T>();
    int64 at = 0;
    for (int i = 0; i < parts.size(); ++i) {
      const auto from = parts[i].matrix<T>();
      for (int64 r = 0; r < from.dimension(0); ++r, ++at)
        for (int64 k = 0; k < from.dimension(1); ++k) to(at, k) = from(r, k);
      Tensor* count = nullptr;
      OP_REQUIRES_OK(context, counts.allocate(i, TensorShape({}), &count));
      count->scalar<int64>()() = from.dimension(0);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("StackRows").Device(DEVICE_CPU).TypeConstraint<float>("T"), StackRowsOp<float>);
REGISTER_KERNEL_BUILDER(Name("StackRows").Device(DEVICE_CPU).TypeConstraint<string>("T"), StackRowsOp<string>);
REGISTER_KERNEL_BUILDER(Name("StackRows").Device(DEVICE_CPU).TypeConstraint<complex64>("T"), StackRowsOp<complex64>);

// All kinds of attributes, as one text.
REGISTER_OP("ShowAttributes")
    .Attr("a: int = 3")
    .Attr("b: float = 0.5")
    .Attr("c: bool = true")
    .Attr("d: {'SAME', 'VALID'} = 'SAME'")
    .Attr("e: shape = { dim { size: 2 } dim { size: 3 } }")
    .Attr("f: list(int) = [1, -2]")
    .Attr("g: list(string) = ['x', 'y']")
    .Attr("h: type = DT_INT64")
    .Attr("i: list(type) >= 0 = [DT_FLOAT]")
    .Attr("j: tensor = { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 5 }")
    .Attr("k: list(float) = []")
    .Output("text: string")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->Scalar());
      return Status::OK();
    });

class ShowAttributesOp : public OpKernel {
 public:
  explicit ShowAttributesOp(OpKernelConstruction* context) : OpKernel(context) {
    int a;
    float b;
    bool c;
    string d;
    PartialTensorShape e;
    std::vector<int64> f;
    std::vector<string> g;
    DataType h;
    DataTypeVector i;
    Tensor j;
    std::vector<float> k;
    OP_REQUIRES_OK(context, context->GetAttr("a", &a));
    OP_REQUIRES_OK(context, context->GetAttr("b", &b));
    OP_REQUIRES_OK(context, context->GetAttr("c", &c));
    OP_REQUIRES_OK(context, context->GetAttr("d", &d));
    OP_REQUIRES_OK(context, context->GetAttr("e", &e));
    OP_REQUIRES_OK(context, context->GetAttr("f", &f));
    OP_REQUIRES_OK(context, context->GetAttr("g", &g));
    OP_REQUIRES_OK(context, context->GetAttr("h", &h));
    OP_REQUIRES_OK(context, context->GetAttr("i", &i));
    OP_REQUIRES_OK(context, context->GetAttr("j", &j));
    OP_REQUIRES_OK(context, context->GetAttr("k", &k));
    text_ = strings::StrCat(a, " ", b, " ", c, " ", d, " ", e.DebugString(), " ");
    for (int64 each : f) strings::StrAppend(&text_, each, ",");
    for (const string& each : g) strings::StrAppend(&text_, each, ",");
    strings::StrAppend(&text_, DataTypeString(h), " ", i.size(), " ", j.flat<int32>()(1), " ", k.size());
    if (a == 99) OP_REQUIRES_OK(context, context->GetAttr("nothing", &a));
    if (a == 98) OP_REQUIRES_OK(context, context->GetAttr("b", &a));
  }
  void Compute(OpKernelContext* context) override {
    Tensor* text = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &text));
    text->scalar<string>()() = text_;
  }

 private:
  string text_;
};
REGISTER_KERNEL_BUILDER(Name("ShowAttributes").Device(DEVICE_CPU), ShowAttributesOp);

// A tensor of a shape that is an input, and a dimension that is another.
REGISTER_OP("Ramp")
    .Input("shape: int32")
    .Input("more: int32")
    .Attr("divisor: int = 1")
    .Output("ramp: float")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &shape));
      DimensionHandle more;
      TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &more));
      int divisor;
      TF_RETURN_IF_ERROR(c->GetAttr("divisor", &divisor));
      TF_RETURN_IF_ERROR(c->Divide(more, divisor, true, &more));
      TF_RETURN_IF_ERROR(c->Concatenate(shape, c->Vector(more), &shape));
      c->set_output(0, shape);
      return Status::OK();
    });

class RampOp : public OpKernel {
 public:
  explicit RampOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("divisor", &divisor_));
  }
  void Compute(OpKernelContext* context) override {
    TensorShape shape;
    const auto sizes = context->input(0).vec<int32>();
    OP_REQUIRES_OK(context, TensorShapeUtils::MakeShape(sizes.data(), sizes.size(), &shape));
    shape.AddDim(context->input(1).scalar<int32>()() / divisor_);
    Tensor* ramp = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &ramp));
    auto flat = ramp->flat<float>();
    auto workers = *(context->device()->tensorflow_cpu_worker_threads());
    Shard(workers.num_threads, workers.workers, flat.size(), 1000, [&flat](int64 begin, int64 end) {
      for (int64 i = begin; i < end; ++i) flat(i) = static_cast<float>(i);
    });
  }

 private:
  int divisor_;
};
REGISTER_KERNEL_BUILDER(Name("Ramp").Device(DEVICE_CPU).HostMemory("shape"), RampOp);

// State between steps: the sum of what came so far, and the input before this one.
REGISTER_OP("RunningSum")
    .Input("x: float")
    .Output("sum: float")
    .Output("before: float")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return Status::OK();
    });

class RunningSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    mutex_lock lock(mutex_);
    const Tensor& x = context->input(0);
    if (sum_.NumElements() == 0) {
      Tensor made;
      OP_REQUIRES_OK(context, context->allocate_temp(DT_FLOAT, x.shape(), &made));
      made.flat<float>().setZero();
      sum_ = made;
      before_ = x;
    }
    auto sum = sum_.flat<float>();
    for (int64 i = 0; i < x.NumElements(); ++i) sum(i) += x.flat<float>()(i);
    context->set_output(0, sum_);
    context->set_output(1, before_);
    before_ = x;
  }

 private:
  mutex mutex_;
  Tensor sum_ GUARDED_BY(mutex_), before_ GUARDED_BY(mutex_);
};
REGISTER_KERNEL_BUILDER(Name("RunningSum").Device(DEVICE_CPU), RunningSumOp);

// The input itself, as one row less or in another shape; done by another thread.
REGISTER_OP("Behead").Input("x: float").Output("rest: float").Output("flat: float");

class BeheadOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_ASYNC(context, x.dims() >= 1 && x.dim_size(0) > 0, errors::OutOfRange("no row to take off"), done);
    context->device()->tensorflow_cpu_worker_threads()->workers->Schedule([context, done, x]() {
      context->set_output(0, x.Slice(1, x.dim_size(0)));
      Tensor flat;
      CHECK(flat.CopyFrom(x, TensorShape({x.NumElements()})));
      context->set_output(1, flat);
      done();
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("Behead").Device(DEVICE_CPU), BeheadOp);

// Kernels of one op under two labels; views and expressions.
REGISTER_OP("Cube").Input("x: float").Output("y: float").SetShapeFn([](InferenceContext* c) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &shape));
  TF_RETURN_IF_ERROR(c->ReplaceDim(shape, -1, c->Dim(shape, -1), &shape));
  c->set_output(0, shape);
  return Status::OK();
});

class CubeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &y));
    const auto x = context->input(0).flat_inner_dims<float>();
    auto cubes = y->flat_inner_dims<float>();
    cubes.device(context->eigen_cpu_device()) = x.square() * x;
    cubes = (cubes > cubes.constant(100.0f)).select(cubes.constant(100.0f), cubes.cwiseMax(-100.0f));
  }
};
class PlusOneOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &y));
    y->flat<float>() = context->input(0).flat<float>() + 1.0f;
  }
};
REGISTER_KERNEL_BUILDER(Name("Cube").Device(DEVICE_CPU), CubeOp);
REGISTER_KERNEL_BUILDER(Name("Cube").Device(DEVICE_CPU).Label("plus_one"), PlusOneOp);

// Errors of all kinds.
REGISTER_OP("Fail").Attr("how: string").Output("nothing: float").SetIsStateful();

class FailOp : public OpKernel {
 public:
  explicit FailOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("how", &how_));
  }
  void Compute(OpKernelContext* context) override {
    OP_REQUIRES(context, how_ != "out of range", errors::OutOfRange("at the end: ", 1.5f, " ", 7));
    OP_REQUIRES(context, how_ != "unavailable", errors::Unavailable("not now"));
    // What would end TensorFlow's process:
    if (how_ == "check") CHECK_EQ(num_outputs(), 2) << "outputs";
    if (how_ == "throw") throw std::runtime_error("thrown in a kernel");
    if (how_ == "memory") throw std::bad_alloc();
    if (how_ == "anything") throw 7;
    if (how_ == "wrong type") Tensor(DT_INT32, TensorShape({2})).flat<float>();
    if (how_ == "wrong rank") Tensor(DT_INT32, TensorShape({2})).matrix<int32>();
  }

 private:
  string how_;
};
REGISTER_KERNEL_BUILDER(Name("Fail").Device(DEVICE_CPU), FailOp);

// Expressions that move elements and join them, of a matrix and another one.
REGISTER_OP("Rearrange")
    .Input("x: float")
    .Input("y: float")
    .Attr("N: int = 9")
    .Output("made: N * float")
    .SetShapeFn([](InferenceContext* c) {
      for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
      return Status::OK();
    });

class RearrangeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto x = context->input(0).matrix<float>();
    const auto y = context->input(1).matrix<float>();
    const auto& device = context->eigen_device<Eigen::ThreadPoolDevice>();
    const Eigen::DenseIndex rows = x.dimension(0), columns = x.dimension(1);
    const Eigen::array<int, 1> last = {{1}}, first = {{0}};
    const Eigen::array<int, 2> twice = {{2, 1}}, turned = {{1, 0}};
    const Eigen::array<Eigen::DenseIndex, 2> tall = {{rows, 1}};

    Make(context, 0, {rows}).vec<float>().device(device) = x.sum(last);
    Make(context, 1, {columns}).vec<float>().device(device) = x.maximum(first) - x.minimum(first);
    Make(context, 2, {2 * rows, columns}).matrix<float>() = x.broadcast(twice);
    Make(context, 3, {columns, rows}).matrix<float>() = x.shuffle(turned) * 2.0f;
    const Eigen::array<Eigen::IndexPair<int>, 1> inner = {{Eigen::IndexPair<int>(1, 0)}};
    Make(context, 4, {rows, y.dimension(1)}).matrix<float>().device(device) = x.contract(y, inner);
    // A softmax of each row, in TensorFlow's own way.
    const Eigen::array<int, 2> across = {{1, static_cast<int>(columns)}};
    auto softmax = Make(context, 5, {rows, columns}).matrix<float>();
    softmax.device(device) = (x - x.maximum(last).eval().reshape(tall).broadcast(across)).exp();
    softmax.device(device) = softmax * softmax.sum(last).inverse().eval().reshape(tall).broadcast(across);
    const Eigen::array<Eigen::DenseIndex, 2> from = {{0, 1}}, sizes = {{rows, columns - 1}};
    Make(context, 6, {rows, columns - 1}).matrix<float>() = x.slice(from, sizes);
    Eigen::array<std::pair<int, int>, 2> margins;
    margins[0] = std::make_pair(1, 0), margins[1] = std::make_pair(0, 2);
    Make(context, 7, {rows + 1, columns + 2}).matrix<float>() = x.pad(margins);
    const Eigen::array<bool, 2> back = {{false, true}};
    const Eigen::Tensor<float, 2, Eigen::RowMajor> kept = x.reverse(back);
    Make(context, 8, {rows}).vec<float>() = kept.chip<1>(0) + kept.mean(last);
  }

 private:
  Tensor& Make(OpKernelContext* context, int i, std::initializer_list<int64> sizes) {
    Tensor* made = nullptr;
    TF_CHECK_OK(context->allocate_output(i, TensorShape(sizes), &made));
    return *made;
  }
};
REGISTER_KERNEL_BUILDER(Name("Rearrange").Device(DEVICE_CPU), RearrangeOp);

}  // namespace
}  // namespace tensorflow
