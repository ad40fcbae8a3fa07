// The way into Python: the interpreter, its lock, calls of the package's functions, arrays.

#ifndef TIDEFLOW_CAPI_PYTHON_H_
#define TIDEFLOW_CAPI_PYTHON_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "values.h"

namespace tideflow {

// Holds the interpreter's lock; starts the interpreter if this process has none. Threads may nest it.
class Gil {
 public:
  Gil();
  ~Gil();
  Gil(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

// A reference to a Python object. It is made, copied and dropped under the lock.
class Object {
 public:
  Object() = default;
  explicit Object(PyObject* owned) : object_(owned) {}
  static Object of(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Object(borrowed);
  }
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* taken() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Calls a function of the package, such as "graphs.new_graph", with the arguments of Py_BuildValue's format. Sets the
// status, and returns null after an error. Without status an error is printed.
Object call(TF_Status* status, const char* function, const char* format, ...);

// The exception that was raised, as a status.
void set_error(TF_Status* status);

std::string text(PyObject* string);

// A list of `count` objects that `make` gives; null where one is.
template <typename Make>
Object list(size_t count, Make make) {
  Object made(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = make(i).taken();
    if (item == nullptr) return Object();
    PyList_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), item);
  }
  return made;
}

Object strings(const char* const* values, int count);

inline Object bytes(const void* data, size_t length) {
  return Object(PyBytes_FromStringAndSize(static_cast<const char*>(data), static_cast<Py_ssize_t>(length)));
}

// Writes bytes, or null after an error, to a buffer, which must be empty.
void write(TF_Buffer* buffer, const Object& bytes, TF_Status* status);

// An array that shares the memory of a tensor, or has its strings. Null, with an error, if that is malformed.
Object array_of(const TF_Tensor* tensor, TF_Status* status);

// A fetched value, an array or a scalar, as a tensor. Null, with an error, if the type has no values outside of a
// session.
TF_Tensor* tensor_of(PyObject* value, TF_DataType type, TF_Status* status);

}  // namespace tideflow

#endif  // TIDEFLOW_CAPI_PYTHON_H_
