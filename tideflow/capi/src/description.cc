// New operations: their inputs and attributes are collected here, and checked when they are finished.

#include "description.h"

#include "wire.h"

using namespace tideflow;

namespace {

// The fields of AttrValue, and of its lists; a list is its field 1.
enum Field { kList = 1, kString = 2, kInt = 3, kFloat = 4, kBool = 5, kType = 6, kShape = 7, kTensor = 8,
             kPlaceholder = 9, kFunction = 10 };

void set(TF_OperationDescription* desc, const char* name, const Message& value) {
  set_attr(desc, name, value.text());
}

// A list whose values are bytes or messages.
template <typename Add>
void set_list(TF_OperationDescription* desc, const char* name, int count, Add add) {
  Message values;
  for (int i = 0; i < count; ++i) add(&values, i);
  set(desc, name, Message().message(kList, values));
}

// A list whose values are numbers.
template <typename Add>
void set_packed(TF_OperationDescription* desc, const char* name, int count, Field field, Add add) {
  Message packed, values;
  for (int i = 0; i < count; ++i) add(&packed, i);
  if (count > 0) values.message(field, packed);
  set(desc, name, Message().message(kList, values));
}

Message shape(const int64_t* dims, int num_dims) {
  Message made;
  if (num_dims < 0) return made.number(3, 1);  // unknown_rank
  for (int i = 0; i < num_dims; ++i) made.message(2, Message().number(1, static_cast<uint64_t>(dims[i])));
  return made;
}

// A TensorProto; false, with an error, where strings are malformed or the type has no values.
bool tensor_message(const TF_Tensor& tensor, Message* made, TF_Status* status) {
  made->number(1, tensor.type).message(2, shape(tensor.dims.data(), static_cast<int>(tensor.dims.size())));
  if (tensor.type == TF_STRING) {
    std::vector<std::pair<const char*, size_t>> strings;
    if (!decode_strings(tensor, &strings, status)) return false;
    for (const auto& [data, length] : strings) made->bytes(8, data, length);
    return true;
  }
  const size_t size = TF_DataTypeSize(tensor.type);
  if (size == 0) {
    fail(status, TF_INVALID_ARGUMENT, "A tensor of type " + std::to_string(tensor.type) + " cannot be an attribute");
    return false;
  }
  made->bytes(4, tensor.memory->data, size * static_cast<size_t>(tensor.size()));
  return true;
}

// Whether a function of the package finds nothing wrong with a message.
bool is_message(const char* check, const void* proto, size_t length, TF_Status* status) {
  Gil gil;
  return static_cast<bool>(call(status, check, "(O)", bytes(proto, length).get()));
}

Object pair(const TF_Output& output) {
  return Object(Py_BuildValue("(Oi)", output.oper->op.get(), output.index));
}

// A method of NodeBuilder, and what it is given.
Object call_of(const TF_OperationDescription::Call& call) {
  const std::string method = call.method;
  if (method == "attr") {
    return Object(Py_BuildValue("(ssN)", call.method, call.name.c_str(),
                                bytes(call.value.data(), call.value.size()).taken()));
  }
  Object given = method == "input" ? pair(call.outputs[0])
                                   : list(call.outputs.size(), [&](size_t i) { return pair(call.outputs[i]); });
  return Object(Py_BuildValue("(sN)", call.method, given.taken()));
}

}  // namespace

extern "C" {

TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type, const char* oper_name) {
  return new TF_OperationDescription{graph, op_type, oper_name, "", {}, {}, {}};
}

void TF_SetDevice(TF_OperationDescription* desc, const char* device) { desc->device = device; }

void TF_AddInput(TF_OperationDescription* desc, TF_Output input) {
  desc->calls.push_back({"input", {input}, "", ""});
}

void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs, int num_inputs) {
  desc->calls.push_back({"input_list", std::vector<TF_Output>(inputs, inputs + num_inputs), "", ""});
}

void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input) { desc->controls.push_back(input); }

void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op) {
  desc->colocations.push_back("loc:@" + op->name);
}

// ------------------------------------------------------------------------------------------------ attributes

void TF_SetAttrString(TF_OperationDescription* desc, const char* name, const void* value, size_t length) {
  if (std::string(name) == "_class") {  // joins what TF_ColocateWith says
    desc->colocations.emplace_back(static_cast<const char*>(value), length);
    return;
  }
  set(desc, name, Message().bytes(kString, value, length));
}

