// Kernels: what they are made from (OpKernelConstruction) and what they compute with (OpKernelContext).
#ifndef TIDEFLOW_KERNELS_OP_KERNEL_H_
#define TIDEFLOW_KERNELS_OP_KERNEL_H_

#include <iostream>

#include "tideflow/kernels/files.h"
#include "tideflow/kernels/resources.h"
#include "tideflow/kernels/shape_inference.h"
#include "tideflow/kernels/threads.h"

namespace tensorflow {

class OpKernelContext;
class AsyncOpKernel;

namespace internal {

// What Python says of a node when it asks for its kernel.
struct NodeDescription {
  string name, op, device;
  int32_t device_id = 0;
  bool returns_one = false;  // a tensor, not a tuple of them
  bool takes_state = false;  // references or resources: what variables get is returned beside the outputs
  Attributes attributes;
  shape_inference::ArgumentRanges inputs, outputs;
  DataTypeVector input_types, output_types;
  std::vector<bool> input_on_host, output_on_host;
  std::unique_ptr<ResourceMgr> resources;

  void Read(MessageReader* in) {
    name = in->Bytes();
    op = in->Bytes();
    device = in->Bytes();
    device_id = static_cast<int32_t>(in->Number());
    returns_one = in->Number() != 0;
    attributes.Read(in);
    ReadArguments(in, &inputs, &input_types, &input_on_host);
    ReadArguments(in, &outputs, &output_types, &output_on_host);
    for (DataType dtype : input_types) takes_state |= IsRefType(dtype) || dtype == DT_RESOURCE;
  }

 private:
  void ReadArguments(MessageReader* in, shape_inference::ArgumentRanges* ranges, DataTypeVector* types,
                     std::vector<bool>* on_host) {
    for (int64 left = in->Number(); left > 0; --left) {
      const string argument = in->Bytes();
      const bool host = in->Number() != 0;
      const int first = static_cast<int>(types->size());
      for (int64 dtype : in->Numbers()) types->push_back(static_cast<DataType>(dtype)), on_host->push_back(host);
      ranges->push_back({argument, {first, static_cast<int>(types->size())}});
    }
  }
};

inline Status RangeOf(const shape_inference::ArgumentRanges& ranges, StringPiece name, const char* what, int* first,
                      int* last) {
  for (const auto& range : ranges) {
    if (range.first != name.ToString()) continue;
    *first = range.second.first, *last = range.second.second;
    return Status::OK();
  }
  return errors::InvalidArgument("Unknown ", what, " name: ", name);
}

// A tensor in memory of ATen on a device.
inline Status AllocateOn(::tideflow::DLDevice device, DataType dtype, const TensorShape& shape, Tensor* result) {
  auto buffer = std::make_shared<Buffer>();
  Tensor tensor(dtype, shape, buffer);
  if (tensor.HoldObjects()) {
    *result = tensor;
    return Status::OK();
  }
  using namespace ::tideflow;
  uint8_t code = kDLInt;
  switch (dtype) {
    case DT_BOOL: code = kDLBool; break;
    case DT_BFLOAT16: code = kDLBfloat; break;
    case DT_HALF: case DT_FLOAT: case DT_DOUBLE: code = kDLFloat; break;
    case DT_COMPLEX64: case DT_COMPLEX128: code = kDLComplex; break;
    case DT_UINT8: case DT_UINT16: case DT_UINT32: case DT_UINT64: case DT_QUINT8: case DT_QUINT16:
      code = kDLUInt;
      break;
    default: break;
  }
  const size_t width = DataTypeSize(dtype);
  if (width == 0) return errors::Unimplemented("Kernels in C++ do not make tensors of type ", DataTypeString(dtype));
  std::vector<int64_t> sizes;
  for (int d = 0; d < shape.dims(); ++d) sizes.push_back(shape.dim_size(d));
  DLTensor prototype = {nullptr, device, shape.dims(), {code, static_cast<uint8_t>(8 * width), 1},
                        sizes.data(), nullptr, 0};
  string failure;
  auto note = [](void* text, const char*, const char* message) { *static_cast<string*>(text) = message; };
  if (Exchange()->allocate(&prototype, &buffer->managed, &failure, note) != 0)
    return errors::ResourceExhausted("OOM when allocating tensor with shape", shape.DebugString(), " and type ",
                                     DataTypeString(dtype), ": ", failure);
  const DLTensor& made = buffer->managed->dl_tensor;
  buffer->data = static_cast<char*>(made.data) + made.byte_offset;
  *result = tensor;
  return Status::OK();
}

}  // namespace internal

class NodeDef {
 public:
  explicit NodeDef(const internal::NodeDescription* node) : node_(node) {}
  const string& name() const { return node_->name; }
  const string& op() const { return node_->op; }
  const string& device() const { return node_->device; }
  const internal::Attributes& attributes() const { return node_->attributes; }

