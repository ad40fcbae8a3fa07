// The interpreter, and calls of the package's functions.

#include "python.h"

#include <pthread.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace tideflow {

namespace {

// A thread of the C program keeps its Python state from its first call to its end: making one for each call would cost
// more than most calls, and what Python keeps by thread would be lost between them.
class ThreadState {
 public:
  void keep() {
    if (kept_ != nullptr || PyGILState_GetThisThreadState() != nullptr) return;
    PyGILState_Ensure();
    kept_ = PyEval_SaveThread();
  }
  ~ThreadState() {
    if (kept_ == nullptr || !Py_IsInitialized()) return;
    PyEval_RestoreThread(kept_);
    PyGILState_Release(PyGILState_UNLOCKED);
  }

 private:
  PyThreadState* kept_ = nullptr;
};

thread_local ThreadState this_thread;

[[noreturn]] void give_up(const char* what, const char* python) {
  std::fprintf(stderr,
               "libtideflow: Python cannot be started (%s). It was looked for at %s; the environment variable "
               "TIDEFLOW_PYTHON names another interpreter, of an environment in which tideflow is installed.\n",
               what, python);
  std::abort();
}

// Ends the package's threads while the libraries that they use are still there. The lock is kept: no Python code runs
// from now on, whatever the process still does.
void end_python() {
  PyGILState_Ensure();
  for (const auto& [module, function] : {std::pair("atexit", "_run_exitfuncs"), std::pair("sys", "stdout")}) {
    Object found(PyImport_ImportModule(module));
    Object member(found ? PyObject_GetAttrString(found.get(), function) : nullptr);
    Object done(!member                        ? nullptr
                : PyCallable_Check(member.get()) ? PyObject_CallNoArgs(member.get())
                                                 : PyObject_CallMethod(member.get(), "flush", nullptr));
    if (!done) PyErr_Clear();
  }
}

// A fork of the program is one of Python too: its child has this thread alone, and must find no lock taken by another.
// Forks that Python makes itself, holding its lock, are its own affair.
class Fork {
 public:
  void prepare() {
    is_ours_ = !PyGILState_Check();
    if (!is_ours_) return;
    state_ = PyGILState_Ensure();
    PyOS_BeforeFork();
  }
  void finish(void (*after)()) {
    if (!is_ours_) return;
    after();
    PyGILState_Release(state_);
  }

 private:
  bool is_ours_ = false;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

thread_local Fork fork_of_this_thread;

void handle_forks() {
  pthread_atfork([] { fork_of_this_thread.prepare(); }, [] { fork_of_this_thread.finish(PyOS_AfterFork_Parent); },
                 [] { fork_of_this_thread.finish(PyOS_AfterFork_Child); });
}

void check(const PyStatus& status, const char* python) {
  if (PyStatus_Exception(status)) give_up(status.err_msg == nullptr ? "unknown error" : status.err_msg, python);
}

// Loads the package with what it registers when its first name is asked for.
bool load_package() { return static_cast<bool>(Object(PyImport_ImportModule("tideflow.rooms"))); }

void start_python() {
  if (Py_IsInitialized()) return;  // this process is a Python program
  const char* chosen = std::getenv("TIDEFLOW_PYTHON");
  const char* python = chosen != nullptr && *chosen != '\0' ? chosen : TIDEFLOW_PYTHON;
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;  // signals are the program's own
  config.parse_argv = 0;
  check(PyConfig_SetBytesString(&config, &config.program_name, python), python);
  check(PyConfig_SetBytesString(&config, &config.executable, python), python);
  check(Py_InitializeFromConfig(&config), python);
  PyConfig_Clear(&config);
  // The package that this library belongs to comes before others of the environment.
  PyObject* path = PySys_GetObject("path");
  Object root(PyUnicode_DecodeFSDefault(TIDEFLOW_ROOT));
  if (path != nullptr && (chosen == nullptr || *chosen == '\0')) PyList_Insert(path, 0, root.get());
  if (!load_package()) {
    PyErr_Print();
    give_up("tideflow cannot be imported", python);
  }
  handle_forks();
  std::atexit(end_python);  // after the libraries are loaded: functions registered last are called first
  PyEval_SaveThread();
}

std::once_flag started;

PyObject* function(const char* name) {
  static std::unordered_map<const char*, PyObject*> known;  // by the literals of the callers
  PyObject*& found = known[name];
  if (found == nullptr && load_package()) {
    const std::string full(name);
    const size_t dot = full.find('.');
    Object module(PyImport_ImportModule(("tideflow.capi." + full.substr(0, dot)).c_str()));
    if (module) found = PyObject_GetAttrString(module.get(), full.c_str() + dot + 1);
  }
  return found;
}

}  // namespace

Gil::Gil() {
  std::call_once(started, start_python);
  this_thread.keep();
  state_ = PyGILState_Ensure();
}

Gil::~Gil() { PyGILState_Release(state_); }

std::string text(PyObject* string) {
  Py_ssize_t length = 0;
  const char* data = string == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(string, &length);
  if (data == nullptr) {
    PyErr_Clear();
    return "";
  }
  return std::string(data, static_cast<size_t>(length));
}

void set_error(TF_Status* status) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Object kind(type), error(value), trace(traceback);
  if (traceback != nullptr && std::getenv("TIDEFLOW_CAPI_TRACEBACK") != nullptr) {
    PyErr_Restore(Object::of(type).taken(), Object::of(value).taken(), Object::of(traceback).taken());
    PyErr_Print();
  }
  PyObject* status_of = function("errors.status_of");
  Object found(status_of == nullptr ? nullptr : PyObject_CallOneArg(status_of, error.get()));
  if (!found) {  // the package itself cannot be loaded
    PyErr_Clear();
    Object message(PyObject_Str(error.get()));
    fail(status, TF_INTERNAL, text(message.get()));
    return;
  }
  fail(status, static_cast<TF_Code>(PyLong_AsLong(PyTuple_GetItem(found.get(), 0))),
       text(PyTuple_GetItem(found.get(), 1)));
}

Object call(TF_Status* status, const char* name, const char* format, ...) {
  TF_Status own;
  TF_Status* told = status == nullptr ? &own : status;
  succeed(told);
  PyObject* called = function(name);
  Object result;
  if (called != nullptr) {
    va_list values;
    va_start(values, format);
    Object arguments(Py_VaBuildValue(format, values));
    va_end(values);
    if (arguments) result = Object(PyObject_CallObject(called, arguments.get()));
  }
  if (!result) {
    set_error(told);
    if (status == nullptr) std::fprintf(stderr, "libtideflow: %s\n", own.message.c_str());
  }
  return result;
}

Object strings(const char* const* values, int count) {
  return list(static_cast<size_t>(count), [&](size_t i) { return Object(PyUnicode_FromString(values[i])); });
}

void write(TF_Buffer* buffer, const Object& bytes, TF_Status* status) {
  if (!bytes) return;
  if (buffer->data != nullptr) {
    fail(status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
    return;
  }
  fill(buffer, PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
}

}  // namespace tideflow
