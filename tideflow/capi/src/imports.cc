// GraphDefs into graphs.

#include "graph.h"

using namespace tideflow;

struct TF_ImportGraphDefOptions {
  struct Mapping {
    std::string name;
    int index;  // -1 for a control input
    TF_Output output;
  };
  std::string prefix, device;
  bool uniquify_names = false, uniquify_prefix = false;
  std::vector<Mapping> mappings;
  std::vector<const TF_Operation*> after;
  std::vector<std::pair<std::string, int>> return_outputs;
  std::vector<std::string> return_operations;
};

struct TF_ImportGraphDefResults {
  std::vector<TF_Output> outputs;
  std::vector<TF_Operation*> operations;
  std::vector<std::string> missing_names;
  std::vector<const char*> missing_texts;
  std::vector<int> missing_indexes;
};

namespace {

Object mappings_of(const TF_ImportGraphDefOptions& options, TF_Status* status) {
  return list(options.mappings.size(), [&](size_t i) {
    const auto& mapping = options.mappings[i];
    Object value = mapping.index < 0 ? Object::of(mapping.output.oper->op.get()) : tensor(mapping.output, status);
    return value ? Object(Py_BuildValue("(siO)", mapping.name.c_str(), mapping.index, value.get())) : Object();
  });
}

Object imported(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions& options,
                TF_Status* status) {
  succeed(status);
  Object mappings = mappings_of(options, status);
  if (!mappings) return Object();
  Object outputs = list(options.return_outputs.size(), [&](size_t i) {
    return Object(Py_BuildValue("(si)", options.return_outputs[i].first.c_str(), options.return_outputs[i].second));
  });
  Object opers = list(options.return_operations.size(), [&](size_t i) {
    return Object(PyUnicode_FromString(options.return_operations[i].c_str()));
  });
  return call(status, "imports.import_graph_def", "(OOssNNOOOO)", graph->graph.get(),
              bytes(graph_def->data, graph_def->length).get(), options.prefix.c_str(), options.device.c_str(),
              PyBool_FromLong(options.uniquify_names), PyBool_FromLong(options.uniquify_prefix), mappings.get(),
              operations(options.after.data(), static_cast<int>(options.after.size())).get(), outputs.get(),
              opers.get());
}

}  // namespace

extern "C" {

// ------------------------------------------------------------------------------------------------ options

TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions(void) { return new TF_ImportGraphDefOptions; }

void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts) { delete opts; }

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts, const char* prefix) {
  opts->prefix = prefix;
  if (!opts->prefix.empty() && opts->prefix.back() == '/') opts->prefix.pop_back();
}

void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts, const char* device) {
  opts->device = device;
}

void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts, unsigned char uniquify_names) {
  opts->uniquify_names = uniquify_names != 0;
}

void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts, unsigned char uniquify_prefix) {
  opts->uniquify_prefix = uniquify_prefix != 0;
}

void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts, const char* src_name, int src_index,
                                             TF_Output dst) {
  opts->mappings.push_back({src_name, src_index, dst});
}

void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions* opts, const char* src_name,
                                                    TF_Operation* dst) {
  opts->mappings.push_back({src_name, -1, {dst, 0}});
}

void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions* opts, TF_Operation* oper) {
  opts->after.push_back(oper);
}

void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts, const char* oper_name, int index) {
  opts->return_outputs.emplace_back(oper_name, index);
}

int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts) {
  return static_cast<int>(opts->return_outputs.size());
}

void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts, const char* oper_name) {
  opts->return_operations.emplace_back(oper_name);
}

int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* opts) {
  return static_cast<int>(opts->return_operations.size());
}

// ------------------------------------------------------------------------------------------------ results

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results, int* num_outputs, TF_Output** outputs) {
  *num_outputs = static_cast<int>(results->outputs.size());
  *outputs = results->outputs.data();
}

void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results, int* num_opers,
                                              TF_Operation*** opers) {
  *num_opers = static_cast<int>(results->operations.size());
  *opers = results->operations.data();
}

void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults* results, int* count,
                                                        const char*** src_names, int** src_indexes) {
  *count = static_cast<int>(results->missing_texts.size());
  *src_names = results->missing_texts.data();
  *src_indexes = results->missing_indexes.data();
}

void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results) { delete results; }

// ------------------------------------------------------------------------------------------------ imports

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(TF_Graph* graph, const TF_Buffer* graph_def,
                                                            const TF_ImportGraphDefOptions* options,
                                                            TF_Status* status) {
  Gil gil;
  Object found = imported(graph, graph_def, *options, status);
  if (!found) return nullptr;
  auto* results = new TF_ImportGraphDefResults;
  PyObject* tensors = PyTuple_GET_ITEM(found.get(), 0);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tensors); ++i) {
    results->outputs.push_back(output_of(graph, PyList_GET_ITEM(tensors, i)));
  }
  PyObject* opers = PyTuple_GET_ITEM(found.get(), 1);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(opers); ++i) {
    results->operations.push_back(operation_of(graph, PyList_GET_ITEM(opers, i)));
  }
  PyObject* missing = PyTuple_GET_ITEM(found.get(), 2);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(missing); ++i) {
    PyObject* pair = PyList_GET_ITEM(missing, i);
    results->missing_names.push_back(text(PyTuple_GET_ITEM(pair, 0)));
    results->missing_indexes.push_back(static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(pair, 1))));
  }
  for (const std::string& name : results->missing_names) results->missing_texts.push_back(name.c_str());
  return results;
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph, const TF_Buffer* graph_def,
                                             const TF_ImportGraphDefOptions* options, TF_Output* return_outputs,
                                             int num_return_outputs, TF_Status* status) {
  Gil gil;
  if (num_return_outputs != TF_ImportGraphDefOptionsNumReturnOutputs(options)) {
    fail(status, TF_INVALID_ARGUMENT, "Expected 'num_return_outputs' to be " +
                                          std::to_string(options->return_outputs.size()) + ", got " +
                                          std::to_string(num_return_outputs));
    return;
  }
  std::unique_ptr<TF_ImportGraphDefResults> results(
      TF_GraphImportGraphDefWithResults(graph, graph_def, options, status));
  if (results) std::copy(results->outputs.begin(), results->outputs.end(), return_outputs);
}

void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options,
                            TF_Status* status) {
  TF_DeleteImportGraphDefResults(TF_GraphImportGraphDefWithResults(graph, graph_def, options, status));
}

}  // extern "C"