 private:
  const internal::NodeDescription* node_;
};

typedef internal::Attributes AttrSlice;
template <typename T>
Status GetNodeAttr(const internal::Attributes& attributes, StringPiece name, T* value) {
  return attributes.Get(name, value);
}
template <typename T>
Status GetNodeAttr(const NodeDef& node, StringPiece name, T* value) {
  return node.attributes().Get(name, value);
}

class OpKernelConstruction {
 public:
  explicit OpKernelConstruction(std::shared_ptr<const internal::NodeDescription> node)
      : node_(std::move(node)), def_(node_.get()) {}

  template <typename T>
  Status GetAttr(StringPiece name, T* value) const { return node_->attributes.Get(name, value); }
  bool HasAttr(StringPiece name) const { return node_->attributes.Has(name); }
  const NodeDef& def() const { return def_; }
  DeviceType device_type() const { return DeviceType(node_->device); }
  int num_inputs() const { return static_cast<int>(node_->input_types.size()); }
  int num_outputs() const { return static_cast<int>(node_->output_types.size()); }
  DataType input_type(int i) const { return node_->input_types.at(static_cast<size_t>(i)); }
  DataType output_type(int i) const { return node_->output_types.at(static_cast<size_t>(i)); }
  int graph_def_version() const { return 134; }
  ResourceMgr* resource_manager() const { return node_->resources.get(); }
  Env* env() const { return Env::Default(); }
  Status MatchSignature(DataTypeSlice inputs, DataTypeSlice outputs) const {
    if (inputs.vector() == node_->input_types && outputs.vector() == node_->output_types) return Status::OK();
    return errors::InvalidArgument("Signature mismatch, have: ", Signature(node_->input_types, node_->output_types),
                                   " expected: ", Signature(inputs, outputs));
  }
  Status allocate_temp(DataType dtype, const TensorShape& shape, Tensor* tensor) {
    return internal::AllocateOn(Place(), dtype, shape, tensor);
  }
  Status allocate_persistent(DataType dtype, const TensorShape& shape, PersistentTensor* kept, Tensor** tensor) {
    Tensor made;
    TF_RETURN_IF_ERROR(allocate_temp(dtype, shape, &made));
    *kept = PersistentTensor(made);
    if (tensor) *tensor = kept->AccessTensor(this);
    return Status::OK();
  }

  const Status& status() const { return status_; }
  void SetStatus(const Status& status) { status_.Update(status); }
  void CtxFailure(const Status& status) { SetStatus(status); }
  void CtxFailureWithWarning(const Status& status) { SetStatus(status); }
  void CtxFailure(const char*, int, const Status& status) { SetStatus(status); }
  void CtxFailureWithWarning(const char*, int, const Status& status) { SetStatus(status); }
  const std::shared_ptr<const internal::NodeDescription>& node() const { return node_; }

 private:
  ::tideflow::DLDevice Place() const {
    return {node_->device == DEVICE_GPU ? ::tideflow::kDLCUDA : ::tideflow::kDLCPU, node_->device_id};
  }
  static string Signature(DataTypeSlice inputs, DataTypeSlice outputs) {
    return Names(inputs) + "->" + Names(outputs);
  }
  static string Names(DataTypeSlice types) {
    std::vector<string> names;
    for (DataType dtype : types) names.push_back(DataTypeString(dtype));
    return str_util::Join(names, ", ");
  }

