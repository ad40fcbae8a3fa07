// The binary interfaces on which libraries of kernels stand: DLPack's tensors, and Python's stable functions.
// Both are declared here, so that a library is compiled without the headers of Python and of PyTorch.
#ifndef TIDEFLOW_KERNELS_INTERFACES_H_
#define TIDEFLOW_KERNELS_INTERFACES_H_

#include <cstddef>
#include <cstdint>

namespace tideflow {

enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2 };
enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

struct DLPackVersion {
  uint32_t major, minor;
};
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};
struct DLPackExchangeAPI {
  DLPackVersion version;
  DLPackExchangeAPI* previous;
  int (*allocate)(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*managed_from_py)(void* py_object, DLManagedTensorVersioned** out);
  int (*managed_to_py)(DLManagedTensorVersioned* tensor, void** out);
  int (*view_of_py)(void* py_object, DLTensor* out);
  int (*current_work_stream)(DLDeviceType type, int32_t device_id, void** out);
};

}  // namespace tideflow

typedef struct _object PyObject;

namespace tideflow {
namespace python {

// Functions of Python's stable interface, under names of our own, beside which a kernel may include Python.h.
// They are weak: a linker that is told to find every name lets these be found when the library is loaded.
struct MethodDef {
  const char* name;
  PyObject* (*function)(PyObject* self, PyObject* const* args, ptrdiff_t count);
  int flags;
  const char* doc;
};
enum { kFastCall = 0x80 };

extern "C" {
#define TIDEFLOW_PYTHON(result, name, symbol, ...) result name(__VA_ARGS__) __asm__(symbol) __attribute__((weak));
TIDEFLOW_PYTHON(void, IncRef, "Py_IncRef", PyObject*)
TIDEFLOW_PYTHON(void, DecRef, "Py_DecRef", PyObject*)
TIDEFLOW_PYTHON(PyObject*, BytesFromStringAndSize, "PyBytes_FromStringAndSize", const char*, ptrdiff_t)
TIDEFLOW_PYTHON(int, BytesAsStringAndSize, "PyBytes_AsStringAndSize", PyObject*, char**, ptrdiff_t*)
TIDEFLOW_PYTHON(PyObject*, TupleNew, "PyTuple_New", ptrdiff_t)
TIDEFLOW_PYTHON(int, TupleSetItem, "PyTuple_SetItem", PyObject*, ptrdiff_t, PyObject*)
TIDEFLOW_PYTHON(PyObject*, TupleGetItem, "PyTuple_GetItem", PyObject*, ptrdiff_t)
TIDEFLOW_PYTHON(ptrdiff_t, TupleSize, "PyTuple_Size", PyObject*)
TIDEFLOW_PYTHON(PyObject*, ListNew, "PyList_New", ptrdiff_t)
TIDEFLOW_PYTHON(int, ListAppend, "PyList_Append", PyObject*, PyObject*)
TIDEFLOW_PYTHON(PyObject*, LongFromLongLong, "PyLong_FromLongLong", long long)
TIDEFLOW_PYTHON(long long, LongAsLongLong, "PyLong_AsLongLong", PyObject*)
TIDEFLOW_PYTHON(PyObject*, GetAttrString, "PyObject_GetAttrString", PyObject*, const char*)
TIDEFLOW_PYTHON(PyObject*, CallObject, "PyObject_CallObject", PyObject*, PyObject*)
TIDEFLOW_PYTHON(PyObject*, CapsuleNew, "PyCapsule_New", void*, const char*, void (*)(PyObject*))
TIDEFLOW_PYTHON(void*, CapsuleGetPointer, "PyCapsule_GetPointer", PyObject*, const char*)
TIDEFLOW_PYTHON(PyObject*, FunctionNew, "PyCFunction_NewEx", MethodDef*, PyObject* self, PyObject* module)
TIDEFLOW_PYTHON(void, SetError, "PyErr_SetObject", PyObject*, PyObject*)
TIDEFLOW_PYTHON(void, ClearError, "PyErr_Clear", )
TIDEFLOW_PYTHON(void*, SaveThread, "PyEval_SaveThread", )
TIDEFLOW_PYTHON(void, RestoreThread, "PyEval_RestoreThread", void*)
TIDEFLOW_PYTHON(int, EnsureGil, "PyGILState_Ensure", )
TIDEFLOW_PYTHON(void, ReleaseGil, "PyGILState_Release", int)
#undef TIDEFLOW_PYTHON
}

}  // namespace python
}  // namespace tideflow

#endif  // TIDEFLOW_KERNELS_INTERFACES_H_
