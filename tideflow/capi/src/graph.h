// Graphs and operations as C holds them.

#ifndef TIDEFLOW_CAPI_GRAPH_H_
#define TIDEFLOW_CAPI_GRAPH_H_

#include "python.h"

struct TF_Operation {
  tideflow::Object op;
  TF_Graph* graph;
  std::string name, type, device;
};

// Everything is read and changed under the interpreter's lock.
struct TF_Graph {
  tideflow::Object graph;
  std::unordered_map<PyObject*, std::unique_ptr<TF_Operation>> operations;  // those that were asked for
  int uses = 1;  // the caller's, and one for each session
  // Of the condition of a loop: the graph that the loop is for, and the loop's inputs there.
  TF_Graph* parent = nullptr;
  std::vector<TF_Output> parent_inputs;
};

struct TF_SessionOptions {
  std::string target, config;
};

struct TF_Function {
  tideflow::Object message;  // its FunctionDef
  std::string name;
};

namespace tideflow {

TF_Operation* operation_of(TF_Graph* graph, PyObject* op);
TF_Output output_of(TF_Graph* graph, PyObject* tensor);
void outputs_of(TF_Graph* graph, const Object& tensors, TF_Output* outputs);
void release(TF_Graph* graph);

// The tensor of an output; null, with an error, if the operation has no such output.
Object tensor(const TF_Output& output, TF_Status* status);
// Null, with an error, if one is.
Object tensors(const TF_Output* outputs, int count, TF_Status* status);
Object operations(const TF_Operation* const* opers, int count);

// The number of the type of a tensor.
TF_DataType type_of(PyObject* tensor);

}  // namespace tideflow

#endif  // TIDEFLOW_CAPI_GRAPH_H_
