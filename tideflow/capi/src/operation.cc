// Questions about operations.

#include <cstring>

#include "graph.h"

using namespace tideflow;

namespace {

Object member(const TF_Operation* oper, const char* name) {
  return Object(PyObject_GetAttrString(oper->op.get(), name));
}

int count_of(const TF_Operation* oper, const char* name) {
  Object found = member(oper, name);
  return static_cast<int>(PyObject_Length(found.get()));
}

Object item_of(const TF_Operation* oper, const char* name, int index) {
  Object found = member(oper, name);
  Object item(PySequence_GetItem(found.get(), index));
  if (!item) PyErr_Clear();
  return item;
}

int list_length(TF_Operation* oper, const char* arg_name, bool is_input, TF_Status* status) {
  Gil gil;
  Object found = call(status, "graphs.list_length", "(OsN)", oper->op.get(), arg_name, PyBool_FromLong(is_input));
  return found ? static_cast<int>(PyLong_AsLong(found.get())) : -1;
}

int write_operations(const Object& found, TF_Graph* graph, TF_Operation** written, int most) {
  if (!found) return 0;
  const int count = static_cast<int>(PyList_GET_SIZE(found.get()));
  for (int i = 0; i < std::min(count, most); ++i) {
    written[i] = operation_of(graph, PyList_GET_ITEM(found.get(), i));
  }
  return count;
}

// The values of an attribute, of which there may be no more than `most`; at least one of no list. Null, with an error,
// if it has none of this kind.
Object values(TF_Operation* oper, const char* name, const char* field, bool is_list, TF_Status* status) {
  return call(status, "attrs.values", "(OssN)", oper->op.get(), name, field, PyBool_FromLong(is_list));
}

template <typename Write>
void write_values(TF_Operation* oper, const char* name, const char* field, int most, TF_Status* status, Write write) {
  Gil gil;
  Object found = values(oper, name, field, most >= 0, status);
  if (!found) return;
  const int count = static_cast<int>(PyList_GET_SIZE(found.get()));
  for (int i = 0; i < (most < 0 ? 1 : std::min(count, most)); ++i) write(i, PyList_GET_ITEM(found.get(), i));
}

constexpr int kOne = -1;  // as `most`: the attribute is no list

void write_shape(PyObject* sizes, int64_t* dims, int num_dims) {
  for (int i = 0; i < num_dims && i < PyList_GET_SIZE(sizes); ++i) {
    dims[i] = PyLong_AsLongLong(PyList_GET_ITEM(sizes, i));
  }
}

TF_Tensor* attr_tensor(PyObject* pair, TF_Status* status) {
  return tensor_of(PyTuple_GET_ITEM(pair, 0), static_cast<TF_DataType>(PyLong_AsLong(PyTuple_GET_ITEM(pair, 1))),
                   status);
}

}  // namespace

extern "C" {

const char* TF_OperationName(TF_Operation* oper) { return oper->name.c_str(); }

const char* TF_OperationOpType(TF_Operation* oper) { return oper->type.c_str(); }

const char* TF_OperationDevice(TF_Operation* oper) { return oper->device.c_str(); }

int TF_OperationNumOutputs(TF_Operation* oper) {
  Gil gil;
  return count_of(oper, "outputs");
}

int TF_OperationNumInputs(TF_Operation* oper) {
  Gil gil;
  return count_of(oper, "inputs");
}

TF_DataType TF_OperationOutputType(TF_Output output) {
  Gil gil;
  Object tensor = item_of(output.oper, "outputs", output.index);
  return tensor ? type_of(tensor.get()) : static_cast<TF_DataType>(0);
}

TF_DataType TF_OperationInputType(TF_Input input) {
  Gil gil;
  Object tensor = item_of(input.oper, "inputs", input.index);
  return tensor ? type_of(tensor.get()) : static_cast<TF_DataType>(0);
}

int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) {
  return list_length(oper, arg_name, false, status);
}