  std::shared_ptr<const internal::NodeDescription> node_;
  NodeDef def_;
  Status status_;
};

class OpKernel {
 public:
  explicit OpKernel(OpKernelConstruction* context) : node_(context->node()), def_(node_.get()) {}
  OpKernel(const OpKernel&) = delete;
  virtual ~OpKernel() {}
  virtual void Compute(OpKernelContext* context) = 0;
  virtual AsyncOpKernel* AsAsync() { return nullptr; }
  virtual bool IsExpensive() { return true; }
  const string& name() const { return node_->name; }
  const string& type_string() const { return node_->op; }
  const NodeDef& def() const { return def_; }
  int num_inputs() const { return static_cast<int>(node_->input_types.size()); }
  int num_outputs() const { return static_cast<int>(node_->output_types.size()); }
  DataType input_type(int i) const { return node_->input_types.at(static_cast<size_t>(i)); }
  DataType output_type(int i) const { return node_->output_types.at(static_cast<size_t>(i)); }
  const internal::NodeDescription& node() const { return *node_; }

 private:
  std::shared_ptr<const internal::NodeDescription> node_;
  NodeDef def_;
};

class DeviceBase {
 public:
  struct CpuWorkerThreads {
    int num_threads = 0;
    thread::ThreadPool* workers = nullptr;
  };
  DeviceBase() {
    threads_.workers = internal::SharedPool();
    threads_.num_threads = threads_.workers->NumThreads();
  }
  const CpuWorkerThreads* tensorflow_cpu_worker_threads() const { return &threads_; }
  static __attribute__((visibility("hidden"))) DeviceBase* Shared() {
    static DeviceBase device;
    return &device;
  }

 private:
  CpuWorkerThreads threads_;
};

class OpInputList {
 public:
  OpInputList() : context_(nullptr), first_(0), last_(0) {}
  OpInputList(OpKernelContext* context, int first, int last) : context_(context), first_(first), last_(last) {}
  int size() const { return last_ - first_; }
  inline const Tensor& operator[](int i) const;

  class Iterator {
   public:
    Iterator(const OpInputList* list, int i) : list_(list), i_(i) {}
    bool operator==(const Iterator& other) const { return i_ == other.i_; }
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }
    Iterator& operator++() { return ++i_, *this; }
    const Tensor& operator*() const { return (*list_)[i_]; }
    const Tensor* operator->() const { return &(*list_)[i_]; }

   private:
    const OpInputList* list_;
    int i_;
  };
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, size()); }

 private:
  OpKernelContext* context_;
  int first_, last_;
};

class OpOutputList {
 public:
  OpOutputList() : context_(nullptr), first_(0), last_(0) {}
  OpOutputList(OpKernelContext* context, int first, int last) : context_(context), first_(first), last_(last) {}
  int size() const { return last_ - first_; }
  inline Tensor* operator[](int i);
  inline Status allocate(int i, const TensorShape& shape, Tensor** output);
  inline void set(int i, const Tensor& tensor);
  inline DataType expected_output_dtype(int i) const;

 private:
  OpKernelContext* context_;
  int first_, last_;
};

