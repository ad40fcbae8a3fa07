// Sessions: steps, pieces of steps, devices.

#include "session.h"

#include <cstdlib>
#include <cstring>

using namespace tideflow;

struct TF_DeviceList {
  struct Device {
    std::string name, type;
    int64_t memory;
    uint64_t incarnation;
  };
  std::vector<Device> devices;
};

namespace {

TF_DataType base_type(PyObject* tensor) { return static_cast<TF_DataType>(type_of(tensor) % 100); }

// What identifies a step: the outputs and operations that it is asked for, which live as long as their graph.
std::string key_of(const TF_Output* inputs, int ninputs, const TF_Output* outputs, int noutputs,
                   const TF_Operation* const* targets, int ntargets) {
  std::string key;
  key.reserve(16 * static_cast<size_t>(ninputs + noutputs) + 8 * static_cast<size_t>(ntargets) + 8);
  const auto add = [&key](const auto& part) { key.append(reinterpret_cast<const char*>(&part), sizeof part); };
  add(ninputs);
  add(noutputs);
  for (int i = 0; i < ninputs; ++i) add(inputs[i].oper), add(inputs[i].index);
  for (int i = 0; i < noutputs; ++i) add(outputs[i].oper), add(outputs[i].index);
  for (int i = 0; i < ntargets; ++i) add(targets[i]);
  return key;
}

// Finds the tensors of a step; false, with an error, if one is not there, or is given twice.
bool resolve(Step* step, const TF_Output* inputs, int ninputs, const TF_Output* outputs, int noutputs,
             const TF_Operation* const* targets, int ntargets, TF_Status* status) {
  for (int i = 0; i < ninputs; ++i) {
    step->feeds.push_back(tensor(inputs[i], status));
    if (!step->feeds.back()) return false;
    step->feed_types.push_back(base_type(step->feeds.back().get()));
  }
  Object feeds = list(step->feeds.size(), [&](size_t i) { return Object::of(step->feeds[i].get()); });
  Object fetches(PyList_New(0));
  for (int i = 0; i < noutputs; ++i) {
    Object fetch = tensor(outputs[i], status);
    if (!fetch) return false;
    step->fetch_types.push_back(base_type(fetch.get()));
    PyList_Append(fetches.get(), fetch.get());
  }
  if (!call(status, "sessions.check_step", "(OO)", feeds.get(), fetches.get())) return false;
  for (int i = 0; i < ntargets; ++i) PyList_Append(fetches.get(), targets[i]->op.get());
  step->is_single = noutputs == 1 && ntargets == 0;
  step->fetches = std::move(fetches);
  return true;
}

Object feeds_of(const Step& step, TF_Tensor* const* values, TF_Status* status) {
  Object feeds(PyDict_New());
  for (size_t i = 0; i < step.feeds.size(); ++i) {
    if (values[i]->type != step.feed_types[i]) {
      return call(status, "sessions.refuse_type", "(iii)", static_cast<int>(i), static_cast<int>(step.feed_types[i]),
                  static_cast<int>(values[i]->type));
    }
    Object array = array_of(values[i], status);
    if (!array) return Object();
    PyDict_SetItem(feeds.get(), step.feeds[i].get(), array.get());
  }
  return feeds;
}

// Writes the results of a step; none if one of them cannot be had.
void write_results(const Step& step, PyObject* results, bool is_list, TF_Tensor** values, TF_Status* status) {
  for (size_t i = 0; i < step.fetch_types.size(); ++i) {
    values[i] = tensor_of(is_list ? PyList_GET_ITEM(results, static_cast<Py_ssize_t>(i)) : results,
                          step.fetch_types[i], status);
    if (values[i] != nullptr) continue;
    for (size_t j = 0; j < i; ++j) {
      TF_DeleteTensor(values[j]);
      values[j] = nullptr;
    }
    return;
  }
}

// A step that has a plan: what is between the caller and the plan is as little as can be.
void run_again(TF_Session* session, const Step& step, const Object& feeds, TF_Tensor** values, TF_Status* status) {
  PyObject* fetches = step.is_single ? PyList_GET_ITEM(step.fetches.get(), 0) : step.fetches.get();
  PyObject* arguments[] = {fetches, feeds.get()};
  Object results(PyObject_Vectorcall(session->run.get(), arguments, 2, nullptr));
  if (!results) {
    set_error(status);
    return;
  }
  write_results(step, results.get(), !step.is_single, values, status);
}

void run_first(TF_Session* session, Step* step, const Object& feeds, const TF_Buffer* options, TF_Buffer* metadata,
               TF_Tensor** values, TF_Status* status) {
  if (options == nullptr && metadata == nullptr) {
    Object results =
        call(status, "sessions.run", "(OOO)", session->session.get(), step->fetches.get(), feeds.get());
    if (!results) return;
    step->has_run = true;
    write_results(*step, results.get(), true, values, status);
    return;
  }
  Object given = options == nullptr ? bytes("", 0) : bytes(options->data, options->length);
  Object both = call(status, "sessions.run_with_options", "(OOOON)", session->session.get(), step->fetches.get(),
                     feeds.get(), given.get(), PyBool_FromLong(metadata != nullptr));
  if (!both) return;
  if (metadata != nullptr) write(metadata, Object::of(PyTuple_GET_ITEM(both.get(), 1)), status);
  write_results(*step, PyTuple_GET_ITEM(both.get(), 0), true, values, status);
}

TF_Session* session_of(Object session, TF_Graph* graph) {
  if (!session) return nullptr;
  ++graph->uses;
  Object run(PyObject_GetAttrString(session.get(), "run"));
  return new TF_Session{std::move(session), std::move(run), graph, false, {}};
}

const TF_DeviceList::Device* device(const TF_DeviceList* list, int index, TF_Status* status) {
  succeed(status);
  if (index >= 0 && static_cast<size_t>(index) < list->devices.size()) return &list->devices[index];
  fail(status, TF_INVALID_ARGUMENT, "index out of bounds");
  return nullptr;
}

}  // namespace

