// Graphs: their operations, shapes, messages and gradients.

#include "graph.h"

namespace tideflow {

TF_Operation* operation_of(TF_Graph* graph, PyObject* op) {
  auto& found = graph->operations[op];
  if (!found) {
    Object name(PyObject_GetAttrString(op, "name")), type(PyObject_GetAttrString(op, "type")),
        device(PyObject_GetAttrString(op, "device"));
    found.reset(new TF_Operation{Object::of(op), graph, text(name.get()), text(type.get()), text(device.get())});
  }
  return found.get();
}

TF_Output output_of(TF_Graph* graph, PyObject* tensor) {
  Object op(PyObject_GetAttrString(tensor, "op")), index(PyObject_GetAttrString(tensor, "value_index"));
  return {operation_of(graph, op.get()), static_cast<int>(PyLong_AsLong(index.get()))};
}

void outputs_of(TF_Graph* graph, const Object& tensors, TF_Output* outputs) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tensors.get()); ++i) {
    PyObject* tensor = PyList_GET_ITEM(tensors.get(), i);
    outputs[i] = tensor == Py_None ? TF_Output{nullptr, -1} : output_of(graph, tensor);
  }
}

void release(TF_Graph* graph) {
  if (--graph->uses == 0) delete graph;
}

Object tensor(const TF_Output& output, TF_Status* status) {
  return call(status, "graphs.output", "(Oi)", output.oper->op.get(), output.index);
}

Object tensors(const TF_Output* outputs, int count, TF_Status* status) {
  succeed(status);
  return list(static_cast<size_t>(count), [&](size_t i) { return tensor(outputs[i], status); });
}

Object operations(const TF_Operation* const* opers, int count) {
  return list(static_cast<size_t>(count), [&](size_t i) { return Object::of(opers[i]->op.get()); });
}

TF_DataType type_of(PyObject* tensor) {
  Object dtype(PyObject_GetAttrString(tensor, "dtype"));
  Object number(PyObject_GetAttrString(dtype.get(), "as_datatype_enum"));
  return static_cast<TF_DataType>(PyLong_AsLong(number.get()));
}

namespace {

Object sizes(const int64_t* dims, int num_dims) {
  if (num_dims < 0) return Object::of(Py_None);
  return list(static_cast<size_t>(num_dims), [&](size_t i) { return Object(PyLong_FromLongLong(dims[i])); });
}

// A list of sizes, or None where their number is not known.
Object shape_of(const TF_Graph* graph, const TF_Output& output, TF_Status* status) {
  Object asked = tensor(output, status);
  return asked ? call(status, "graphs.shape", "(OO)", graph->graph.get(), asked.get()) : Object();
}

// Writes the bytes that a function of the package returns for an object.
void write_bytes(TF_Buffer* buffer, const char* function, PyObject* object, TF_Status* status) {
  write(buffer, call(status, function, "(O)", object), status);
}

}  // namespace

}  // namespace tideflow

using namespace tideflow;

extern "C" {

TF_Graph* TF_NewGraph(void) {
  Gil gil;
  auto* made = new TF_Graph;
  made->graph = call(nullptr, "graphs.new_graph", "()");
  return made;
}

void TF_DeleteGraph(TF_Graph* graph) {
  if (graph == nullptr) return;
  Gil gil;
  release(graph);
}

TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* name) {
  Gil gil;
  Object op = call(nullptr, "graphs.operation_by_name", "(Os)", graph->graph.get(), name);
  return !op || op.get() == Py_None ? nullptr : operation_of(graph, op.get());
}

TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) {
  Gil gil;
  Object op = call(nullptr, "graphs.operation_at", "(On)", graph->graph.get(), static_cast<Py_ssize_t>(*pos));
  if (!op || op.get() == Py_None) return nullptr;
  ++*pos;
  return operation_of(graph, op.get());
}

// ------------------------------------------------------------------------------------------------ shapes

void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output, const int64_t* dims, const int num_dims,
                            TF_Status* status) {
  Gil gil;
  Object asked = tensor(output, status);
  if (!asked) return;
  call(status, "graphs.set_shape", "(OOO)", graph->graph.get(), asked.get(), sizes(dims, num_dims).get());
}

int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status) {
  Gil gil;
  Object shape = shape_of(graph, output, status);
  return !shape || shape.get() == Py_None ? -1 : static_cast<int>(PyList_GET_SIZE(shape.get()));
}

void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims, TF_Status* status) {
  Gil gil;
  Object shape = shape_of(graph, output, status);
  if (!shape) return;
  const Py_ssize_t rank = shape.get() == Py_None ? -1 : PyList_GET_SIZE(shape.get());
  if (rank != num_dims) {
    fail(status, TF_INVALID_ARGUMENT, "Expected rank is " + std::to_string(num_dims) + " but actual rank is " +
                                          std::to_string(rank));
    return;
  }
  for (Py_ssize_t i = 0; i < rank; ++i) dims[i] = PyLong_AsLongLong(PyList_GET_ITEM(shape.get(), i));
}

// ------------------------------------------------------------------------------------------------ messages

void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write_bytes(output, "graphs.graph_def", graph->graph.get(), status);
}

void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write_bytes(output, "graphs.versions", graph->graph.get(), status);
}

void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write_bytes(output, "graphs.node_def", oper->op.get(), status);
}

void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write(output, call(status, "graphs.op_def", "(Os)", graph->graph.get(), op_name), status);
}

unsigned char TF_TryEvaluateConstant(TF_Graph*, TF_Output output, TF_Tensor** result, TF_Status* status) {
  Gil gil;
  *result = nullptr;
  Object asked = tensor(output, status);
  Object value = asked ? call(status, "graphs.constant_value", "(O)", asked.get()) : Object();
  if (!value || value.get() == Py_None) return 0;
  *result = tensor_of(value.get(), static_cast<TF_DataType>(type_of(asked.get()) % 100), status);
  return *result != nullptr;
}

// ------------------------------------------------------------------------------------------------ gradients

void TF_AddGradientsWithPrefix(TF_Graph* g, const char* prefix, TF_Output* y, int ny, TF_Output* x, int nx,
                               TF_Output* dx, TF_Status* status, TF_Output* dy) {
  Gil gil;
  Object ys = tensors(y, ny, status);
  Object xs = ys ? tensors(x, nx, status) : Object();
  Object weights = !xs ? Object() : dx == nullptr ? Object::of(Py_None) : tensors(dx, ny, status);
  if (!weights) return;
  Object made = call(status, "graphs.add_gradients", "(OzOOO)", g->graph.get(), prefix, ys.get(), xs.get(),
                     weights.get());
  if (made) outputs_of(g, made, dy);
}

void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status,
                     TF_Output* dy) {
  TF_AddGradientsWithPrefix(g, nullptr, y, ny, x, nx, dx, status, dy);
}

}  // extern "C"