class OpKernelContext {
 public:
  OpKernelContext(OpKernel* kernel, ::tideflow::DLDevice device, void* stream)
      : kernel_(kernel), place_(device), gpu_(static_cast<CUstream_st*>(stream)), outputs_(kernel->node().output_types.size()) {
    inputs_.reserve(kernel->node().input_types.size());
  }
  OpKernelContext(const OpKernelContext&) = delete;

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType input_dtype(int i) const { return input(i).dtype(); }
  DataType expected_output_dtype(int i) const { return kernel_->output_type(i); }
  const Tensor& input(int i) const { return inputs_.at(static_cast<size_t>(i)); }
  Status input(StringPiece name, const Tensor** tensor) const {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().inputs, name, "input", &first, &last));
    if (last != first + 1)
      return errors::InvalidArgument("OpKernel used list-valued input name '", name, "' when single-valued input was expected");
    *tensor = &input(first);
    return Status::OK();
  }
  // A reference gives the memory of its variable, which nobody else uses while the kernel runs.
  bool input_is_ref(int i) const { return IsRefType(kernel_->input_type(i)); }
  Tensor mutable_input(int i, bool) const { return input(i); }
  Status mutable_input(StringPiece name, Tensor* tensor, bool lock_held) const {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().inputs, name, "input", &first, &last));
    *tensor = mutable_input(first, lock_held);
    return Status::OK();
  }
  mutex* input_ref_mutex(int) { return &reference_mutex_; }
  Status input_ref_mutex(StringPiece, mutex** found) {
    *found = &reference_mutex_;
    return Status::OK();
  }
  void replace_ref_input(int i, const Tensor& tensor, bool) { inputs_.at(static_cast<size_t>(i)) = tensor; }
  Status replace_ref_input(StringPiece name, const Tensor& tensor, bool lock_held) {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().inputs, name, "input", &first, &last));
    replace_ref_input(first, tensor, lock_held);
    return Status::OK();
  }
  void forward_ref_input_to_ref_output(int from, int to) { forwarded_[to] = from; }
  void forward_ref_input_to_ref_output(StringPiece from, StringPiece to) {
    int input, output, last;
    SetStatus(internal::RangeOf(node().inputs, from, "input", &input, &last));
    SetStatus(internal::RangeOf(node().outputs, to, "output", &output, &last));
    if (status_.ok()) forward_ref_input_to_ref_output(input, output);
  }
  int forwarded_input(int output) const {  // -1 where no reference was given out
    const auto found = forwarded_.find(output);
    return found == forwarded_.end() ? -1 : found->second;
  }
  ResourceMgr* resource_manager() const { return node().resources.get(); }
  Env* env() const { return Env::Default(); }

  Status input_list(StringPiece name, OpInputList* list) {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().inputs, name, "input", &first, &last));
    *list = OpInputList(this, first, last);
    return Status::OK();
  }
  Status output_list(StringPiece name, OpOutputList* list) {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().outputs, name, "output", &first, &last));
    *list = OpOutputList(this, first, last);
    return Status::OK();
  }
  bool ValidateInputsAreSameShape(OpKernel*) {
    for (int i = 1; i < num_inputs(); ++i) {
      if (input(0).IsSameSize(input(i))) continue;
      SetStatus(errors::InvalidArgument("Inputs to operation ", kernel_->name(), " of type ", kernel_->type_string(),
                                        " must have the same size and shape.  Input 0: ", input(0).shape(),
                                        " != input ", i, ": ", input(i).shape()));
      return false;
    }
    return true;
  }

  Status allocate_output(int i, const TensorShape& shape, Tensor** tensor) {
    return allocate_output(i, shape, tensor, AllocatorAttributes());
  }
  Status allocate_output(int i, const TensorShape& shape, Tensor** tensor, AllocatorAttributes) {
    if (i < 0 || i >= num_outputs())
      return errors::Internal("there is no output ", i, " of ", kernel_->type_string());
    if (IsRefType(expected_output_dtype(i)))
      return errors::Internal("output ", i, " of ", kernel_->type_string(), " is a reference, which is given out by "
                              "forward_ref_input_to_ref_output");
    const bool on_host = node().output_on_host[static_cast<size_t>(i)];
    Tensor& output = outputs_[static_cast<size_t>(i)];
    TF_RETURN_IF_ERROR(internal::AllocateOn(on_host ? Host() : place_, expected_output_dtype(i), shape, &output));
    *tensor = &output;
    return Status::OK();
  }
  Status allocate_output(StringPiece name, const TensorShape& shape, Tensor** tensor,
                         AllocatorAttributes attributes = AllocatorAttributes()) {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().outputs, name, "output", &first, &last));
    return allocate_output(first, shape, tensor, attributes);
  }
  AllocatorAttributes input_alloc_attr(int i) const { return Attributes(node().input_on_host, i); }
  AllocatorAttributes output_alloc_attr(int i) const { return Attributes(node().output_on_host, i); }
  MemoryType input_memory_type(int i) const { return input_alloc_attr(i).on_host() ? HOST_MEMORY : DEVICE_MEMORY; }
  MemoryType output_memory_type(int i) const { return output_alloc_attr(i).on_host() ? HOST_MEMORY : DEVICE_MEMORY; }
  Status allocate_temp(DataType dtype, const TensorShape& shape, Tensor* tensor,
                       AllocatorAttributes attributes = AllocatorAttributes(),
                       const AllocationAttributes& = AllocationAttributes()) {
    return internal::AllocateOn(attributes.on_host() ? Host() : place_, dtype, shape, tensor);
  }
  Status allocate_persistent(DataType dtype, const TensorShape& shape, PersistentTensor* kept, Tensor** tensor,
                             AllocatorAttributes attributes = AllocatorAttributes()) {
    Tensor made;
    TF_RETURN_IF_ERROR(allocate_temp(dtype, shape, &made, attributes));
    *kept = PersistentTensor(made);
    if (tensor) *tensor = kept->AccessTensor(this);
    return Status::OK();
  }
  // Inputs may be in use elsewhere, so an output always gets memory of its own.
  Status forward_input_or_allocate_output(gtl::ArraySlice<int>, int output, const TensorShape& shape, Tensor** tensor,
                                          int* forwarded_input = nullptr) {
    if (forwarded_input) *forwarded_input = -1;
    return allocate_output(output, shape, tensor);
  }
  Status forward_input_or_allocate_output(gtl::ArraySlice<StringPiece>, StringPiece output, const TensorShape& shape,
                                          Tensor** tensor) {
    return allocate_output(output, shape, tensor);
  }
  Status forward_input_or_allocate_temp(gtl::ArraySlice<int>, DataType dtype, const TensorShape& shape,
                                        const AllocatorAttributes& attributes, Tensor* tensor) {
    return allocate_temp(dtype, shape, tensor, attributes);
  }
  void set_output(int i, const Tensor& tensor) {
    if (tensor.dtype() != expected_output_dtype(i)) {
      SetStatus(errors::Internal("output ", i, " of ", kernel_->name(), " is of type ", DataTypeString(tensor.dtype()),
                                 ", and must be ", DataTypeString(expected_output_dtype(i))));
      return;
    }
    outputs_.at(static_cast<size_t>(i)) = tensor;
  }
  Status set_output(StringPiece name, const Tensor& tensor) {
    int first = 0, last = 0;
    TF_RETURN_IF_ERROR(internal::RangeOf(node().outputs, name, "output", &first, &last));
    set_output(first, tensor);
    return Status::OK();
  }
  Tensor* mutable_output(int i) {
    Tensor& output = outputs_.at(static_cast<size_t>(i));
    return output.buffer() ? &output : nullptr;
  }

  const Eigen::ThreadPoolDevice& eigen_cpu_device() const;
  const Eigen::GpuDevice& eigen_gpu_device() const { return gpu_; }
  template <typename Device>
  const Device& eigen_device() const;
  DeviceBase* device() const { return DeviceBase::Shared(); }
  OpKernel& op_kernel() const { return *kernel_; }
  int64 step_id() const { return 0; }

  const Status& status() const { return status_; }
  void SetStatus(const Status& status) {
    std::lock_guard<std::mutex> lock(mutex_);
    status_.Update(status);
  }
  void CtxFailure(const Status& status) { SetStatus(status); }
  void CtxFailureWithWarning(const Status& status) { SetStatus(status); }
  void CtxFailure(const char*, int, const Status& status) { SetStatus(status); }
  void CtxFailureWithWarning(const char*, int, const Status& status) { SetStatus(status); }

  void AddInput(Tensor tensor) { inputs_.push_back(std::move(tensor)); }

  // A variable among the inputs, by a reference or behind a handle (`var`, once it is initialized).
  struct Variable {
    int input;
    bool is_handle;
    string container, name;
    std::shared_ptr<internal::Buffer> given;  // its memory, null of an uninitialized one
    core::RefCountPtr<Var> var;
  };
  std::vector<Variable>& variables() { return variables_; }
  Variable* FindVariable(const ResourceHandle& handle) {
    for (Variable& each : variables_)
      if (each.is_handle && each.container == handle.container() && each.name == handle.name()) return &each;
    return nullptr;
  }

 private:
  static ::tideflow::DLDevice Host() { return {::tideflow::kDLCPU, 0}; }
  static AllocatorAttributes Attributes(const std::vector<bool>& on_host, int i) {
    AllocatorAttributes attributes;
    attributes.set_on_host(on_host.at(static_cast<size_t>(i)));
    return attributes;
  }
  const internal::NodeDescription& node() const { return kernel_->node(); }

  OpKernel* kernel_;
  ::tideflow::DLDevice place_;
  Eigen::GpuDevice gpu_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<Variable> variables_;
  std::map<int, int> forwarded_;  // references, output by input
  mutex reference_mutex_;
  std::mutex mutex_;
  Status status_;
};