TF_DeviceList* tideflow::device_list(const Object& found) {
  if (!found) return nullptr;
  auto* list = new TF_DeviceList;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(found.get()); ++i) {
    PyObject* device = PyList_GET_ITEM(found.get(), i);
    list->devices.push_back({text(PyTuple_GET_ITEM(device, 0)), text(PyTuple_GET_ITEM(device, 1)),
                             PyLong_AsLongLong(PyTuple_GET_ITEM(device, 2)),
                             PyLong_AsUnsignedLongLongMask(PyTuple_GET_ITEM(device, 3))});
  }
  return list;
}

extern "C" {

// ------------------------------------------------------------------------------------------------ options

TF_SessionOptions* TF_NewSessionOptions(void) { return new TF_SessionOptions; }

void TF_SetTarget(TF_SessionOptions* options, const char* target) { options->target = target; }

void TF_SetConfig(TF_SessionOptions* options, const void* proto, size_t proto_len, TF_Status* status) {
  Gil gil;
  if (call(status, "sessions.check_config", "(O)", bytes(proto, proto_len).get())) {
    options->config.assign(static_cast<const char*>(proto), proto_len);
  }
}

void TF_DeleteSessionOptions(TF_SessionOptions* options) { delete options; }

// ------------------------------------------------------------------------------------------------ sessions

TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status) {
  Gil gil;
  return session_of(call(status, "sessions.new_session", "(OsO)", graph->graph.get(), opts->target.c_str(),
                         bytes(opts->config.data(), opts->config.size()).get()),
                    graph);
}

TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* opts, const TF_Buffer*, const char* export_dir,
                                         const char* const* tags, int tags_len, TF_Graph* graph,
                                         TF_Buffer* meta_graph_def, TF_Status* status) {
  Gil gil;
  Object both = call(status, "sessions.load_saved_model", "(OsOsO)", graph->graph.get(), opts->target.c_str(),
                     bytes(opts->config.data(), opts->config.size()).get(), export_dir, strings(tags, tags_len).get());
  if (!both) return nullptr;
  if (meta_graph_def != nullptr) write(meta_graph_def, Object::of(PyTuple_GET_ITEM(both.get(), 1)), status);
  return session_of(Object::of(PyTuple_GET_ITEM(both.get(), 0)), graph);
}

