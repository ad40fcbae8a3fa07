// Statuses, buffers and tensors.

#include "values.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tideflow {

namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest registers of vectors

void free_aligned(void* data, size_t, void*) { std::free(data); }

void free_bytes(void* data, size_t) { std::free(data); }

}  // namespace

Memory* Memory::allocate(size_t length) {
  const size_t rounded = (std::max<size_t>(length, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void* data = std::aligned_alloc(kAlignment, rounded);
  return data == nullptr ? nullptr : new Memory(data, length, free_aligned, nullptr);
}

void succeed(TF_Status* status) {
  status->code = TF_OK;
  status->message.clear();
}

void fail(TF_Status* status, TF_Code code, const std::string& message) {
  status->code = code;
  status->message = message;
}

void fill(TF_Buffer* buffer, const void* data, size_t length) {
  void* copy = std::malloc(std::max<size_t>(length, 1));
  if (length > 0) std::memcpy(copy, data, length);
  buffer->data = copy;
  buffer->length = length;
  buffer->data_deallocator = free_bytes;
}

bool decode_strings(const TF_Tensor& tensor, std::vector<std::pair<const char*, size_t>>* strings, TF_Status* status) {
  const size_t count = static_cast<size_t>(tensor.size());
  const size_t table = count * sizeof(uint64_t);
  const char* data = static_cast<const char*>(tensor.memory->data);
  if (table > tensor.memory->length) {
    fail(status, TF_INVALID_ARGUMENT, "Malformed TF_STRING tensor; too short to hold number of elements");
    return false;
  }
  const size_t rest = tensor.memory->length - table;
  strings->resize(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t offset;
    std::memcpy(&offset, data + i * sizeof offset, sizeof offset);
    if (offset >= rest) {
      fail(status, TF_INVALID_ARGUMENT, "Malformed TF_STRING tensor; element " + std::to_string(i) + " out of range");
      return false;
    }
    auto& [begin, length] = (*strings)[i];
    TF_StringDecode(data + table + offset, rest - offset, &begin, &length, status);
    if (status->code != TF_OK) return false;
  }
  return true;
}

TF_Tensor* encode_strings(const std::vector<std::pair<const char*, size_t>>& strings, std::vector<int64_t> dims) {
  const size_t table = strings.size() * sizeof(uint64_t);
  size_t length = table;
  for (const auto& string : strings) length += TF_StringEncodedSize(string.second);
  Memory* memory = Memory::allocate(length);
  if (memory == nullptr) return nullptr;
  char* data = static_cast<char*>(memory->data);
  size_t at = table;
  TF_Status status;
  for (size_t i = 0; i < strings.size(); ++i) {
    const uint64_t offset = at - table;
    std::memcpy(data + i * sizeof offset, &offset, sizeof offset);
    at += TF_StringEncode(strings[i].first, strings[i].second, data + at, length - at, &status);
  }
  return new TF_Tensor{TF_STRING, std::move(dims), memory};
}

}  // namespace tideflow

using tideflow::fail;
using tideflow::Memory;
using tideflow::succeed;

extern "C" {

const char* TF_Version(void) { return TIDEFLOW_TENSORFLOW_VERSION; }

// ------------------------------------------------------------------------------------------------ statuses

TF_Status* TF_NewStatus(void) { return new TF_Status; }

void TF_DeleteStatus(TF_Status* status) { delete status; }

void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  if (code == TF_OK) {
    succeed(status);
  } else {
    fail(status, code, message);
  }
}

TF_Code TF_GetCode(const TF_Status* status) { return status->code; }

const char* TF_Message(const TF_Status* status) { return status->message.c_str(); }

// ------------------------------------------------------------------------------------------------ buffers

TF_Buffer* TF_NewBuffer(void) { return new TF_Buffer{nullptr, 0, nullptr}; }

TF_Buffer* TF_NewBufferFromString(const void* data, size_t length) {
  TF_Buffer* buffer = TF_NewBuffer();
  tideflow::fill(buffer, data, length);
  return buffer;
}

void TF_DeleteBuffer(TF_Buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->data_deallocator != nullptr) {
    buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  }
  delete buffer;
}

TF_Buffer TF_GetBuffer(TF_Buffer* buffer) { return *buffer; }

// ------------------------------------------------------------------------------------------------ tensors

