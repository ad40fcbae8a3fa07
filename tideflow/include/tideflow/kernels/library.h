// How Python uses a library of kernels. The library exports two functions; the second one returns five that
// Python calls: what is declared here, a shape function, the making of a kernel, which is a function too, and
// containers of resources.
#ifndef TIDEFLOW_KERNELS_LIBRARY_H_
#define TIDEFLOW_KERNELS_LIBRARY_H_

#include "tideflow/kernels/registration.h"

#define TIDEFLOW_LIBRARY_VERSION 2  // of the functions and messages between Python and a library

namespace tideflow {
namespace library __attribute__((visibility("hidden"))) {

using namespace ::tensorflow;
using internal::Buffer;

struct FromPython {  // what Python gives when it loads the library
  PyObject* error = nullptr;  // an exception of a code and a message
  PyObject* contiguous = nullptr;  // a tensor, dense in the order of its dimensions
  PyObject* none = nullptr;
  PyObject* view = nullptr;  // (tensor, first element, sizes): a part of a tensor in another shape
};
inline FromPython& Given() {
  static FromPython given;
  return given;
}

inline PyObject* Bytes(StringPiece text) {
  return python::BytesFromStringAndSize(text.data(), static_cast<ptrdiff_t>(text.size()));
}

template <typename... Items>
PyObject* Tuple(Items... items) {  // takes the references
  PyObject* const all[] = {items...};
  PyObject* tuple = python::TupleNew(sizeof...(items));
  for (size_t i = 0; i < sizeof...(items); ++i) python::TupleSetItem(tuple, static_cast<ptrdiff_t>(i), all[i]);
  return tuple;
}

inline PyObject* Raise(const Status& status) {
  PyObject* said = Tuple(python::LongFromLongLong(status.code()), Bytes(status.error_message()));
  python::SetError(Given().error, said);
  python::DecRef(said);
  return nullptr;
}

// No exception of C++ leaves the library.
template <typename Function>
PyObject* Guarded(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Raise(errors::ResourceExhausted("OOM when allocating memory in a kernel"));
  } catch (const std::exception& failure) {
    return Raise(errors::Internal(failure.what()));
  } catch (...) {
    return Raise(errors::Internal("an exception that is no std::exception left a function of the library"));
  }
}

// The text of a bytes object; false with an error of Python's for any other.
inline bool TextOf(PyObject* bytes, string* text) {
  char* data;
  ptrdiff_t size;
  if (!bytes || python::BytesAsStringAndSize(bytes, &data, &size) != 0) return false;
  text->assign(data, static_cast<size_t>(size));
  return true;
}

inline internal::MessageReader Message(PyObject* bytes) {
  char* data = nullptr;
  ptrdiff_t size = 0;
  CHECK(python::BytesAsStringAndSize(bytes, &data, &size) == 0) << "a message is bytes";
  return internal::MessageReader(data, static_cast<size_t>(size));
}

// ---------------------------------------------------------------------------------- declarations and shapes

inline void Note(PyObject* list, StringPiece key, StringPiece value) {
  PyObject* pair = Tuple(Bytes(key), Bytes(value));
  python::ListAppend(list, pair);
  python::DecRef(pair);
}

inline PyObject* Describe(PyObject*, PyObject* const*, ptrdiff_t) {
  return Guarded([] {
    PyObject* list = python::ListNew(0);
    for (const auto& op : internal::LibraryDeclarations().ops) {
      for (const auto& word : op.words) Note(list, word.first, word.second);
      if (op.shape_function) Note(list, "shape", "");
    }
    for (const auto& kernel : internal::LibraryDeclarations().kernels)
      for (const auto& word : kernel.words) Note(list, word.first, word.second);
    return list;
  });
}

inline void Append(string* message, int64 number) {
  message->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline PyObject* Infer(PyObject*, PyObject* const* args, ptrdiff_t) {
  return Guarded([&]() -> PyObject* {
    const auto& op = internal::LibraryDeclarations().ops.at(static_cast<size_t>(python::LongAsLongLong(args[0])));
    internal::MessageReader in = Message(args[1]);
    shape_inference::InferenceContext context;
    context.Read(&in);
    const Status status = op.shape_function(&context);
    if (!status.ok()) return Raise(status);
    string answer;
    for (int i = 0; i < context.num_outputs(); ++i) {
      const shape_inference::ShapeHandle shape = context.output(i);
      const bool known = context.RankKnown(shape);
      Append(&answer, known ? context.Rank(shape) : -1);
      for (int d = 0; known && d < context.Rank(shape); ++d) Append(&answer, context.Value(context.Dim(shape, d)));
    }
    return Bytes(answer);
  });
}

// ------------------------------------------------------------------------------------------- running kernels

// The inputs of a running step. A tensor that the kernel keeps gets a reference of its own to its memory.
class Inputs {
 public:
  Inputs() {}
  Inputs(const Inputs&) = delete;
  ~Inputs() {
    for (const auto& buffer : buffers_) {
      if (buffer.use_count() <= 1 || buffer->owns_input || !buffer->input) continue;
      python::IncRef(buffer->input);
      buffer->owns_input = true;
    }
    for (PyObject* copy : copies_) python::DecRef(copy);
  }

  // Makes a tensor of what Python gave; null with an error of Python's where it cannot.
  bool Take(PyObject* given, DataType dtype, DLDeviceType place, OpKernelContext* context) {
    if (dtype == DT_STRING) return TakeStrings(given, context);
    if (dtype == DT_RESOURCE) return TakeHandles(given, place, context);
    Tensor tensor(BaseType(dtype));
    if (given != Given().none && !TakeNumbers(given, BaseType(dtype), place, &tensor)) return false;
    if (IsRefType(dtype)) context->variables().push_back({context->num_inputs(), false, "", "", tensor.buffer(), nullptr});
    context->AddInput(std::move(tensor));
    return true;
  }

 private:
  bool TakeNumbers(PyObject* given, DataType dtype, DLDeviceType place, Tensor* tensor) {
    auto buffer = std::make_shared<Buffer>();
    DLTensor view;
    if (internal::Exchange()->view_of_py(given, &view) != 0) return false;
    if (!IsContiguous(view)) {
      PyObject* alone = Tuple((python::IncRef(given), given));
      given = python::CallObject(Given().contiguous, alone);
      python::DecRef(alone);
      if (!given) return false;
      copies_.push_back(given);
      if (internal::Exchange()->view_of_py(given, &view) != 0) return false;
    }
    if (view.device.device_type != place || view.dtype.bits != 8 * DataTypeSize(dtype)) {
      Raise(errors::Internal("a kernel was given a tensor of another device or type than ", DataTypeString(dtype)));
      return false;
    }
    buffer->data = static_cast<char*>(view.data) + view.byte_offset;
    buffer->input = given;
    buffers_.push_back(buffer);
    *tensor = Tensor(dtype, TensorShape(view.shape, view.ndim), std::move(buffer));
    return true;
  }
  static bool IsContiguous(const DLTensor& view) {
    if (!view.strides) return true;
    int64_t dense = 1;
    bool is_dense = true;
    for (int d = view.ndim - 1; d >= 0; --d) {
      if (view.shape[d] == 0) return true;
      if (view.shape[d] != 1 && view.strides[d] != dense) is_dense = false;
      dense *= view.shape[d];
    }
    return is_dense;
  }
  // Strings come as a tuple of bytes and a tuple of sizes.
  bool TakeStrings(PyObject* given, OpKernelContext* context) {
    PyObject* texts = python::TupleGetItem(given, 0);
    TensorShape shape;
    if (!texts || !TakeSizes(given, &shape)) return false;
    Tensor tensor(DT_STRING, shape);
    for (ptrdiff_t i = 0; i < python::TupleSize(texts); ++i)
      if (!TextOf(python::TupleGetItem(texts, i), &tensor.buffer()->strings.at(static_cast<size_t>(i)))) return false;
    context->AddInput(tensor);
    return true;
  }
  // Handles come as a tuple of them and a tuple of sizes. A handle is (device, container, name, type), and of a
  // variable also its type of elements and its value, or None.
  bool TakeHandles(PyObject* given, DLDeviceType place, OpKernelContext* context) {
    PyObject* handles = python::TupleGetItem(given, 0);
    TensorShape shape;
    if (!handles || !TakeSizes(given, &shape)) return false;
    Tensor tensor(DT_RESOURCE, shape);
    for (ptrdiff_t i = 0; i < python::TupleSize(handles); ++i) {
      PyObject* parts = python::TupleGetItem(handles, i);
      string words[4];
      for (int k = 0; k < 4; ++k)
        if (!TextOf(python::TupleGetItem(parts, k), &words[k])) return false;
      ResourceHandle& handle = tensor.buffer()->handles.at(static_cast<size_t>(i));
      handle.set_device(words[0]), handle.set_container(words[1]), handle.set_name(words[2]);
      if (python::TupleSize(parts) == 6) {
        if (!TakeVariable(parts, words, place, context)) return false;
        words[3] = MakeTypeIndex<Var>().name();
      }
      handle.set_maybe_type_name(words[3]);
      handle.set_hash_code(TypeIndex(words[3].c_str()).hash_code());
    }
    context->AddInput(tensor);
    return true;
  }
  bool TakeVariable(PyObject* parts, const string* words, DLDeviceType place, OpKernelContext* context) {
    const DataType dtype = static_cast<DataType>(python::LongAsLongLong(python::TupleGetItem(parts, 4)));
    PyObject* value = python::TupleGetItem(parts, 5);
    core::RefCountPtr<Var> var;
    std::shared_ptr<Buffer> memory;
    if (value != Given().none) {
      var.reset(new Var(dtype));
      if (!TakeNumbers(value, dtype, place, var->tensor())) return false;
      var->is_initialized = true;
      memory = var->tensor()->buffer();
    }
    context->variables().push_back({context->num_inputs(), true, words[1], words[2], memory, std::move(var)});
    return true;
  }
  static bool TakeSizes(PyObject* given, TensorShape* shape) {
    PyObject* sizes = python::TupleGetItem(given, 1);
    if (!sizes) return false;
    for (ptrdiff_t d = 0; d < python::TupleSize(sizes); ++d)
      shape->AddDim(python::LongAsLongLong(python::TupleGetItem(sizes, d)));
    return true;
  }

  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::vector<PyObject*> copies_;
};

class ReleasedGil {
 public:
  ReleasedGil() : state_(python::SaveThread()) {}
  ~ReleasedGil() { python::RestoreThread(state_); }

 private:
  void* state_;
};

inline PyObject* SizesToPython(const TensorShape& shape) {
  PyObject* sizes = python::TupleNew(shape.dims());
  for (int d = 0; d < shape.dims(); ++d)
    python::TupleSetItem(sizes, d, python::LongFromLongLong(shape.dim_size(d)));
  return sizes;
}

inline PyObject* StringsToPython(const Tensor& tensor) {
  const auto strings = tensor.flat<string>();
  PyObject* texts = python::TupleNew(tensor.NumElements());
  for (int64 i = 0; i < tensor.NumElements(); ++i) python::TupleSetItem(texts, i, Bytes(strings(i)));
  return Tuple(texts, SizesToPython(tensor.shape()));
}

inline PyObject* HandlesToPython(const Tensor& tensor) {
  const auto handles = tensor.flat<ResourceHandle>();
  PyObject* all = python::TupleNew(tensor.NumElements());
  for (int64 i = 0; i < tensor.NumElements(); ++i) {
    const ResourceHandle& each = handles(i);
    python::TupleSetItem(all, i, Tuple(Bytes(each.device()), Bytes(each.container()), Bytes(each.name()),
                                       Bytes(each.maybe_type_name())));
  }
  return Tuple(all, SizesToPython(tensor.shape()));
}

inline bool HasSizes(const DLTensor& memory, const TensorShape& shape) {
  if (memory.ndim != shape.dims()) return false;
  for (int d = 0; d < shape.dims(); ++d)
    if (memory.shape[d] != shape.dim_size(d)) return false;
  return true;
}

// An output as a tensor of Python. Memory of an input goes out as that input or a view of it, so that torch
// knows who shares it; memory that the kernel keeps is copied, since the kernel may write to it again.
inline PyObject* ToPython(Tensor* tensor, const OpKernel& kernel) {
  if (tensor->dtype() == DT_STRING) return StringsToPython(*tensor);
  if (tensor->dtype() == DT_RESOURCE) return HandlesToPython(*tensor);
  const std::shared_ptr<Buffer>& buffer = tensor->buffer();
  void* made = nullptr;
  if (buffer->input) {
    python::IncRef(buffer->input);
    PyObject* args = Tuple(buffer->input, python::LongFromLongLong(tensor->offset()), SizesToPython(tensor->shape()));
    made = python::CallObject(Given().view, args);
    python::DecRef(args);
    return static_cast<PyObject*>(made);
  }
  if (!buffer->managed || buffer.use_count() > 1 || !HasSizes(buffer->managed->dl_tensor, tensor->shape())) {
    if (buffer->managed && buffer->managed->dl_tensor.device.device_type != kDLCPU)
      return Raise(errors::Unimplemented(kernel.type_string(), " keeps the memory of an output on the GPU, which "
                                         "would change with the next step: allocate the output, and copy to it"));
    Tensor copy;
    const Status status = internal::AllocateOn({kDLCPU, 0}, tensor->dtype(), tensor->shape(), &copy);
    if (!status.ok()) return Raise(status);
    memcpy(copy.data(), tensor->data(), tensor->TotalBytes());
    *tensor = std::move(copy);
    return ToPython(tensor, kernel);
  }
  DLManagedTensorVersioned* managed = buffer->managed;
  buffer->managed = nullptr;
  return internal::Exchange()->managed_to_py(managed, &made) == 0 ? static_cast<PyObject*>(made) : nullptr;
}

// An output; of a reference, the number of the input that it is.
inline PyObject* Output(int i, OpKernelContext* context, const OpKernel& kernel) {
  if (IsRefType(kernel.output_type(i)) && context->forwarded_input(i) >= 0)
    return python::LongFromLongLong(context->forwarded_input(i));
  Tensor* output = context->mutable_output(i);
  if (!output) return Raise(errors::Internal("Missing ", i, "-th output from node ", kernel.name()));
  return ToPython(output, kernel);
}

inline PyObject* Outputs(OpKernelContext* context, const OpKernel& kernel) {
  if (kernel.node().returns_one) return Output(0, context, kernel);
  PyObject* all = python::TupleNew(context->num_outputs());
  for (int i = 0; i < context->num_outputs(); ++i) {
    PyObject* made = Output(i, context, kernel);
    if (!made) {
      python::DecRef(all);
      return nullptr;
    }
    python::TupleSetItem(all, i, made);
  }
  return all;
}

// What the kernel put into variables instead of writing to their memory: (input, name of the variable, value).
inline PyObject* Written(OpKernelContext* context, const OpKernel& kernel) {
  PyObject* all = python::ListNew(0);
  for (auto& variable : context->variables()) {
    Tensor tensor = variable.var ? *variable.var->tensor() : context->input(variable.input);
    if ((variable.is_handle && !variable.var) || !tensor.buffer() || tensor.buffer() == variable.given) continue;
    PyObject* value = ToPython(&tensor, kernel);
    if (!value) {
      python::DecRef(all);
      return nullptr;
    }
    PyObject* entry = Tuple(python::LongFromLongLong(variable.input), Bytes(variable.name), value);
    python::ListAppend(all, entry);
    python::DecRef(entry);
  }
  return all;
}

inline PyObject* Compute(OpKernel* kernel, PyObject* const* args, ptrdiff_t count) {
  const internal::NodeDescription& node = kernel->node();
  CHECK_EQ(static_cast<size_t>(count), node.input_types.size()) << "inputs of " << node.op;
  DLDevice place = {node.device == DEVICE_GPU ? kDLCUDA : kDLCPU, node.device_id};
  void* stream = nullptr;
  if (place.device_type == kDLCUDA && internal::Exchange()->current_work_stream(kDLCUDA, place.device_id, &stream))
    return nullptr;
  Inputs inputs;  // outlives the context, which holds tensors of it
  OpKernelContext context(kernel, place, stream);
  for (size_t i = 0; i < node.input_types.size(); ++i)
    if (!inputs.Take(args[i], node.input_types[i], node.input_on_host[i] ? kDLCPU : place.device_type, &context))
      return nullptr;
  {
    ReleasedGil released;
    kernel->Compute(&context);
  }
  PyObject* outputs = context.status().ok() ? Outputs(&context, *kernel) : Raise(context.status());
  if (!outputs || !node.takes_state) return outputs;
  PyObject* written = Written(&context, *kernel);
  if (written) return Tuple(outputs, written);
  python::DecRef(outputs);
  return nullptr;
}

static const char* const kKernel = "tideflow.kernel";

inline PyObject* Run(PyObject* self, PyObject* const* args, ptrdiff_t count) {
  return Guarded([&] {
    return Compute(static_cast<OpKernel*>(python::CapsuleGetPointer(self, kKernel)), args, count);
  });
}

inline PyObject* MakeKernel(PyObject*, PyObject* const* args, ptrdiff_t) {
  static python::MethodDef run = {"kernel", Run, python::kFastCall, nullptr};
  return Guarded([&]() -> PyObject* {
    auto& all = internal::LibraryDeclarations().kernels;
    auto& declared = all.at(static_cast<size_t>(python::LongAsLongLong(args[0])));
    internal::MessageReader in = Message(args[1]);
    auto node = std::make_shared<internal::NodeDescription>();
    node->Read(&in);
    node->resources.reset(new ResourceMgr(args[2]));
    OpKernelConstruction construction(node);
    std::unique_ptr<OpKernel> kernel(declared.make(&construction));
    if (!construction.status().ok()) return Raise(construction.status());
    PyObject* capsule = python::CapsuleNew(kernel.release(), kKernel, [](PyObject* owner) {
      delete static_cast<OpKernel*>(python::CapsuleGetPointer(owner, kKernel));
    });
    PyObject* function = python::FunctionNew(&run, capsule, nullptr);
    python::DecRef(capsule);
    return function;
  });
}

inline PyObject* MakeContainer(PyObject*, PyObject* const*, ptrdiff_t) {
  typedef std::shared_ptr<internal::Container> Held;
  return python::CapsuleNew(new Held(new internal::Container), internal::kContainer, [](PyObject* owner) {
    delete static_cast<Held*>(python::CapsuleGetPointer(owner, internal::kContainer));
  });
}

// (container, type, name, whether to remove it): whether the container has the resource.
inline PyObject* Has(PyObject*, PyObject* const* args, ptrdiff_t) {
  return Guarded([&]() -> PyObject* {
    void* held = python::CapsuleGetPointer(args[0], internal::kContainer);
    if (!held) return nullptr;
    internal::Container& container = **static_cast<std::shared_ptr<internal::Container>*>(held);
    string type, name;
    if (!TextOf(args[1], &type) || !TextOf(args[2], &name)) return nullptr;
    if (python::LongAsLongLong(args[3])) return python::LongFromLongLong(container.Remove(type, name));
    ResourceBase* found = container.Find(type, name);
    if (found) found->Unref();
    return python::LongFromLongLong(found != nullptr);
  });
}

// Statics of functions that are not hidden would be one for all libraries of the process.
inline PyObject* Load(PyObject* exchange, PyObject* error, PyObject* contiguous, PyObject* view, PyObject* none) {
  static python::MethodDef functions[] = {{"describe", Describe, python::kFastCall, nullptr},
                                          {"infer", Infer, python::kFastCall, nullptr},
                                          {"make_kernel", MakeKernel, python::kFastCall, nullptr},
                                          {"make_container", MakeContainer, python::kFastCall, nullptr},
                                          {"has", Has, python::kFastCall, nullptr}};
  for (PyObject* kept : {error, contiguous, view, none}) python::IncRef(kept);
  Given().error = error, Given().contiguous = contiguous, Given().view = view, Given().none = none;
  auto* api = static_cast<DLPackExchangeAPI*>(python::CapsuleGetPointer(exchange, "dlpack_exchange_api"));
  while (api && api->version.major > 1) api = api->previous;
  if (!api) return Raise(errors::FailedPrecondition("torch offers no version 1 of DLPack's C interface"));
  internal::Exchange() = api;
  return Tuple(python::FunctionNew(&functions[0], nullptr, nullptr),
               python::FunctionNew(&functions[1], nullptr, nullptr),
               python::FunctionNew(&functions[2], nullptr, nullptr),
               python::FunctionNew(&functions[3], nullptr, nullptr),
               python::FunctionNew(&functions[4], nullptr, nullptr));
}

}  // namespace library
}  // namespace tideflow

extern "C" {
__attribute__((used, visibility("default"))) inline int tideflow_library_version() {
  return TIDEFLOW_LIBRARY_VERSION;
}
__attribute__((used, visibility("default"))) inline PyObject* tideflow_library(
    PyObject* exchange, PyObject* error, PyObject* contiguous, PyObject* view, PyObject* none) {
  return tideflow::library::Load(exchange, error, contiguous, view, none);
}
}

#endif  // TIDEFLOW_KERNELS_LIBRARY_H_
