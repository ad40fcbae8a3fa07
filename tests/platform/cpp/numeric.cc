// Ops of Eigen's functions of single numbers, of work in parts, of sparse tensors and of inputs that are lists.
#define EIGEN_USE_THREADS

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/core/blocking_counter.h"
#include "tensorflow/core/lib/core/threadpool.h"
#include "tensorflow/core/util/sparse/sparse_tensor.h"
#include "third_party/eigen3/unsupported/Eigen/CXX11/Tensor"

// Some projects have a Shard of their own, as this one.
namespace tensorflow {
void Shard(int, thread::ThreadPool* workers, int64 total, int64, std::function<void(int64, int64)> work) {
  BlockingCounter left(static_cast<int>(total));
  for (int64 i = 0; i < total; ++i) {
    workers->Schedule([&work, &left, i] {
      work(i, i + 1);
      left.DecrementCount();
    });
  }
  left.Wait();
}
}  // namespace tensorflow

namespace numeric {

using namespace tensorflow;
typedef Eigen::ThreadPoolDevice CPUDevice;

// ---------------------------------------------------------------------------------------------- single numbers

REGISTER_OP("NumberFunctions").Attr("T: {half, float, double}").Input("x: T").Output("y: T").Output("limits: double");

template <typename T>
class NumberFunctionsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    namespace numext = Eigen::numext;
    const auto x = context->input(0).flat<T>();
    const int64 count = x.size();
    Tensor *output = nullptr, *limits = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({10, count}), &output));
    auto y = output->matrix<T>();
    const Eigen::TensorOpCost cost(sizeof(T), 10 * sizeof(T), 100 * Eigen::TensorOpCost::MulCost<T>(), true,
                                   Eigen::internal::packet_traits<T>::size);
    context->eigen_device<CPUDevice>().parallelFor(count, cost, [&](Eigen::Index first, Eigen::Index last) {
      for (Eigen::Index i = first; i < last; ++i) {
        const T value = x(i);
        y(0, i) = numext::abs(value);
        y(1, i) = numext::exp(value);
        y(2, i) = numext::log1p(numext::abs(value));
        y(3, i) = numext::sqrt(numext::abs(value));
        y(4, i) = numext::maxi(value, T(1)) + numext::mini(value, T(1));
        y(5, i) = T((numext::isnan)(value) + 2 * (numext::isinf)(value) + 4 * (numext::isfinite)(value));
        y(6, i) = numext::floor(value) + numext::ceil(value);
        y(7, i) = numext::tanh(value);
      }
    });
    y.template chip<0>(8) = x.sign() + x.abs().log1p() + x.floor() * x.cube();
    y.template chip<0>(9) = (x > x.constant(T(0)) && x < x.constant(T(2)))
                                .select(x.square() * x, x.constant(T(-1)));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({4}), &limits));
    typedef Eigen::NumTraits<T> Traits;
    const T all[] = {Traits::lowest(), Traits::highest(), Traits::epsilon(), std::numeric_limits<T>::infinity()};
    for (int i = 0; i < 4; ++i) limits->flat<double>()(i) = static_cast<double>(all[i]);
  }
};
#define REGISTER_FUNCTIONS(T) \
  REGISTER_KERNEL_BUILDER(Name("NumberFunctions").Device(DEVICE_CPU).TypeConstraint<T>("T"), NumberFunctionsOp<T>);
TF_CALL_half(REGISTER_FUNCTIONS);
TF_CALL_float(REGISTER_FUNCTIONS);
TF_CALL_double(REGISTER_FUNCTIONS);

// ---------------------------------------------------------------------------------------------- sparse tensors

REGISTER_OP("SparseRows")
    .Input("indices: int64")
    .Input("values: float")
    .Input("shape: int64")
    .Output("sums: float")
    .Output("dense: float")
    .Output("columns: int64");

class SparseRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto shape = context->input(2).flat<int64>();
    const TensorShape sizes(gtl::ArraySlice<int64>(shape.data(), shape.size()));
    sparse::SparseTensor given;
    OP_REQUIRES_OK(context, sparse::SparseTensor::Create(context->input(0), context->input(1), sizes, {0, 1}, &given));
    OP_REQUIRES_OK(context, given.IndicesValid());
    Tensor *sums = nullptr, *dense = nullptr, *columns = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({given.shape()[0]}), &sums));
    sums->flat<float>().setZero();
    for (const auto& row : given.group({0})) {
      const auto values = row.values<float>();
      for (int64 i = 0; i < values.size(); ++i) sums->flat<float>()(row.group()[0]) += values(i) * row.indices()(i, 1);
    }
    Tensor indices(DT_INT64, context->input(0).shape()), values(DT_FLOAT, context->input(1).shape());
    indices.flat<int64>() = context->input(0).flat<int64>();
    values.flat<float>() = context->input(1).flat<float>();
    sparse::SparseTensor by_column(indices, values, sizes, {0, 1});
    by_column.Reorder<float>({1, 0});
    OP_REQUIRES_OK(context, context->allocate_output(1, sizes, &dense));
    OP_REQUIRES(context, by_column.ToDense<float>(dense), errors::InvalidArgument("no place for an element"));
    OP_REQUIRES_OK(context, context->allocate_output(2, context->input(0).shape(), &columns));
    columns->flat<int64>() = by_column.indices().flat<int64>();
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseRows").Device(DEVICE_CPU), SparseRowsOp);

// -------------------------------------------------------------------------------- lists, and dimensions in the middle --

REGISTER_OP("SumOfMiddles").Attr("N: int >= 1").Input("xs: N * float").Output("sums: float").Output("ranks: int32");

class SumOfMiddlesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    OpInputList xs;
    OP_REQUIRES_OK(context, context->input_list("xs", &xs));
    OP_REQUIRES(context, context->input_memory_type(0) == DEVICE_MEMORY && !context->input_alloc_attr(0).on_host(),
                errors::Internal("memory of the host"));
    Tensor *sums = nullptr, *ranks = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output("sums", TensorShape({}), &sums, context->output_alloc_attr(0)));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({}), &ranks));
    sums->scalar<float>()() = 0;
    ranks->scalar<int32>()() = 0;
    for (const Tensor& x : xs) {
      ranks->scalar<int32>()() += x.dims();
      const auto middle = x.flat_inner_outer_dims<float, 3>(1);
      for (int64 i = 0; i < middle.dimension(1); ++i) sums->scalar<float>()() += middle(0, i, 0);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("SumOfMiddles").Device(DEVICE_CPU), SumOfMiddlesOp);

// --------------------------------------------------------------------------------------- elements of their places

REGISTER_OP("OuterProduct").Input("x: float").Input("y: float").Output("product: float").Output("doubled: float");

class OuterProductOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto x = context->input(0).flat<float>(), y = context->input(1).flat<float>();
    Tensor *product = nullptr, *doubled = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({x.size(), y.size()}), &product));
    OP_REQUIRES_OK(context, context->allocate_output(1, product->shape(), &doubled));
    auto to = product->matrix<float>();
    to.device(context->eigen_device<CPUDevice>()) =
        to.generate([&](const Eigen::array<Eigen::DenseIndex, 2>& at) { return x(at[0]) * y(at[1]); });
    auto twice = doubled->matrix<float>();
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    Shard(workers.num_threads, workers.workers, x.size(), 1, [&](int64 first, int64 last) {
      for (int64 i = first; i < last; ++i)
        for (int64 j = 0; j < y.size(); ++j) twice(i, j) = 2 * to(i, j);
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("OuterProduct").Device(DEVICE_CPU), OuterProductOp);

}  // namespace numeric
