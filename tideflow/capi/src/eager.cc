// Operations that run at once.

#include "eager.h"

#include <cstdio>

#include "description.h"
#include "session.h"
#include "wire.h"

using namespace tideflow;

namespace {

constexpr int kFunction = 10;  // the field of an AttrValue

TFE_TensorHandle* handle_of(Object tensor, TF_Status* status) {
  if (!tensor) return nullptr;
  Object type = call(status, "eager.dtype", "(O)", tensor.get());
  Object dims = type ? call(status, "eager.dims", "(O)", tensor.get()) : Object();
  Object device = dims ? call(status, "eager.device_name", "(O)", tensor.get()) : Object();
  if (!device) return nullptr;
  auto* handle = new TFE_TensorHandle{std::move(tensor), static_cast<TF_DataType>(PyLong_AsLong(type.get())), {},
                                      text(device.get())};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(dims.get()); ++i) {
    handle->dims.push_back(PyLong_AsLongLong(PyList_GET_ITEM(dims.get(), i)));
  }
  return handle;
}

Object inputs_of(const TFE_Op& op) {
  return list(op.inputs.size(), [&](size_t i) {
    const auto& input = op.inputs[i];
    if (!input.is_list) return Object::of(input.tensors[0].get());
    return list(input.tensors.size(), [&](size_t j) { return Object::of(input.tensors[j].get()); });
  });
}

Object attrs_of(const TFE_Op& op) {
  Object attrs(PyDict_New());
  for (const auto& call : op.description.calls) {
    PyDict_SetItemString(attrs.get(), call.name.c_str(), bytes(call.value.data(), call.value.size()).get());
  }
  return attrs;
}

// A NameAttrList: a function, and the attributes it is called with.
Message function_message(const TFE_Op& op) {
  Message made;
  made.bytes(1, op.description.type);
  for (const auto& call : op.description.calls) made.message(2, Message().bytes(1, call.name).bytes(2, call.value));
  return made;
}

int length_of(const Object& found) { return found ? static_cast<int>(PyLong_AsLong(found.get())) : -1; }

}  // namespace

extern "C" {

// ------------------------------------------------------------------------------------------------ contexts

TFE_ContextOptions* TFE_NewContextOptions(void) { return new TFE_ContextOptions; }

void TFE_DeleteContextOptions(TFE_ContextOptions* options) { delete options; }

void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto, size_t proto_len,
                                 TF_Status* status) {
  Gil gil;
  if (!call(status, "sessions.check_config", "(O)", bytes(proto, proto_len).get())) return;
  options->config.assign(static_cast<const char*>(proto), proto_len);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions*, unsigned char) {}

void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions* options,
                                                TFE_ContextDevicePlacementPolicy policy) {
  options->policy = policy;
}

void TFE_ContextOptionsSetMirroringPolicy(TFE_ContextOptions* options, TFE_ContextMirroringPolicy policy) {
  options->mirroring = policy;
}

TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) {
  Gil gil;
  Object made = call(status, "eager.new_context", "(O)", bytes(opts->config.data(), opts->config.size()).get());
  return made ? new TFE_Context{std::move(made), opts->policy, opts->mirroring, {}, {}} : nullptr;
}

void TFE_DeleteContext(TFE_Context* ctx) {
  if (ctx == nullptr) return;
  Gil gil;
  delete ctx;
}

TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) {
  Gil gil;
  return device_list(call(status, "eager.devices", "(O)", ctx->context.get()));
}

void TFE_ContextClearCaches(TFE_Context* ctx) {
  Gil gil;
  call(nullptr, "eager.clear_caches", "(O)", ctx->context.get());
}

void TFE_ContextSetThreadLocalDevicePlacementPolicy(TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy) {
  ctx->policy = policy;
}

TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context* ctx) { return ctx->policy; }

void TFE_ContextSetThreadLocalMirroringPolicy(TFE_Context* ctx, TFE_ContextMirroringPolicy policy) {
  ctx->mirroring = policy;
}

TFE_ContextMirroringPolicy TFE_ContextGetMirroringPolicy(TFE_Context* ctx) { return ctx->mirroring; }

void TFE_ContextStartStep(TFE_Context*) {}

void TFE_ContextEndStep(TFE_Context*) {}

void TFE_ContextAddFunctionDef(TFE_Context* ctx, const char* serialized_function_def, size_t size,
                               TF_Status* status) {
  Gil gil;
  Object function = call(status, "functions.from_message", "(O)", bytes(serialized_function_def, size).get());
  if (function) call(status, "eager.add_function", "(OO)", ctx->context.get(), function.get());
}

void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function, TF_Status* status) {
  Gil gil;
  call(status, "eager.add_function", "(OO)", ctx->context.get(), function->message.get());
}

void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name, TF_Status* status) {
  Gil gil;
  call(status, "eager.remove_function", "(Os)", ctx->context.get(), name);
}

unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name) {
  Gil gil;
  Object found = call(nullptr, "eager.has_function", "(Os)", ctx->context.get(), name);
  return found && PyObject_IsTrue(found.get());
}

// ------------------------------------------------------------------------------------------------ tensors

TFE_TensorHandle* TFE_NewTensorHandle(TF_Tensor* t, TF_Status* status) {
  Gil gil;
  succeed(status);
  Object array = array_of(t, status);
  if (!array) return nullptr;
  return handle_of(call(status, "eager.new_handle", "(Oi)", array.get(), static_cast<int>(t->type)), status);
}

void TFE_DeleteTensorHandle(TFE_TensorHandle* h) {
  if (h == nullptr) return;
  Gil gil;
  delete h;
}

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) { return h->type; }

int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) {
  succeed(status);
  return static_cast<int>(h->dims.size());
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) {
  succeed(status);
  int64_t count = 1;
  for (int64_t dim : h->dims) count *= dim;
  return count;
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index, TF_Status* status) {
  succeed(status);
  if (dim_index >= 0 && static_cast<size_t>(dim_index) < h->dims.size()) return h->dims[dim_index];
  fail(status, TF_INVALID_ARGUMENT, "The tensor has " + std::to_string(h->dims.size()) + " dimensions, and no " +
                                        std::to_string(dim_index));
  return -1;
}

const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  succeed(status);
  return h->device.c_str();
}

const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) {
  return TFE_TensorHandleDeviceName(h, status);
}

TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h, TF_Status* status) {
  Gil gil;
  succeed(status);
  return new TFE_TensorHandle{Object::of(h->tensor.get()), h->type, h->dims, h->device};
}

TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) {
  Gil gil;
  Object value = call(status, "eager.value", "(O)", h->tensor.get());
  return value ? tensor_of(value.get(), h->type, status) : nullptr;
}

TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context* ctx, const char* device_name,
                                               TF_Status* status) {
  Gil gil;
  return handle_of(
      call(status, "eager.copy_to_device", "(OOs)", h->tensor.get(), ctx->context.get(), device_name), status);
}

TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* h, TF_Status* status) {
  succeed(status);
  return new TFE_TensorDebugInfo{h->dims};
}

void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info) { delete debug_info; }

int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info) {
  return static_cast<int>(debug_info->dims.size());
}

int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* debug_info, int dim_index) {
  const bool there = dim_index >= 0 && dim_index < TFE_TensorDebugInfoOnDeviceNumDims(debug_info);
  return there ? debug_info->dims[static_cast<size_t>(dim_index)] : -1;
}

void TFE_TensorHandlePrintDebugString(TFE_TensorHandle* handle) {
  Gil gil;
  Object told = call(nullptr, "eager.tensor_text", "(O)", handle->tensor.get());
  if (told) std::fprintf(stderr, "%s\n", text(told.get()).c_str());
}

// ------------------------------------------------------------------------------------------------ operations

TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name, TF_Status* status) {
  Gil gil;
  if (!call(status, "eager.check_op", "(Os)", ctx->context.get(), op_or_function_name)) return nullptr;
  return new TFE_Op{ctx, {nullptr, op_or_function_name, "", "", {}, {}, {}}, {}, nullptr};
}

void TFE_DeleteOp(TFE_Op* op) {
  if (op == nullptr) return;
  Gil gil;
  delete op;
}

void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status) {
  Gil gil;
  Object name = call(status, "eager.check_device", "(s)", device_name);
  if (name) op->description.device = text(name.get());
}

const char* TFE_OpGetDevice(TFE_Op* op, TF_Status* status) {
  succeed(status);
  return op->description.device.c_str();
}

void TFE_OpSetXLACompilation(TFE_Op*, unsigned char) {}

void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) {
  Gil gil;
  succeed(status);
  TFE_Op::Input added{false, {}};
  added.tensors.push_back(Object::of(input->tensor.get()));
  op->inputs.push_back(std::move(added));
}

void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs, TF_Status* status) {
  Gil gil;
  succeed(status);
  TFE_Op::Input added{true, {}};
  for (int i = 0; i < num_inputs; ++i) added.tensors.push_back(Object::of(inputs[i]->tensor.get()));
  op->inputs.push_back(std::move(added));
}

TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name, unsigned char* is_list, TF_Status* status) {
  return TFE_OpNameGetAttrType(op->context, op->description.type.c_str(), attr_name, is_list, status);
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx, const char* op_or_function_name, const char* attr_name,
                                  unsigned char* is_list, TF_Status* status) {
  Gil gil;
  Object found = call(status, "eager.attr_type", "(Oss)", ctx->context.get(), op_or_function_name, attr_name);
  if (!found) return TF_ATTR_INT;
  *is_list = PyTuple_GET_ITEM(found.get(), 1) == Py_True;
  return static_cast<TF_AttrType>(PyLong_AsLong(PyTuple_GET_ITEM(found.get(), 0)));
}

