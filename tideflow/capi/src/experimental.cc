// Checkpoints that are read, and texts of graphs and functions.

#include <cstdlib>
#include <cstring>

#include "graph.h"
#include "tideflow/c_api_experimental.h"

using namespace tideflow;

struct TF_CheckpointReader {
  struct Variable {
    std::string name;
    TF_DataType type;
    std::vector<int64_t> dims;
  };
  Object reader;
  std::vector<Variable> variables;

  const Variable* find(const char* name) const {
    for (const auto& variable : variables) {
      if (variable.name == name) return &variable;
    }
    return nullptr;
  }
};

namespace {

char* text_copy(const Object& found, size_t* len) {
  const std::string told = found ? text(found.get()) : "";
  if (len != nullptr) *len = told.size();
  char* copy = static_cast<char*>(std::malloc(told.size() + 1));
  if (copy != nullptr) std::memcpy(copy, told.c_str(), told.size() + 1);
  return copy;
}

}  // namespace

extern "C" {

TF_CheckpointReader* TF_NewCheckpointReader(const char* filename, TF_Status* status) {
  Gil gil;
  Object reader = call(status, "experimental.open_checkpoint", "(s)", filename);
  Object found = reader ? call(status, "experimental.variables", "(O)", reader.get()) : Object();
  if (!found) return nullptr;
  auto* made = new TF_CheckpointReader{std::move(reader), {}};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(found.get()); ++i) {
    PyObject* variable = PyList_GET_ITEM(found.get(), i);
    PyObject* dims = PyTuple_GET_ITEM(variable, 2);
    made->variables.push_back({text(PyTuple_GET_ITEM(variable, 0)),
                               static_cast<TF_DataType>(PyLong_AsLong(PyTuple_GET_ITEM(variable, 1))), {}});
    for (Py_ssize_t j = 0; j < PyList_GET_SIZE(dims); ++j) {
      made->variables.back().dims.push_back(PyLong_AsLongLong(PyList_GET_ITEM(dims, j)));
    }
  }
  return made;
}

void TF_DeleteCheckpointReader(TF_CheckpointReader* reader) {
  if (reader == nullptr) return;
  Gil gil;
  delete reader;
}

int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader, const char* name) {
  return reader->find(name) != nullptr;
}

int TF_CheckpointReaderSize(TF_CheckpointReader* reader) { return static_cast<int>(reader->variables.size()); }

const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader, int index) {
  if (index < 0 || static_cast<size_t>(index) >= reader->variables.size()) return nullptr;
  return reader->variables[index].name.c_str();
}

TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader, const char* name) {
  const auto* found = reader->find(name);
  return found == nullptr ? static_cast<TF_DataType>(0) : found->type;
}

int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader, const char* name) {
  const auto* found = reader->find(name);
  return found == nullptr ? -1 : static_cast<int>(found->dims.size());
}

void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader, const char* name, int64_t* dims, int num_dims,
                                         TF_Status* status) {
  succeed(status);
  const auto* found = reader->find(name);
  if (found == nullptr) {
    fail(status, TF_NOT_FOUND, std::string("The checkpoint has no variable '") + name + "'");
  } else if (static_cast<size_t>(num_dims) != found->dims.size()) {
    fail(status, TF_INVALID_ARGUMENT,
         "Expected rank is " + std::to_string(num_dims) + " but actual rank is " + std::to_string(found->dims.size()));
  } else {
    std::copy(found->dims.begin(), found->dims.end(), dims);
  }
}

TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader, const char* name, TF_Status* status) {
  Gil gil;
  Object value = call(status, "experimental.value", "(Os)", reader->reader.get(), name);
  return value ? tensor_of(value.get(), TF_CheckpointReaderGetVariableDataType(reader, name), status) : nullptr;
}

const char* TF_GraphDebugString(TF_Graph* graph, size_t* len) {
  Gil gil;
  return text_copy(call(nullptr, "experimental.graph_text", "(O)", graph->graph.get()), len);
}

char* TF_FunctionDebugString(TF_Function* func, size_t* len) {
  Gil gil;
  return text_copy(call(nullptr, "experimental.function_text", "(O)", func->message.get()), len);
}

}  // extern "C"