void TF_SetAttrStringList(TF_OperationDescription* desc, const char* name, const void* const* values,
                          const size_t* lengths, int count) {
  if (std::string(name) == "_class") {
    desc->colocations.clear();
    for (int i = 0; i < count; ++i) desc->colocations.emplace_back(static_cast<const char*>(values[i]), lengths[i]);
    return;
  }
  set_list(desc, name, count, [&](Message* list, int i) { list->bytes(kString, values[i], lengths[i]); });
}

void TF_SetAttrInt(TF_OperationDescription* desc, const char* name, int64_t value) {
  set(desc, name, Message().number(kInt, static_cast<uint64_t>(value)));
}

void TF_SetAttrIntList(TF_OperationDescription* desc, const char* name, const int64_t* values, int count) {
  set_packed(desc, name, count, kInt, [&](Message* list, int i) { list->varint(static_cast<uint64_t>(values[i])); });
}

void TF_SetAttrFloat(TF_OperationDescription* desc, const char* name, float value) {
  set(desc, name, Message().real(kFloat, value));
}

void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* name, const float* values, int count) {
  set_packed(desc, name, count, kFloat, [&](Message* list, int i) { list->append(values[i]); });
}

void TF_SetAttrBool(TF_OperationDescription* desc, const char* name, unsigned char value) {
  set(desc, name, Message().number(kBool, value != 0));
}

void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* name, const unsigned char* values, int count) {
  set_packed(desc, name, count, kBool, [&](Message* list, int i) { list->varint(values[i] != 0); });
}

void TF_SetAttrType(TF_OperationDescription* desc, const char* name, TF_DataType value) {
  set(desc, name, Message().number(kType, value));
}

void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* name, const TF_DataType* values, int count) {
  set_packed(desc, name, count, kType, [&](Message* list, int i) { list->varint(values[i]); });
}

void TF_SetAttrPlaceholder(TF_OperationDescription* desc, const char* name, const char* placeholder) {
  set(desc, name, Message().bytes(kPlaceholder, placeholder));
}

void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* name, const char* value, size_t length) {
  set(desc, name, Message().message(kFunction, Message().bytes(1, value, length)));
}

void TF_SetAttrShape(TF_OperationDescription* desc, const char* name, const int64_t* dims, int num_dims) {
  set(desc, name, Message().message(kShape, shape(dims, num_dims)));
}

void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* name, const int64_t* const* dims,
                         const int* num_dims, int count) {
  set_list(desc, name, count, [&](Message* list, int i) { list->message(kShape, shape(dims[i], num_dims[i])); });
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc, const char* name, const void* proto, size_t length,
                                TF_Status* status) {
  if (is_message("attrs.check_shape_message", proto, length, status)) {
    set(desc, name, Message().bytes(kShape, proto, length));
  }
}

void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc, const char* name, const void* const* protos,
                                    const size_t* lengths, int count, TF_Status* status) {
  succeed(status);
  for (int i = 0; i < count; ++i) {
    if (!is_message("attrs.check_shape_message", protos[i], lengths[i], status)) return;
  }
  set_list(desc, name, count, [&](Message* list, int i) { list->bytes(kShape, protos[i], lengths[i]); });
}

void TF_SetAttrTensor(TF_OperationDescription* desc, const char* name, TF_Tensor* value, TF_Status* status) {
  succeed(status);
  Message made;
  if (tensor_message(*value, &made, status)) set(desc, name, Message().message(kTensor, made));
}

void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* name, TF_Tensor* const* values, int count,
                          TF_Status* status) {
  succeed(status);
  Message list;
  for (int i = 0; i < count; ++i) {
    Message made;
    if (!tensor_message(*values[i], &made, status)) return;
    list.message(kTensor, made);
  }
  set(desc, name, Message().message(kList, list));
}

void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* name, const void* proto, size_t length,
                          TF_Status* status) {
  if (is_message("attrs.check_message", proto, length, status)) {
    set_attr(desc, name, std::string(static_cast<const char*>(proto), length));
  }
}

TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status) {
  std::unique_ptr<TF_OperationDescription> owned(desc);
  if (!desc->colocations.empty()) {
    set_list(desc, "_class", static_cast<int>(desc->colocations.size()),
             [&](Message* list, int i) { list->bytes(kString, desc->colocations[i]); });
  }
  Gil gil;
  succeed(status);
  Object calls = list(desc->calls.size(), [&](size_t i) { return call_of(desc->calls[i]); });
  Object op = call(status, "graphs.add_operation", "(OsssOO)", desc->graph->graph.get(), desc->type.c_str(),
                   desc->name.c_str(), desc->device.c_str(), calls.get(),
                   operations(desc->controls.data(), static_cast<int>(desc->controls.size())).get());
  return op ? operation_of(desc->graph, op.get()) : nullptr;
}

}  // extern "C"
