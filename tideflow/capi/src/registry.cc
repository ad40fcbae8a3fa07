// Op types, kernels, libraries, servers and logs.

#include "python.h"

using namespace tideflow;

struct TF_Library {
  std::string ops;  // an OpList
};

struct TF_ApiDefMap {
  Object defs;
};

struct TF_Server {
  Object server;
  std::string target;
};

namespace {

TF_Buffer* buffer_of(const Object& bytes) {
  if (!bytes || bytes.get() == Py_None) return nullptr;
  return TF_NewBufferFromString(PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
}

// A Python function of one string, for the function of C that its capsule holds.
PyObject* call_listener(PyObject* capsule, PyObject* line) {
  auto listener = reinterpret_cast<void (*)(const char*)>(PyCapsule_GetPointer(capsule, nullptr));
  listener(text(line).c_str());
  Py_RETURN_NONE;
}

PyMethodDef listener_method = {"listener", call_listener, METH_O, nullptr};

}  // namespace

extern "C" {

TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) {
  Gil gil;
  Object ops = call(status, "registry.load_library", "(s)", library_filename);
  if (!ops) return nullptr;
  return new TF_Library{std::string(PyBytes_AS_STRING(ops.get()), static_cast<size_t>(PyBytes_GET_SIZE(ops.get())))};
}

TF_Buffer TF_GetOpList(TF_Library* library) { return {library->ops.data(), library->ops.size(), nullptr}; }

void TF_DeleteLibraryHandle(TF_Library* library) { delete library; }

TF_Buffer* TF_GetAllOpList(void) {
  Gil gil;
  return buffer_of(call(nullptr, "registry.all_ops", "()"));
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  Gil gil;
  return buffer_of(call(status, "registry.kernels", "(O)", Py_None));
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  Gil gil;
  return buffer_of(call(status, "registry.kernels", "(s)", name));
}

// ------------------------------------------------------------------------------------------------ ApiDefs

TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list, TF_Status* status) {
  Gil gil;
  Object defs = call(status, "registry.new_api_defs", "(O)", bytes(op_list->data, op_list->length).get());
  return defs ? new TF_ApiDefMap{std::move(defs)} : nullptr;
}

void TF_DeleteApiDefMap(TF_ApiDefMap* map) {
  Gil gil;
  delete map;
}

void TF_ApiDefMapPut(TF_ApiDefMap* map, const char* text, size_t text_len, TF_Status* status) {
  Gil gil;
  call(status, "registry.put_api_defs", "(Os#)", map->defs.get(), text, static_cast<Py_ssize_t>(text_len));
}

TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* map, const char* name, size_t name_len, TF_Status* status) {
  Gil gil;
  return buffer_of(
      call(status, "registry.get_api_def", "(Os#)", map->defs.get(), name, static_cast<Py_ssize_t>(name_len)));
}

// ------------------------------------------------------------------------------------------------ servers

TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) {
  Gil gil;
  Object server = call(status, "sessions.new_server", "(O)", bytes(proto, proto_len).get());
  Object target = server ? call(status, "sessions.server_target", "(O)", server.get()) : Object();
  return target ? new TF_Server{std::move(server), text(target.get())} : nullptr;
}

void TF_ServerStart(TF_Server* server, TF_Status* status) {
  Gil gil;
  call(status, "sessions.start_server", "(O)", server->server.get());
}

void TF_ServerStop(TF_Server* server, TF_Status* status) {
  Gil gil;
  call(status, "sessions.stop_server", "(O)", server->server.get());
}

void TF_ServerJoin(TF_Server* server, TF_Status* status) {
  Gil gil;
  call(status, "sessions.join_server", "(O)", server->server.get());
}

const char* TF_ServerTarget(TF_Server* server) { return server->target.c_str(); }

void TF_DeleteServer(TF_Server* server) {
  Gil gil;
  delete server;
}

void TF_RegisterLogListener(void (*listener)(const char*)) {
  Gil gil;
  Object capsule(PyCapsule_New(reinterpret_cast<void*>(listener), nullptr, nullptr));
  Object function(PyCFunction_New(&listener_method, capsule.get()));
  call(nullptr, "registry.listen_to_logs", "(O)", function.get());
}

}  // extern "C"
