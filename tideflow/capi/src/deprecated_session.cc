// Sessions of the older kind, which own their graph and know its operations by name.

#include "session.h"

using namespace tideflow;

struct TF_DeprecatedSession {
  TF_Graph* graph;
  TF_Session* session;
};

namespace {

// The outputs or operations of a step, by their names; false, with an error, if one is unknown.
struct Names {
  std::vector<TF_Output> inputs, outputs;
  std::vector<const TF_Operation*> targets;
};

bool find(TF_Graph* graph, const char** names, int count, std::vector<TF_Output>* found, TF_Status* status) {
  for (int i = 0; i < count; ++i) {
    Object tensor = call(status, "sessions.tensor_by_name", "(Os)", graph->graph.get(), names[i]);
    if (!tensor) return false;
    found->push_back(output_of(graph, tensor.get()));
  }
  return true;
}

bool find(TF_Graph* graph, const char** input_names, int ninputs, const char** output_names, int noutputs,
          const char** target_names, int ntargets, Names* names, TF_Status* status) {
  Gil gil;
  succeed(status);
  if (!find(graph, input_names, ninputs, &names->inputs, status)) return false;
  if (!find(graph, output_names, noutputs, &names->outputs, status)) return false;
  for (int i = 0; i < ntargets; ++i) {
    Object op = call(status, "sessions.operation_by_name", "(Os)", graph->graph.get(), target_names[i]);
    if (!op) return false;
    names->targets.push_back(operation_of(graph, op.get()));
  }
  return true;
}

}  // namespace

extern "C" {

TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* options, TF_Status* status) {
  TF_Graph* graph = TF_NewGraph();
  TF_Session* session = TF_NewSession(graph, options, status);
  if (session != nullptr) return new TF_DeprecatedSession{graph, session};
  TF_DeleteGraph(graph);
  return nullptr;
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) {
  TF_CloseSession(session->session, status);
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) {
  TF_DeleteSession(session->session, status);
  TF_DeleteGraph(session->graph);
  delete session;
}

TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session, TF_Status* status) {
  return TF_SessionListDevices(session->session, status);
}

void TF_Reset(const TF_SessionOptions* options, const char** containers, int ncontainers, TF_Status* status) {
  Gil gil;
  call(status, "sessions.reset", "(sOO)", options->target.c_str(),
       bytes(options->config.data(), options->config.size()).get(), strings(containers, ncontainers).get());
}

void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto, size_t proto_len, TF_Status* status) {
  const TF_Buffer graph_def = {proto, proto_len, nullptr};
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(session->graph, &graph_def, options, status);
  TF_DeleteImportGraphDefOptions(options);
}

void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options, const char** input_names, TF_Tensor** inputs,
            int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_names,
            int ntargets, TF_Buffer* run_metadata, TF_Status* status) {
  std::fill(outputs, outputs + noutputs, nullptr);
  Names names;
  if (find(session->graph, input_names, ninputs, output_names, noutputs, target_names, ntargets, &names, status)) {
    TF_SessionRun(session->session, run_options, names.inputs.data(), inputs, ninputs, names.outputs.data(), outputs,
                  noutputs, names.targets.data(), ntargets, run_metadata, status);
  }
}

void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names, int ninputs, const char** output_names,
                  int noutputs, const char** target_names, int ntargets, const char** handle, TF_Status* status) {
  *handle = nullptr;
  Names names;
  if (find(session->graph, input_names, ninputs, output_names, noutputs, target_names, ntargets, &names, status)) {
    TF_SessionPRunSetup(session->session, names.inputs.data(), ninputs, names.outputs.data(), noutputs,
                        names.targets.data(), ntargets, handle, status);
  }
}

void TF_PRun(TF_DeprecatedSession* session, const char* handle, const char** input_names, TF_Tensor** inputs,
             int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_names,
             int ntargets, TF_Status* status) {
  std::fill(outputs, outputs + noutputs, nullptr);
  Names names;
  if (find(session->graph, input_names, ninputs, output_names, noutputs, target_names, ntargets, &names, status)) {
    TF_SessionPRun(session->session, handle, names.inputs.data(), inputs, ninputs, names.outputs.data(), outputs,
                   noutputs, names.targets.data(), ntargets, status);
  }
}

}  // extern "C"
