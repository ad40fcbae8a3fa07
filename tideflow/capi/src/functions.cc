// Loops, and functions made of graphs.

#include "graph.h"

using namespace tideflow;

namespace {

TF_Function* function_of(Object message) {
  Object name = message ? call(nullptr, "functions.name", "(O)", message.get()) : Object();
  return name ? new TF_Function{std::move(message), text(name.get())} : nullptr;
}

Object names_or_none(const char* const* names, int count) {
  return names == nullptr ? Object::of(Py_None) : strings(names, count);
}

// Whether a loop is described completely, and how not.
bool is_complete(const TF_WhileParams& params, TF_Status* status) {
  const char* missing = params.name == nullptr              ? "name"
                        : params.cond_output.oper == nullptr ? "cond_output"
                                                             : nullptr;
  for (int i = 0; missing == nullptr && i < params.ninputs; ++i) {
    if (params.body_outputs[i].oper == nullptr) missing = "body_outputs";
  }
  if (missing != nullptr) {
    fail(status, TF_INVALID_ARGUMENT, std::string("TF_WhileParams `") + missing + "` field isn't set");
  }
  return missing == nullptr;
}

void add_while(const TF_WhileParams& params, TF_Status* status, TF_Output* outputs) {
  TF_Graph* graph = params.cond_graph->parent;
  const int n = params.ninputs;
  Object inputs = tensors(params.cond_graph->parent_inputs.data(), n, status);
  Object cond_inputs = inputs ? tensors(params.cond_inputs, n, status) : Object();
  Object cond_output = cond_inputs ? tensor(params.cond_output, status) : Object();
  Object body_inputs = cond_output ? tensors(params.body_inputs, n, status) : Object();
  Object body_outputs = body_inputs ? tensors(params.body_outputs, n, status) : Object();
  if (!body_outputs) return;
  Object results = call(status, "loops.add_while", "(OsOOOOO)", graph->graph.get(), params.name, inputs.get(),
                        cond_inputs.get(), cond_output.get(), body_inputs.get(), body_outputs.get());
  if (results) outputs_of(graph, results, outputs);
}

}  // namespace

extern "C" {

// ------------------------------------------------------------------------------------------------ loops

TF_WhileParams TF_NewWhile(TF_Graph* g, TF_Output* inputs, int ninputs, TF_Status* status) {
  Gil gil;
  const TF_WhileParams none = {0, nullptr, nullptr, {nullptr, 0}, nullptr, nullptr, nullptr, nullptr};
  if (ninputs == 0) {
    fail(status, TF_INVALID_ARGUMENT, "TF_NewWhile() must be passed at least one input");
    return none;
  }
  Object values = tensors(inputs, ninputs, status);
  if (!values) return none;
  TF_Graph* graphs[2];
  TF_Output* own[2];
  for (int i = 0; i < 2; ++i) {
    graphs[i] = TF_NewGraph();
    own[i] = new TF_Output[ninputs];
    Object made = call(status, "loops.inputs_like", "(OOs)", graphs[i]->graph.get(), values.get(),
                       i == 0 ? "cond_input" : "body_input");
    if (made) outputs_of(graphs[i], made, own[i]);
  }
  TF_Output* results = new TF_Output[ninputs];
  std::fill(results, results + ninputs, TF_Output{nullptr, -1});
  graphs[0]->parent = g;
  graphs[0]->parent_inputs.assign(inputs, inputs + ninputs);
  return {ninputs, graphs[0], own[0], {nullptr, -1}, graphs[1], own[1], results, nullptr};
}

void TF_AbortWhile(const TF_WhileParams* params) {
  TF_DeleteGraph(params->cond_graph);
  TF_DeleteGraph(params->body_graph);
  delete[] params->cond_inputs;
  delete[] params->body_inputs;
  delete[] params->body_outputs;
}

void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status, TF_Output* outputs) {
  Gil gil;
  succeed(status);
  if (is_complete(*params, status)) add_while(*params, status, outputs);
  TF_AbortWhile(params);
}