void TF_CloseSession(TF_Session* session, TF_Status* status) {
  Gil gil;
  session->closed = true;
  session->steps.clear();
  call(status, "sessions.close", "(O)", session->session.get());
}

void TF_DeleteSession(TF_Session* session, TF_Status* status) {
  Gil gil;
  succeed(status);
  if (session == nullptr) return;
  if (!session->closed) TF_CloseSession(session, status);
  TF_Graph* graph = session->graph;
  delete session;
  release(graph);
}

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
                   TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs, TF_Tensor** output_values,
                   int noutputs, const TF_Operation* const* target_opers, int ntargets, TF_Buffer* run_metadata,
                   TF_Status* status) {
  const std::string key = key_of(inputs, ninputs, outputs, noutputs, target_opers, ntargets);
  std::fill(output_values, output_values + noutputs, nullptr);
  succeed(status);
  Gil gil;
  std::shared_ptr<Step> step = session->steps[key];
  if (!step) {
    step = std::make_shared<Step>();
    if (!resolve(step.get(), inputs, ninputs, outputs, noutputs, target_opers, ntargets, status)) return;
    session->steps[key] = step;
  }
  Object feeds = feeds_of(*step, input_values, status);
  if (!feeds) return;
  if (step->has_run && !session->closed && run_options == nullptr && run_metadata == nullptr) {
    run_again(session, *step, feeds, output_values, status);
  } else {
    run_first(session, step.get(), feeds, run_options, run_metadata, output_values, status);
  }
}

// ------------------------------------------------------------------------------------------------ pieces of steps

void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs, int ninputs, const TF_Output* outputs,
                         int noutputs, const TF_Operation* const* target_opers, int ntargets, const char** handle,
                         TF_Status* status) {
  Gil gil;
  *handle = nullptr;
  succeed(status);
  Step step;
  if (!resolve(&step, inputs, ninputs, outputs, noutputs, target_opers, ntargets, status)) return;
  Object feeds = list(step.feeds.size(), [&](size_t i) { return Object::of(step.feeds[i].get()); });
  Object made = call(status, "sessions.partial_run_setup", "(OOO)", session->session.get(), step.fetches.get(),
                     feeds.get());
  if (made) *handle = strdup(text(made.get()).c_str());
}

void TF_SessionPRun(TF_Session* session, const char* handle, const TF_Output* inputs, TF_Tensor* const* input_values,
                    int ninputs, const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
                    const TF_Operation* const* target_opers, int ntargets, TF_Status* status) {
  Gil gil;
  std::fill(output_values, output_values + noutputs, nullptr);
  succeed(status);
  Step step;
  if (!resolve(&step, inputs, ninputs, outputs, noutputs, target_opers, ntargets, status)) return;
  Object feeds = feeds_of(step, input_values, status);
  if (!feeds) return;
  Object results = call(status, "sessions.partial_run", "(OsOO)", session->session.get(), handle, step.fetches.get(),
                        feeds.get());
  if (results) write_results(step, results.get(), true, output_values, status);
}

void TF_DeletePRunHandle(const char* handle) { std::free(const_cast<char*>(handle)); }

// ------------------------------------------------------------------------------------------------ devices

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) {
  Gil gil;
  return device_list(call(status, "sessions.devices", "(O)", session->session.get()));
}

void TF_DeleteDeviceList(TF_DeviceList* list) { delete list; }

int TF_DeviceListCount(const TF_DeviceList* list) { return static_cast<int>(list->devices.size()); }

const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status) {
  const auto* found = device(list, index, status);
  return found == nullptr ? nullptr : found->name.c_str();
}

const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status) {
  const auto* found = device(list, index, status);
  return found == nullptr ? nullptr : found->type.c_str();
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index, TF_Status* status) {
  const auto* found = device(list, index, status);
  return found == nullptr ? -1 : found->memory;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index, TF_Status* status) {
  const auto* found = device(list, index, status);
  return found == nullptr ? 0 : found->incarnation;
}

}  // extern "C"
