// Checkpoints that are read, options, facts of op types, and texts of graphs and functions.

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

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

// A text that lives as long as the process.
const char* kept(const std::string& text) {
  static std::mutex mutex;
  static auto* all = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(mutex);
  return all->insert(text).first->c_str();
}

TF_Buffer* buffer_of(const Object& message) {
  TF_Buffer* made = TF_NewBuffer();
  if (message) fill(made, PyBytes_AS_STRING(message.get()), static_cast<size_t>(PyBytes_GET_SIZE(message.get())));
  return made;
}

}  // namespace

extern "C" {

void TF_EnableXLACompilation(TF_SessionOptions* options, unsigned char enable) {
  Gil gil;
  Object made = call(nullptr, "experimental.with_xla", "(Oi)", bytes(options->config.data(), options->config.size()).get(),
                     static_cast<int>(enable));
  if (made) options->config.assign(PyBytes_AS_STRING(made.get()), static_cast<size_t>(PyBytes_GET_SIZE(made.get())));
}

TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation, unsigned char gpu_memory_allow_growth,
                           unsigned int num_cpu_devices) {
  Gil gil;
  return buffer_of(call(nullptr, "experimental.config", "(iiI)", static_cast<int>(enable_xla_compilation),
                        static_cast<int>(gpu_memory_allow_growth), num_cpu_devices));
}

TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace) {
  Gil gil;
  return buffer_of(call(nullptr, "experimental.run_options", "(i)", static_cast<int>(enable_full_trace)));
}

int TF_OpIsStateful(const char* op_type, TF_Status* status) {
  Gil gil;
  Object found = call(status, "experimental.is_stateful", "(s)", op_type);
  return found && PyObject_IsTrue(found.get());
}

const char* TF_GetNumberAttrForOpListInput(const char* op_name, int input_index, TF_Status* status) {
  Gil gil;
  Object found = call(status, "experimental.number_attr", "(si)", op_name, input_index);
  return found && found.get() != Py_None ? kept(text(found.get())) : nullptr;
}

void TF_MakeInternalErrorStatus(TF_Status* status, const char* errMsg) { fail(status, TF_INTERNAL, errMsg); }

int TF_PickUnusedPortOrDie(void) {
  Gil gil;
  Object found = call(nullptr, "experimental.unused_port", "()");
  if (!found) std::abort();
  return static_cast<int>(PyLong_AsLong(found.get()));
}


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