size_t TF_DataTypeSize(TF_DataType type) {
  switch (type) {
    case TF_BOOL:
    case TF_INT8:
    case TF_UINT8:
    case TF_QINT8:
    case TF_QUINT8:
      return 1;
    case TF_INT16:
    case TF_UINT16:
    case TF_QINT16:
    case TF_QUINT16:
    case TF_HALF:
    case TF_BFLOAT16:
      return 2;
    case TF_FLOAT:
    case TF_INT32:
    case TF_UINT32:
    case TF_QINT32:
      return 4;
    case TF_DOUBLE:
    case TF_INT64:
    case TF_UINT64:
    case TF_COMPLEX64:
      return 8;
    case TF_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

TF_Tensor* TF_NewTensor(TF_DataType type, const int64_t* dims, int num_dims, void* data, size_t length,
                        void (*deallocator)(void* data, size_t len, void* arg), void* arg) {
  const size_t size = TF_DataTypeSize(type);
  const size_t unit = std::min<size_t>(std::max<size_t>(size, 1), 8);
  Memory* memory;
  if (reinterpret_cast<uintptr_t>(data) % unit == 0) {
    memory = new Memory(data, length, deallocator, arg);
  } else {  // kernels read whole values
    memory = Memory::allocate(length);
    if (memory != nullptr) std::memcpy(memory->data, data, length);
    if (deallocator != nullptr) deallocator(data, length, arg);
    if (memory == nullptr) return nullptr;
  }
  TF_Tensor* tensor = new TF_Tensor{type, std::vector<int64_t>(dims, dims + num_dims), memory};
  if (tensor->size() < 0 || length < size * static_cast<size_t>(tensor->size())) {
    delete tensor;
    return nullptr;
  }
  return tensor;
}

TF_Tensor* TF_AllocateTensor(TF_DataType type, const int64_t* dims, int num_dims, size_t length) {
  Memory* memory = Memory::allocate(length);
  return memory == nullptr ? nullptr : new TF_Tensor{type, std::vector<int64_t>(dims, dims + num_dims), memory};
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) { return tensor->memory->is_shared() ? nullptr : tensor; }

void TF_DeleteTensor(TF_Tensor* tensor) { delete tensor; }

TF_DataType TF_TensorType(const TF_Tensor* tensor) { return tensor->type; }

int TF_NumDims(const TF_Tensor* tensor) { return static_cast<int>(tensor->dims.size()); }

int64_t TF_Dim(const TF_Tensor* tensor, int index) { return tensor->dims[index]; }

size_t TF_TensorByteSize(const TF_Tensor* tensor) { return tensor->memory->length; }

void* TF_TensorData(const TF_Tensor* tensor) { return tensor->memory->data; }

int64_t TF_TensorElementCount(const TF_Tensor* tensor) { return tensor->size(); }

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to, const int64_t* dims, int num_dims,
                          TF_Status* status) {
  succeed(status);
  std::vector<int64_t> shape(dims, dims + num_dims);
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  const size_t from_size = TF_DataTypeSize(from->type), to_size = TF_DataTypeSize(type);
  if (from_size == 0) {
    fail(status, TF_INVALID_ARGUMENT, "other tensor has zero-sized data type");
  } else if (to_size == 0) {
    fail(status, TF_INVALID_ARGUMENT, "specified output type is zero-sized");
  } else if (count < 0 || to_size * count != from_size * from->size()) {
    fail(status, TF_INVALID_ARGUMENT, "input and output shapes/data type sizes are not compatible");
  } else {
    Memory* memory = from->memory->taken();
    to->memory->release();
    to->memory = memory;
    to->type = type;
    to->dims = std::move(shape);
  }
}

bool TF_TensorIsAligned(const TF_Tensor* tensor) {
  return reinterpret_cast<uintptr_t>(tensor->memory->data) % tideflow::kAlignment == 0;
}

// ------------------------------------------------------------------------------------------------ strings

size_t TF_StringEncodedSize(size_t length) {
  size_t bytes = 1;
  for (size_t rest = length; rest >= 0x80; rest >>= 7) ++bytes;
  return bytes + length;
}

size_t TF_StringEncode(const char* src, size_t src_len, char* dst, size_t dst_len, TF_Status* status) {
  succeed(status);
  const size_t size = TF_StringEncodedSize(src_len);
  if (dst_len < size) {
    fail(status, TF_INVALID_ARGUMENT, "dst_len (" + std::to_string(dst_len) + ") too small to encode a " +
                                          std::to_string(src_len) + "-byte string");
    return 0;
  }
  size_t rest = src_len;
  for (; rest >= 0x80; rest >>= 7) *dst++ = static_cast<char>(rest | 0x80);
  *dst++ = static_cast<char>(rest);
  if (src_len > 0) std::memcpy(dst, src, src_len);
  return size;
}

size_t TF_StringDecode(const char* src, size_t src_len, const char** dst, size_t* dst_len, TF_Status* status) {
  succeed(status);
  uint64_t length = 0;
  size_t at = 0;
  bool ended = false;
  for (int shift = 0; at < src_len && shift < 64 && !ended; shift += 7) {
    const unsigned char byte = static_cast<unsigned char>(src[at++]);
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    ended = byte < 0x80;
  }
  if (!ended) {
    fail(status, TF_INVALID_ARGUMENT, "invalid string encoding or truncated src buffer");
    return 0;
  }
  if (length > src_len - at) {
    fail(status, TF_INVALID_ARGUMENT, "Decoded string has length " + std::to_string(length) + ", and only " +
                                          std::to_string(src_len - at) + " bytes follow");
    return 0;
  }
  *dst = src + at;
  *dst_len = length;
  return at + length;
}

}  // extern "C"
