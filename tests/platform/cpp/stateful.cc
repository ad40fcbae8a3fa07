// Ops with state: a table behind a resource handle, counters that other kernels look up, variables of both kinds.
#include <unordered_map>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/core/refcount.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// ------------------------------------------------------------------------------------------ a table of words

class WordTable : public ResourceBase {
 public:
  explicit WordTable(int64 first) : next_(first) {}
  string DebugString() const override { return "a table of words"; }
  int64 Number(const string& word) LOCKS_EXCLUDED(mu_) {
    mutex_lock lock(mu_);
    auto found = numbers_.find(word);
    if (found != numbers_.end()) return found->second;
    return numbers_[word] = next_++;
  }
  int64 size() {
    mutex_lock lock(mu_);
    return static_cast<int64>(numbers_.size());
  }

 private:
  mutex mu_;
  int64 next_ GUARDED_BY(mu_);
  std::unordered_map<string, int64> numbers_ GUARDED_BY(mu_);
};

REGISTER_OP("WordTable")
    .Attr("first: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Output("handle: resource")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);

class WordTableOp : public ResourceOpKernel<WordTable> {
 public:
  explicit WordTableOp(OpKernelConstruction* context) : ResourceOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("first", &first_));
  }

 private:
  Status CreateResource(WordTable** table) override EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (first_ < 0) return errors::InvalidArgument("first must not be negative, is ", first_);
    *table = new WordTable(first_);
    return Status::OK();
  }
  int64 first_;
};
REGISTER_KERNEL_BUILDER(Name("WordTable").Device(DEVICE_CPU), WordTableOp);

REGISTER_OP("WordNumbers")
    .Input("handle: resource")
    .Input("words: string")
    .Output("numbers: int64")
    .Output("size: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle handle;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &handle));
      c->set_output(0, c->input(1));
      c->set_output(1, c->Scalar());
      return Status::OK();
    });

class WordNumbersOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    WordTable* table;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &table));
    core::ScopedUnref unref(table);
    const Tensor& words = context->input(1);
    Tensor *numbers, *size;
    OP_REQUIRES_OK(context, context->allocate_output(0, words.shape(), &numbers));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({}), &size));
    const auto from = words.flat<string>();
    auto to = numbers->flat<int64>();
    for (int64 i = 0; i < from.size(); ++i) to(i) = table->Number(from(i));
    size->scalar<int64>()() = table->size();
  }
};
REGISTER_KERNEL_BUILDER(Name("WordNumbers").Device(DEVICE_CPU), WordNumbersOp);

// ---------------------------------------------------- a counter, of which one op has the handle, another the object

struct Counter : public ResourceBase {
  int64 count = 0;
  mutex mu;
  string DebugString() const override { return strings::StrCat("counted to ", count); }
};
REGISTER_RESOURCE_HANDLE_OP(Counter);
REGISTER_RESOURCE_HANDLE_KERNEL(Counter);

REGISTER_OP("StartCounter").Input("counter: resource").Input("at: int64").SetIsStateful().SetShapeFn(shape_inference::NoOutputs);
class StartCounterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    ResourceHandle handle;
    OP_REQUIRES_OK(context, HandleFromInput(context, "counter", &handle));
    Counter* counter = new Counter;
    counter->count = context->input(1).scalar<int64>()();
    OP_REQUIRES_OK(context, CreateResource(context, handle, counter));
  }
};
REGISTER_KERNEL_BUILDER(Name("StartCounter").Device(DEVICE_CPU), StartCounterOp);

REGISTER_OP("Count").Input("counter: resource").Output("count: int64").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);
class CountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    core::RefCountPtr<Counter> counter;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &counter));
    Tensor* count;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &count));
    mutex_lock lock(counter->mu);
    count->scalar<int64>()() = ++counter->count;
  }
};
REGISTER_KERNEL_BUILDER(Name("Count").Device(DEVICE_CPU), CountOp);

REGISTER_OP("CounterIsThere").Input("counter: resource").Output("there: bool").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);
REGISTER_KERNEL_BUILDER(Name("CounterIsThere").Device(DEVICE_CPU), IsResourceInitialized<Counter>);

REGISTER_OP("StopCounter").Input("counter: resource").SetIsStateful().SetShapeFn(shape_inference::NoOutputs);
class StopCounterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, DeleteResource<Counter>(context, HandleFromInput(context, 0)));
  }
};
REGISTER_KERNEL_BUILDER(Name("StopCounter").Device(DEVICE_CPU), StopCounterOp);