int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) {
  return list_length(oper, arg_name, true, status);
}

TF_Output TF_OperationInput(TF_Input input) {
  Gil gil;
  Object tensor = item_of(input.oper, "inputs", input.index);
  return tensor ? output_of(input.oper->graph, tensor.get()) : TF_Output{nullptr, -1};
}

int TF_OperationOutputConsumers(TF_Output output, TF_Input* consumers, int most) {
  Gil gil;
  Object tensor = item_of(output.oper, "outputs", output.index);
  Object found = tensor ? call(nullptr, "graphs.consumers", "(O)", tensor.get()) : Object();
  if (!found) return 0;
  const int count = static_cast<int>(PyList_GET_SIZE(found.get()));
  for (int i = 0; i < std::min(count, most); ++i) {
    PyObject* pair = PyList_GET_ITEM(found.get(), i);
    consumers[i] = {operation_of(output.oper->graph, PyTuple_GET_ITEM(pair, 0)),
                    static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(pair, 1)))};
  }
  return count;
}

int TF_OperationOutputNumConsumers(TF_Output output) { return TF_OperationOutputConsumers(output, nullptr, 0); }

int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** control_inputs, int most) {
  Gil gil;
  return write_operations(member(oper, "control_inputs"), oper->graph, control_inputs, most);
}

int TF_OperationNumControlInputs(TF_Operation* oper) { return TF_OperationGetControlInputs(oper, nullptr, 0); }

int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** control_outputs, int most) {
  Gil gil;
  return write_operations(call(nullptr, "graphs.control_outputs", "(O)", oper->op.get()), oper->graph,
                          control_outputs, most);
}

int TF_OperationNumControlOutputs(TF_Operation* oper) { return TF_OperationGetControlOutputs(oper, nullptr, 0); }

// ------------------------------------------------------------------------------------------------ attributes

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* name, TF_Status* status) {
  Gil gil;
  TF_AttrMetadata metadata = {0, 0, TF_ATTR_STRING, 0};
  Object found = call(status, "attrs.metadata", "(Os)", oper->op.get(), name);
  int is_list, type;
  long long list_size, total_size;
  if (found && PyArg_ParseTuple(found.get(), "pLiL", &is_list, &list_size, &type, &total_size)) {
    metadata = {static_cast<unsigned char>(is_list), list_size, static_cast<TF_AttrType>(type), total_size};
  }
  return metadata;
}

void TF_OperationGetAttrString(TF_Operation* oper, const char* name, void* value, size_t max_length,
                               TF_Status* status) {
  write_values(oper, name, "s", kOne, status, [&](int, PyObject* found) {
    std::memcpy(value, PyBytes_AS_STRING(found), std::min(max_length, static_cast<size_t>(PyBytes_GET_SIZE(found))));
  });
}

void TF_OperationGetAttrStringList(TF_Operation* oper, const char* name, void** values, size_t* lengths, int most,
                                   void* storage, size_t storage_size, TF_Status* status) {
  char* at = static_cast<char*>(storage);
  const char* end = at + storage_size;
  write_values(oper, name, "s", most, status, [&](int i, PyObject* found) {
    const size_t length = static_cast<size_t>(PyBytes_GET_SIZE(found));
    values[i] = at;
    lengths[i] = length;
    if (length > static_cast<size_t>(end - at)) {
      fail(status, TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of strings");
      return;
    }
    std::memcpy(at, PyBytes_AS_STRING(found), length);
    at += length;
  });
}

void TF_OperationGetAttrInt(TF_Operation* oper, const char* name, int64_t* value, TF_Status* status) {
  write_values(oper, name, "i", kOne, status, [&](int, PyObject* found) { *value = PyLong_AsLongLong(found); });
}

void TF_OperationGetAttrIntList(TF_Operation* oper, const char* name, int64_t* values, int most, TF_Status* status) {
  write_values(oper, name, "i", most, status,
               [&](int i, PyObject* found) { values[i] = PyLong_AsLongLong(found); });
}

void TF_OperationGetAttrFloat(TF_Operation* oper, const char* name, float* value, TF_Status* status) {
  write_values(oper, name, "f", kOne, status,
               [&](int, PyObject* found) { *value = static_cast<float>(PyFloat_AsDouble(found)); });
}

void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* name, float* values, int most, TF_Status* status) {
  write_values(oper, name, "f", most, status,
               [&](int i, PyObject* found) { values[i] = static_cast<float>(PyFloat_AsDouble(found)); });
}

