// Tensors of C as NumPy arrays, and back.

#include "python.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>

namespace tideflow {

namespace {

constexpr int kTypes = 24;            // numbers of types that a tensor can have
constexpr size_t kCopiedBytes = 4096;  // smaller results are copied: releasing them takes no lock then

PyArray_Descr* array_type(TF_DataType type, TF_Status* status) {
  static PyArray_Descr* known[kTypes];
  static bool loaded = false;
  if (!loaded) {
    if (PyArray_ImportNumPyAPI() < 0) {
      set_error(status);
      return nullptr;
    }
    Object types = call(status, "sessions.array_types", "()");
    if (!types) return nullptr;
    for (int i = 0; i < kTypes; ++i) {
      Object number(PyLong_FromLong(i));
      PyObject* found = PyDict_GetItem(types.get(), number.get());
      Py_XINCREF(found);
      known[i] = reinterpret_cast<PyArray_Descr*>(found);
    }
    loaded = true;
  }
  PyArray_Descr* found = type > 0 && type < kTypes ? known[type] : nullptr;
  if (found == nullptr) {
    fail(status, TF_INVALID_ARGUMENT, "Type " + std::to_string(type) +
                                          " has no values outside of a session: handles stay in the one that made them");
  }
  return found;
}

constexpr const char* kMemory = "tideflow.memory";

void release_memory(PyObject* capsule) {
  static_cast<Memory*>(PyCapsule_GetPointer(capsule, kMemory))->release();
}

void release_array(void*, size_t, void* array) {
  Gil gil;
  Py_DECREF(static_cast<PyObject*>(array));
}

Object array_of_strings(const TF_Tensor* tensor, TF_Status* status) {
  std::vector<std::pair<const char*, size_t>> strings;
  if (!decode_strings(*tensor, &strings, status)) return Object();
  const std::vector<npy_intp> dims(tensor->dims.begin(), tensor->dims.end());
  Object array(PyArray_SimpleNew(static_cast<int>(dims.size()), dims.data(), NPY_OBJECT));
  if (!array) {
    set_error(status);
    return array;
  }
  PyObject** items = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.get())));
  for (size_t i = 0; i < strings.size(); ++i) {
    Object before(items[i]);
    items[i] = bytes(strings[i].first, strings[i].second).taken();
  }
  return array;
}

TF_Tensor* tensor_of_strings(PyArrayObject* array, std::vector<int64_t> dims, TF_Status* status) {
  PyObject** items = static_cast<PyObject**>(PyArray_DATA(array));
  const size_t count = static_cast<size_t>(PyArray_SIZE(array));
  std::vector<std::pair<const char*, size_t>> strings(count);
  std::vector<Object> encoded;  // what is text, and lives until the tensor has its bytes
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = items[i];
    if (item != nullptr && PyUnicode_Check(item)) {
      encoded.emplace_back(PyUnicode_AsUTF8String(item));
      item = encoded.back().get();
    }
    if (item == nullptr || !PyBytes_Check(item)) {
      PyErr_Clear();
      fail(status, TF_INTERNAL, "A value of a string tensor is no string");
      return nullptr;
    }
    strings[i] = {PyBytes_AS_STRING(item), static_cast<size_t>(PyBytes_GET_SIZE(item))};
  }
  return encode_strings(strings, std::move(dims));
}

}  // namespace

Object array_of(const TF_Tensor* tensor, TF_Status* status) {
  PyArray_Descr* type = array_type(tensor->type, status);
  if (type == nullptr) return Object();
  if (tensor->type == TF_STRING) return array_of_strings(tensor, status);
  npy_intp dims[NPY_MAXDIMS];
  if (tensor->dims.size() > NPY_MAXDIMS) {
    fail(status, TF_INVALID_ARGUMENT, "A tensor has too many dimensions");
    return Object();
  }
  std::copy(tensor->dims.begin(), tensor->dims.end(), dims);
  Py_INCREF(type);
  Object array(PyArray_NewFromDescr(&PyArray_Type, type, static_cast<int>(tensor->dims.size()), dims, nullptr,
                                    tensor->memory->data, NPY_ARRAY_CARRAY, nullptr));
  PyObject* owner = array ? PyCapsule_New(tensor->memory->taken(), kMemory, release_memory) : nullptr;
  if (owner == nullptr || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.get()), owner) < 0) {
    set_error(status);
    return Object();
  }
  return array;
}

TF_Tensor* tensor_of(PyObject* value, TF_DataType type, TF_Status* status) {
  PyArray_Descr* descr = array_type(type, status);
  if (descr == nullptr) return nullptr;
  Object array;
  if (PyArray_CheckExact(value) && PyArray_ISCARRAY_RO(reinterpret_cast<PyArrayObject*>(value)) &&
      PyArray_DESCR(reinterpret_cast<PyArrayObject*>(value)) == descr) {
    array = Object::of(value);
  } else {
    Py_INCREF(descr);
    array = Object(PyArray_FromAny(value, descr, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST, nullptr));
    if (!array) {
      set_error(status);
      return nullptr;
    }
  }
  PyArrayObject* found = reinterpret_cast<PyArrayObject*>(array.get());
  std::vector<int64_t> dims(PyArray_DIMS(found), PyArray_DIMS(found) + PyArray_NDIM(found));
  if (type == TF_STRING) return tensor_of_strings(found, std::move(dims), status);
  const size_t length = static_cast<size_t>(PyArray_NBYTES(found));
  Memory* memory;
  if (length > kCopiedBytes) {
    memory = new Memory(PyArray_DATA(found), length, release_array, array.taken());
  } else {
    memory = Memory::allocate(length);
    if (memory != nullptr) std::memcpy(memory->data, PyArray_DATA(found), length);
  }
  if (memory == nullptr) {
    fail(status, TF_RESOURCE_EXHAUSTED, "There is no memory for a result");
    return nullptr;
  }
  return new TF_Tensor{type, std::move(dims), memory};
}

}  // namespace tideflow