inline const Eigen::ThreadPoolDevice& OpKernelContext::eigen_cpu_device() const {
  static const Eigen::ThreadPoolDevice device(internal::SharedPool()->NumThreads());
  return device;
}
template <>
inline const Eigen::ThreadPoolDevice& OpKernelContext::eigen_device() const { return eigen_cpu_device(); }
template <>
inline const Eigen::GpuDevice& OpKernelContext::eigen_device() const { return eigen_gpu_device(); }

const Tensor& OpInputList::operator[](int i) const { return context_->input(first_ + i); }
Tensor* OpOutputList::operator[](int i) { return context_->mutable_output(first_ + i); }
Status OpOutputList::allocate(int i, const TensorShape& shape, Tensor** output) {
  return context_->allocate_output(first_ + i, shape, output);
}
void OpOutputList::set(int i, const Tensor& tensor) { context_->set_output(first_ + i, tensor); }
DataType OpOutputList::expected_output_dtype(int i) const { return context_->expected_output_dtype(first_ + i); }

// A kernel that calls `done` when its outputs are there, from any thread. The step waits for it.
class AsyncOpKernel : public OpKernel {
 public:
  typedef std::function<void()> DoneCallback;
  using OpKernel::OpKernel;
  AsyncOpKernel* AsAsync() override { return this; }
  virtual void ComputeAsync(OpKernelContext* context, DoneCallback done) = 0;
  void Compute(OpKernelContext* context) override {
    auto call = std::make_shared<internal::PendingCall>();
    {
      internal::WithCurrentCall current(call);
      ComputeAsync(context, [call] { call->Finish(); });
    }
    call->Wait();
  }
};