void TF_OperationGetAttrBool(TF_Operation* oper, const char* name, unsigned char* value, TF_Status* status) {
  write_values(oper, name, "b", kOne, status, [&](int, PyObject* found) { *value = found == Py_True; });
}

void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* name, unsigned char* values, int most,
                                 TF_Status* status) {
  write_values(oper, name, "b", most, status, [&](int i, PyObject* found) { values[i] = found == Py_True; });
}

void TF_OperationGetAttrType(TF_Operation* oper, const char* name, TF_DataType* value, TF_Status* status) {
  write_values(oper, name, "type", kOne, status,
               [&](int, PyObject* found) { *value = static_cast<TF_DataType>(PyLong_AsLong(found)); });
}

void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* name, TF_DataType* values, int most,
                                 TF_Status* status) {
  write_values(oper, name, "type", most, status,
               [&](int i, PyObject* found) { values[i] = static_cast<TF_DataType>(PyLong_AsLong(found)); });
}

void TF_OperationGetAttrShape(TF_Operation* oper, const char* name, int64_t* value, int num_dims, TF_Status* status) {
  write_values(oper, name, "shape", kOne, status, [&](int, PyObject* found) {
    if (found != Py_None) write_shape(found, value, num_dims);
  });
}

void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* name, int64_t** dims, int* num_dims, int most,
                                  int64_t* storage, int storage_size, TF_Status* status) {
  int64_t* at = storage;
  write_values(oper, name, "shape", most, status, [&](int i, PyObject* found) {
    dims[i] = nullptr;
    num_dims[i] = found == Py_None ? -1 : static_cast<int>(PyList_GET_SIZE(found));
    if (num_dims[i] < 0) return;
    if (num_dims[i] > storage + storage_size - at) {
      fail(status, TF_INVALID_ARGUMENT, "Not enough storage to hold the requested list of shapes");
      return;
    }
    write_shape(found, at, num_dims[i]);
    dims[i] = at;
    at += num_dims[i];
  });
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper, const char* name, TF_Buffer* value, TF_Status* status) {
  Gil gil;
  Object found = call(status, "attrs.shape_messages", "(OsO)", oper->op.get(), name, Py_False);
  if (found) write(value, Object::of(PyList_GET_ITEM(found.get(), 0)), status);
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper, const char* name, TF_Buffer** values, int most,
                                             TF_Status* status) {
  Gil gil;
  Object found = call(status, "attrs.shape_messages", "(OsO)", oper->op.get(), name, Py_True);
  for (int i = 0; found && i < std::min(most, static_cast<int>(PyList_GET_SIZE(found.get()))); ++i) {
    values[i] = TF_NewBuffer();
    write(values[i], Object::of(PyList_GET_ITEM(found.get(), i)), status);
  }
}

void TF_OperationGetAttrTensor(TF_Operation* oper, const char* name, TF_Tensor** value, TF_Status* status) {
  *value = nullptr;
  write_values(oper, name, "tensor", kOne, status,
               [&](int, PyObject* found) { *value = attr_tensor(found, status); });
}

void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* name, TF_Tensor** values, int most,
                                   TF_Status* status) {
  write_values(oper, name, "tensor", most, status,
               [&](int i, PyObject* found) { values[i] = attr_tensor(found, status); });
}

void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* name, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write(output, call(status, "attrs.message", "(Os)", oper->op.get(), name), status);
}

}  // extern "C"
