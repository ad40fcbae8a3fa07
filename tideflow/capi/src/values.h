// What needs no Python: statuses and the memory of tensors.

#ifndef TIDEFLOW_CAPI_VALUES_H_
#define TIDEFLOW_CAPI_VALUES_H_

#include <atomic>
#include <string>
#include <vector>

#include "tideflow/c_api.h"

struct TF_Status {
  TF_Code code = TF_OK;
  std::string message;
};

namespace tideflow {

using Deallocator = void (*)(void* data, size_t length, void* arg);

// Memory that tensors and arrays share; the last of them releases it.
class Memory {
 public:
  Memory(void* data, size_t length, Deallocator deallocator, void* arg)
      : data(data), length(length), deallocator_(deallocator), arg_(arg) {}
  static Memory* allocate(size_t length);

  Memory* taken() {
    uses_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  void release() {
    if (uses_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (deallocator_ != nullptr) deallocator_(data, length, arg_);
    delete this;
  }
  bool is_shared() const { return uses_.load(std::memory_order_acquire) > 1; }

  void* const data;
  const size_t length;

 private:
  ~Memory() = default;
  const Deallocator deallocator_;
  void* const arg_;
  std::atomic<int> uses_{1};
};

}  // namespace tideflow

struct TF_Tensor {
  TF_DataType type;
  std::vector<int64_t> dims;
  tideflow::Memory* memory;

  int64_t size() const {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }
  ~TF_Tensor() { memory->release(); }
};

namespace tideflow {

void succeed(TF_Status* status);
void fail(TF_Status* status, TF_Code code, const std::string& message);

// Has an empty buffer own a copy of the bytes.
void fill(TF_Buffer* buffer, const void* data, size_t length);

// The strings of a tensor, as pairs of their beginnings and lengths; false, with an error, where the memory is malformed.
bool decode_strings(const TF_Tensor& tensor, std::vector<std::pair<const char*, size_t>>* strings, TF_Status* status);
TF_Tensor* encode_strings(const std::vector<std::pair<const char*, size_t>>& strings, std::vector<int64_t> dims);

}  // namespace tideflow

#endif  // TIDEFLOW_CAPI_VALUES_H_