// ------------------------------------------------------------------------------------------------ functions

TF_Function* TF_GraphToFunctionWithControlOutputs(const TF_Graph* body, const char* name, unsigned char append_hash,
                                                  int num_opers, const TF_Operation* const* opers, int ninputs,
                                                  const TF_Output* inputs, int noutputs, const TF_Output* outputs,
                                                  const char* const* output_names, int ncontrols,
                                                  const TF_Operation* const* controls,
                                                  const char* const* control_names, const TF_FunctionOptions*,
                                                  const char* description, TF_Status* status) {
  Gil gil;
  Object given_inputs = tensors(inputs, ninputs, status);
  Object given_outputs = given_inputs ? tensors(outputs, noutputs, status) : Object();
  if (!given_outputs) return nullptr;
  Object chosen = num_opers < 0 ? Object::of(Py_None) : operations(opers, num_opers);
  return function_of(call(status, "functions.from_graph", "(OsNOOOOOOs)", body->graph.get(), name,
                          PyBool_FromLong(append_hash), chosen.get(), given_inputs.get(), given_outputs.get(),
                          names_or_none(output_names, noutputs).get(), operations(controls, ncontrols).get(),
                          names_or_none(control_names, ncontrols).get(), description == nullptr ? "" : description));
}

TF_Function* TF_GraphToFunction(const TF_Graph* body, const char* name, unsigned char append_hash, int num_opers,
                                const TF_Operation* const* opers, int ninputs, const TF_Output* inputs, int noutputs,
                                const TF_Output* outputs, const char* const* output_names,
                                const TF_FunctionOptions* options, const char* description, TF_Status* status) {
  return TF_GraphToFunctionWithControlOutputs(body, name, append_hash, num_opers, opers, ninputs, inputs, noutputs,
                                              outputs, output_names, 0, nullptr, nullptr, options, description, status);
}

const char* TF_FunctionName(TF_Function* func) { return func->name.c_str(); }

void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write(output, call(status, "functions.to_message", "(O)", func->message.get()), status);
}

TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len, TF_Status* status) {
  Gil gil;
  return function_of(call(status, "functions.from_message", "(O)", bytes(proto, proto_len).get()));
}

void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name, const void* proto, size_t proto_len,
                                  TF_Status* status) {
  Gil gil;
  call(status, "functions.set_attr", "(OsO)", func->message.get(), attr_name, bytes(proto, proto_len).get());
}

void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name, TF_Buffer* output, TF_Status* status) {
  Gil gil;
  write(output, call(status, "functions.get_attr", "(Os)", func->message.get(), attr_name), status);
}

void TF_DeleteFunction(TF_Function* func) {
  Gil gil;
  delete func;
}

void TF_GraphCopyFunction(TF_Graph* g, const TF_Function* func, const TF_Function* grad, TF_Status* status) {
  Gil gil;
  if (func == nullptr) {
    fail(status, TF_INVALID_ARGUMENT, "'func' argument to TF_GraphCopyFunction cannot be null");
    return;
  }
  call(status, "functions.add", "(OOO)", g->graph.get(), func->message.get(),
       grad == nullptr ? Py_None : grad->message.get());
}

int TF_GraphNumFunctions(TF_Graph* g) {
  Gil gil;
  Object found = call(nullptr, "functions.of_graph", "(O)", g->graph.get());
  return found ? static_cast<int>(PyList_GET_SIZE(found.get())) : 0;
}

int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs, int max_func, TF_Status* status) {
  Gil gil;
  Object found = call(status, "functions.of_graph", "(O)", g->graph.get());
  if (!found) return 0;
  const int count = std::min(max_func, static_cast<int>(PyList_GET_SIZE(found.get())));
  for (int i = 0; i < count; ++i) funcs[i] = function_of(Object::of(PyList_GET_ITEM(found.get(), i)));
  return count;
}

}  // extern "C"