// A kernel that finds the session's counter by itself, without a handle.
REGISTER_OP("CountByName").Attr("counter: string").Output("count: int64").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);
class CountByNameOp : public OpKernel {
 public:
  explicit CountByNameOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("counter", &name_));
  }
  void Compute(OpKernelContext* context) override {
    ResourceMgr* manager = context->resource_manager();
    Counter* counter = nullptr;
    OP_REQUIRES_OK(context, manager->LookupOrCreate<Counter>(manager->default_container(), name_, &counter,
                                                             [](Counter** made) {
                                                               *made = new Counter;
                                                               return Status::OK();
                                                             }));
    core::ScopedUnref unref(counter);
    Tensor* count;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &count));
    mutex_lock lock(counter->mu);
    count->scalar<int64>()() = ++counter->count;
  }

 private:
  string name_;
};
REGISTER_KERNEL_BUILDER(Name("CountByName").Device(DEVICE_CPU), CountByNameOp);

// ---------------------------------------------------------------------------------------------------- variables

REGISTER_OP("DecayVariable")
    .Input("var: Ref(T)")
    .Input("factor: T")
    .Output("out: Ref(T)")
    .Attr("T: {float, double}")
    .SetShapeFn(shape_inference::UnchangedShape);

template <typename T>
class DecayVariableOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    mutex_lock lock(*context->input_ref_mutex(0));
    Tensor var = context->mutable_input(0, true);
    OP_REQUIRES(context, var.IsInitialized(), errors::FailedPrecondition("uninitialized: ", def().name()));
    OP_REQUIRES(context, TensorShapeUtils::IsScalar(context->input(1).shape()),
                errors::InvalidArgument("factor is not a scalar: ", context->input(1).shape().DebugString()));
    var.flat<T>() = var.flat<T>() * var.flat<T>().constant(context->input(1).scalar<T>()());
    context->forward_ref_input_to_ref_output(0, 0);
  }
};
#define REGISTER_DECAY(T) \
  REGISTER_KERNEL_BUILDER(Name("DecayVariable").Device(DEVICE_CPU).TypeConstraint<T>("T"), DecayVariableOp<T>);
TF_CALL_float(REGISTER_DECAY);
TF_CALL_double(REGISTER_DECAY);
#undef REGISTER_DECAY

REGISTER_OP("ResourceApplySignDescent")
    .Input("var: resource")
    .Input("rate: T")
    .Input("grad: T")
    .Attr("T: {float, double}")
    .Attr("grow: bool = false")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs);

template <typename T>
class ResourceApplySignDescentOp : public OpKernel {
 public:
  explicit ResourceApplySignDescentOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("grow", &grow_));
  }
  void Compute(OpKernelContext* context) override {
    Var* variable = nullptr;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &variable));
    core::ScopedUnref unref(variable);
    mutex_lock lock(*variable->mu());
    const T rate = context->input(1).scalar<T>()();
    const Tensor& grad = context->input(2);
    if (grow_) {  // another tensor takes the place of the variable's
      Tensor grown;
      TensorShape shape = variable->tensor()->shape();
      shape.set_dim(0, 2 * shape.dim_size(0));
      OP_REQUIRES_OK(context, context->allocate_temp(variable->tensor()->dtype(), shape, &grown));
      auto to = grown.flat<T>();
      const auto from = variable->tensor()->flat<T>();
      for (int64 i = 0; i < to.size(); ++i) to(i) = from(i % from.size());
      *variable->tensor() = grown;
      return;
    }
    OP_REQUIRES(context, variable->tensor()->shape().IsSameSize(grad.shape()),
                errors::InvalidArgument("var and grad do not have the same shape",
                                        variable->tensor()->shape().DebugString(), " ", grad.shape().DebugString()));
    auto to = variable->tensor()->flat<T>();
    const auto slope = grad.flat<T>();
    for (int64 i = 0; i < to.size(); ++i) to(i) -= slope(i) > T(0) ? rate : slope(i) < T(0) ? -rate : T(0);
  }

 private:
  bool grow_;
};
REGISTER_KERNEL_BUILDER(Name("ResourceApplySignDescent").Device(DEVICE_CPU).TypeConstraint<float>("T"),
                        ResourceApplySignDescentOp<float>);
REGISTER_KERNEL_BUILDER(Name("ResourceApplySignDescent").Device(DEVICE_CPU).TypeConstraint<double>("T"),
                        ResourceApplySignDescentOp<double>);

}  // namespace tensorflow