void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value, size_t length) {
  TF_SetAttrString(&op->description, attr_name, value, length);
}

void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value) {
  TF_SetAttrInt(&op->description, attr_name, value);
}

void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value) {
  TF_SetAttrFloat(&op->description, attr_name, value);
}

void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name, unsigned char value) {
  TF_SetAttrBool(&op->description, attr_name, value);
}

void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value) {
  TF_SetAttrType(&op->description, attr_name, value);
}

void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name, const int64_t* dims, int num_dims, TF_Status* out_status) {
  succeed(out_status);
  TF_SetAttrShape(&op->description, attr_name, dims, num_dims);
}

void TFE_OpSetAttrFunction(TFE_Op* op, const char* attr_name, const TFE_Op* value) {
  set_attr(&op->description, attr_name, Message().message(kFunction, function_message(*value)).text());
}

void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* attr_name, const char* data, size_t length) {
  TF_SetAttrFuncName(&op->description, attr_name, data, length);
}

void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor, TF_Status* status) {
  TF_SetAttrTensor(&op->description, attr_name, tensor, status);
}

void TFE_OpSetAttrStringList(TFE_Op* op, const char* attr_name, const void* const* values, const size_t* lengths,
                             int num_values) {
  TF_SetAttrStringList(&op->description, attr_name, values, lengths, num_values);
}

void TFE_OpSetAttrIntList(TFE_Op* op, const char* attr_name, const int64_t* values, int num_values) {
  TF_SetAttrIntList(&op->description, attr_name, values, num_values);
}

void TFE_OpSetAttrFloatList(TFE_Op* op, const char* attr_name, const float* values, int num_values) {
  TF_SetAttrFloatList(&op->description, attr_name, values, num_values);
}

void TFE_OpSetAttrBoolList(TFE_Op* op, const char* attr_name, const unsigned char* values, int num_values) {
  TF_SetAttrBoolList(&op->description, attr_name, values, num_values);
}

void TFE_OpSetAttrTypeList(TFE_Op* op, const char* attr_name, const TF_DataType* values, int num_values) {
  TF_SetAttrTypeList(&op->description, attr_name, values, num_values);
}

void TFE_OpSetAttrShapeList(TFE_Op* op, const char* attr_name, const int64_t** dims, const int* num_dims,
                            int num_values, TF_Status* out_status) {
  succeed(out_status);
  TF_SetAttrShapeList(&op->description, attr_name, dims, num_dims, num_values);
}

void TFE_OpSetAttrFunctionList(TFE_Op* op, const char* attr_name, const TFE_Op** value, int num_values) {
  Message functions;
  for (int i = 0; i < num_values; ++i) functions.message(9, function_message(*value[i]));
  set_attr(&op->description, attr_name, Message().message(1, functions).text());
}

int TFE_OpGetInputLength(TFE_Op* op, const char* input_name, TF_Status* status) {
  Gil gil;
  return length_of(call(status, "eager.input_length", "(OsNs)", op->context->context.get(),
                        op->description.type.c_str(), inputs_of(*op).taken(), input_name));
}

int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name, TF_Status* status) {
  Gil gil;
  return length_of(call(status, "eager.output_length", "(OsNNs)", op->context->context.get(),
                        op->description.type.c_str(), inputs_of(*op).taken(), attrs_of(*op).taken(), output_name));
}

void TFE_OpPrintDebugString(TFE_Op* op) {
  Gil gil;
  Object told = call(nullptr, "eager.op_text", "(sNN)", op->description.type.c_str(), inputs_of(*op).taken(),
                     attrs_of(*op).taken());
  if (told) std::fprintf(stderr, "%s\n", text(told.get()).c_str());
}

void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals, TF_Status* status) {
  if (op->cancellation != nullptr && TFE_CancellationManagerIsCancelled(op->cancellation)) {
    fail(status, TF_CANCELLED, "Operation " + op->description.type + " was cancelled before it ran");
    return;
  }
  Gil gil;
  Object made = call(status, "eager.execute", "(OssNN)", op->context->context.get(), op->description.type.c_str(),
                     op->description.device.c_str(), inputs_of(*op).taken(), attrs_of(*op).taken());
  if (!made) return;
  const int count = static_cast<int>(PyList_GET_SIZE(made.get()));
  if (count > *num_retvals) {
    fail(status, TF_INVALID_ARGUMENT, "Expecting " + std::to_string(count) + " outputs, but *num_retvals is " +
                                          std::to_string(*num_retvals));
    return;
  }
  for (int i = 0; i < count; ++i) {
    retvals[i] = handle_of(Object::of(PyList_GET_ITEM(made.get(), i)), status);
    if (retvals[i] != nullptr) continue;
    while (i-- > 0) delete retvals[i];
    return;
  }
  *num_retvals = count;
}

}  // extern "C"