#define OP_REQUIRES(context, condition, ...)                     \
  do {                                                           \
    if (!TF_PREDICT_TRUE(condition)) {                           \
      (context)->CtxFailure(__FILE__, __LINE__, (__VA_ARGS__));  \
      return;                                                    \
    }                                                            \
  } while (0)
#define OP_REQUIRES_OK(context, ...)                                    \
  do {                                                                  \
    const ::tensorflow::Status _status = (__VA_ARGS__);                 \
    if (!TF_PREDICT_TRUE(_status.ok())) {                               \
      (context)->CtxFailureWithWarning(__FILE__, __LINE__, _status);    \
      return;                                                           \
    }                                                                   \
  } while (0)
#define OP_REQUIRES_ASYNC(context, condition, status, callback)  \
  do {                                                           \
    if (!TF_PREDICT_TRUE(condition)) {                           \
      (context)->CtxFailure(__FILE__, __LINE__, (status));       \
      (callback)();                                              \
      return;                                                    \
    }                                                            \
  } while (0)
#define OP_REQUIRES_OK_ASYNC(context, status, callback)                 \
  do {                                                                  \
    const ::tensorflow::Status _status = (status);                      \
    if (!TF_PREDICT_TRUE(_status.ok())) {                               \
      (context)->CtxFailureWithWarning(__FILE__, __LINE__, _status);    \
      (callback)();                                                     \
      return;                                                           \
    }                                                                   \
  } while (0)

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_OP_KERNEL_H_
