// Shapes and tensors. A tensor's memory is ATen's, and passes to and from Python by DLPack's C interface.
#ifndef TIDEFLOW_KERNELS_TENSOR_H_
#define TIDEFLOW_KERNELS_TENSOR_H_

#include <memory>
#include <utility>

#include "tideflow/kernels/interfaces.h"
#include "tideflow/kernels/status.h"
#include "tideflow/kernels/views.h"

namespace tensorflow {

struct TensorShapeDim {
  explicit TensorShapeDim(int64 s) : size(s) {}
  int64 size;
};

class TensorShape {
 public:
  class Iterator {
   public:
    Iterator(const TensorShape* shape, int d) : shape_(shape), d_(d) {}
    bool operator!=(const Iterator& other) const { return d_ != other.d_; }
    Iterator& operator++() { return ++d_, *this; }
    TensorShapeDim operator*() const { return TensorShapeDim(shape_->dim_size(d_)); }

   private:
    const TensorShape* shape_;
    int d_;
  };

  TensorShape() : count_(1) {}
  TensorShape(std::initializer_list<int64> sizes) : sizes_(sizes) { Count(); }
  explicit TensorShape(const std::vector<int64>& sizes) : sizes_(sizes) { Count(); }
  explicit TensorShape(const std::vector<long>& sizes) : sizes_(sizes.begin(), sizes.end()) { Count(); }
  explicit TensorShape(gtl::ArraySlice<int64> sizes) : sizes_(sizes.begin(), sizes.end()) { Count(); }
  TensorShape(const int64_t* sizes, int rank) : sizes_(sizes, sizes + rank) { Count(); }

  int dims() const { return static_cast<int>(sizes_.size()); }
  int64 dim_size(int d) const { return sizes_.at(static_cast<size_t>(d)); }
  gtl::InlinedVector<int64, 4> dim_sizes() const { return sizes_; }
  int64 num_elements() const { return count_; }
  void AddDim(int64 size) { sizes_.push_back(size), Count(); }
  void AppendShape(const TensorShape& other) {
    sizes_.insert(sizes_.end(), other.sizes_.begin(), other.sizes_.end());
    Count();
  }
  void InsertDim(int d, int64 size) { sizes_.insert(sizes_.begin() + d, size), Count(); }
  void set_dim(int d, int64 size) { sizes_.at(static_cast<size_t>(d)) = size, Count(); }
  void RemoveDim(int d) { sizes_.erase(sizes_.begin() + (d < 0 ? d + dims() : d)), Count(); }
  void RemoveLastDims(int n) { sizes_.resize(sizes_.size() - static_cast<size_t>(n)), Count(); }
  void RemoveDimRange(int begin, int end) {
    sizes_.erase(sizes_.begin() + begin, sizes_.begin() + end);
    Count();
  }
  void Clear() { sizes_.clear(), Count(); }
  bool IsSameSize(const TensorShape& other) const { return sizes_ == other.sizes_; }
  bool operator==(const TensorShape& other) const { return IsSameSize(other); }
  bool operator!=(const TensorShape& other) const { return !IsSameSize(other); }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, dims()); }
  template <int N>
  Eigen::DSizes<Eigen::DenseIndex, N> AsEigenDSizes() const {
    CHECK_EQ(N, dims()) << "Asking for tensor of " << N << " dimensions from a tensor of " << dims() << " dimensions";
    Eigen::DSizes<Eigen::DenseIndex, N> sizes;
    for (int d = 0; d < N; ++d) sizes[d] = sizes_[d];
    return sizes;
  }
  string DebugString() const { return "[" + str_util::Join(sizes_, ",") + "]"; }

 private:
  void Count() {
    count_ = 1;
    for (int64 size : sizes_) {
      CHECK_GE(size, 0) << "a size of a shape";
      CHECK(!__builtin_mul_overflow(count_, size, &count_)) << "too many elements in " << DebugString();
    }
  }

  std::vector<int64> sizes_;
  int64 count_;
};

inline std::ostream& operator<<(std::ostream& out, const TensorShape& shape) { return out << shape.DebugString(); }

// A shape of which the rank (-1), or some sizes (-1), may be unknown.
class PartialTensorShape {
 public:
  PartialTensorShape() : known_(false) {}
  PartialTensorShape(gtl::ArraySlice<int64> sizes) : known_(true), sizes_(sizes.vector()) {}
  PartialTensorShape(const std::vector<int64>& sizes) : known_(true), sizes_(sizes) {}
  PartialTensorShape(std::initializer_list<int64> sizes) : known_(true), sizes_(sizes) {}
  PartialTensorShape(const TensorShape& shape) : known_(true), sizes_(shape.dim_sizes()) {}
  bool unknown_rank() const { return !known_; }
  int dims() const { return known_ ? static_cast<int>(sizes_.size()) : -1; }
  int64 dim_size(int d) const { return known_ ? sizes_.at(static_cast<size_t>(d)) : -1; }
  gtl::InlinedVector<int64, 4> dim_sizes() const { return sizes_; }
  bool IsFullyDefined() const {
    return known_ && std::all_of(sizes_.begin(), sizes_.end(), [](int64 size) { return size >= 0; });
  }
  bool AsTensorShape(TensorShape* shape) const {
    if (IsFullyDefined()) *shape = TensorShape(sizes_);
    return IsFullyDefined();
  }
  bool IsCompatibleWith(const TensorShape& shape) const {
    if (!known_) return true;
    if (dims() != shape.dims()) return false;
    for (int d = 0; d < dims(); ++d)
      if (dim_size(d) >= 0 && dim_size(d) != shape.dim_size(d)) return false;
    return true;
  }
  string DebugString() const {
    if (!known_) return "<unknown>";
    std::vector<string> texts;
    for (int64 size : sizes_) texts.push_back(size < 0 ? "?" : std::to_string(size));
    return "[" + str_util::Join(texts, ",") + "]";
  }

 private:
  bool known_;
  std::vector<int64> sizes_;
};

struct TensorShapeUtils {
  static bool IsScalar(const TensorShape& shape) { return shape.dims() == 0; }
  static bool IsVector(const TensorShape& shape) { return shape.dims() == 1; }
  static bool IsScalarOrVector(const TensorShape& shape) { return shape.dims() <= 1; }
  static bool IsLegacyScalar(const TensorShape& shape) {
    return shape.dims() == 0 || (shape.dims() == 1 && shape.dim_size(0) == 1);
  }
  static bool IsLegacyVector(const TensorShape& shape) { return shape.dims() <= 1; }
  static bool IsVectorOrHigher(const TensorShape& shape) { return shape.dims() >= 1; }
  static bool IsMatrix(const TensorShape& shape) { return shape.dims() == 2; }
  static bool IsSquareMatrix(const TensorShape& shape) {
    return shape.dims() == 2 && shape.dim_size(0) == shape.dim_size(1);
  }
  static bool IsMatrixOrHigher(const TensorShape& shape) { return shape.dims() >= 2; }
  static bool StartsWith(const TensorShape& shape, const TensorShape& prefix) {
    if (shape.dims() < prefix.dims()) return false;
    for (int d = 0; d < prefix.dims(); ++d)
      if (shape.dim_size(d) != prefix.dim_size(d)) return false;
    return true;
  }
  static bool EndsWith(const TensorShape& shape, const TensorShape& suffix) {
    const int more = shape.dims() - suffix.dims();
    if (more < 0) return false;
    for (int d = 0; d < suffix.dims(); ++d)
      if (shape.dim_size(more + d) != suffix.dim_size(d)) return false;
    return true;
  }
  template <typename Integer>
  static Status MakeShape(const Integer* sizes, int64 rank, TensorShape* shape) {
    std::vector<int64> all(sizes, sizes + rank);
    for (int64 size : all)
      if (size < 0) return errors::InvalidArgument("Dimension ", size, " must be >= 0");
    *shape = TensorShape(all);
    return Status::OK();
  }
  template <typename Integers>
  static Status MakeShape(const Integers& sizes, TensorShape* shape) {
    return MakeShape(sizes.data(), static_cast<int64>(sizes.size()), shape);
  }
};

// ------------------------------------------------------------------------------------------------ tensors

namespace internal {

// Memory of a tensor: an input of the running step, ATen's own, strings or handles, or a block that a kernel
// asked for by itself.
struct Buffer {
  void* data = nullptr;
  ::tideflow::DLManagedTensorVersioned* managed = nullptr;
  std::vector<string> strings;
  std::vector<ResourceHandle> handles;
  void* block = nullptr;
  PyObject* input = nullptr;  // borrowed while the step runs
  bool owns_input = false;    // after it, where the kernel has kept the tensor

  Buffer() {}
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    if (managed) managed->deleter(managed);
    free(block);
    if (owns_input) {
      const int state = ::tideflow::python::EnsureGil();
      ::tideflow::python::DecRef(input);
      ::tideflow::python::ReleaseGil(state);
    }
  }
};

__attribute__((visibility("hidden"))) inline ::tideflow::DLPackExchangeAPI*& Exchange() {
  static ::tideflow::DLPackExchangeAPI* api = nullptr;
  return api;
}

}  // namespace internal

struct AllocatorAttributes {
  void set_on_host(bool value) { host = value; }
  bool on_host() const { return host; }
  void set_gpu_compatible(bool) {}
  void set_nic_compatible(bool) {}
  bool host = false;
};
struct AllocationAttributes {
  AllocationAttributes() {}
  bool no_retry_on_failure = false;
};
class Allocator {};

class Tensor {
 public:
  Tensor() : dtype_(DT_FLOAT), shape_({0}) {}
  explicit Tensor(DataType dtype) : dtype_(dtype), shape_({0}) {}
  Tensor(DataType dtype, const TensorShape& shape) : dtype_(dtype), shape_(shape), buffer_(new internal::Buffer) {
    if (HoldObjects()) return;
    if (posix_memalign(&buffer_->block, 64, std::max<size_t>(TotalBytes(), 64))) throw std::bad_alloc();
    buffer_->data = buffer_->block;
  }
  Tensor(Allocator*, DataType dtype, const TensorShape& shape) : Tensor(dtype, shape) {}
  Tensor(DataType dtype, const TensorShape& shape, std::shared_ptr<internal::Buffer> buffer)
      : dtype_(dtype), shape_(shape), buffer_(std::move(buffer)) {}

  DataType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }
  int dims() const { return shape_.dims(); }
  int64 dim_size(int d) const { return shape_.dim_size(d); }
  int64 NumElements() const { return shape_.num_elements(); }
  size_t TotalBytes() const {
    if (dtype_ != DT_STRING) return static_cast<size_t>(NumElements()) * DataTypeSize(dtype_);
    size_t total = static_cast<size_t>(NumElements()) * sizeof(string);
    for (const string& text : buffer_->strings) total += text.size();
    return total;
  }
  size_t AllocatedBytes() const { return TotalBytes(); }
  bool IsInitialized() const { return buffer_ != nullptr || NumElements() == 0; }
  bool IsSameSize(const Tensor& other) const { return shape_.IsSameSize(other.shape_); }
  bool SharesBufferWith(const Tensor& other) const { return buffer_ && buffer_ == other.buffer_; }
  bool IsAligned() const { return reinterpret_cast<uintptr_t>(data()) % EIGEN_MAX_ALIGN_BYTES == 0; }

  // The same memory under another shape, if that has as many elements.
  bool CopyFrom(const Tensor& other, const TensorShape& shape) {
    if (other.NumElements() != shape.num_elements()) return false;
    *this = Tensor(other.dtype_, shape, other.buffer_).At(other.offset_);
    return true;
  }
  // Rows [start, limit) of the outermost dimension, in the same memory.
  Tensor Slice(int64 start, int64 limit) const {
    CHECK(dims() >= 1 && 0 <= start && start <= limit && limit <= dim_size(0)) << "no rows of " << shape_;
    TensorShape shape = shape_;
    shape.set_dim(0, limit - start);
    const int64 row = dim_size(0) ? NumElements() / dim_size(0) : 0;
    return Tensor(dtype_, shape, buffer_).At(offset_ + start * row);
  }
  Tensor SubSlice(int64 index) const {
    Tensor row = Slice(index, index + 1);
    row.shape_.RemoveDim(0);
    return row;
  }

  template <typename T>
  typename TTypes<T>::Flat flat() { return shaped<T, 1>({NumElements()}); }
  template <typename T>
  typename TTypes<T>::ConstFlat flat() const { return shaped<T, 1>({NumElements()}); }
  template <typename T>
  typename TTypes<T>::Flat unaligned_flat() { return flat<T>(); }
  template <typename T>
  typename TTypes<T>::ConstFlat unaligned_flat() const { return flat<T>(); }
  template <typename T>
  typename TTypes<T>::Vec vec() { return tensor<T, 1>(); }
  template <typename T>
  typename TTypes<T>::ConstVec vec() const { return tensor<T, 1>(); }
  template <typename T>
  typename TTypes<T>::Matrix matrix() { return tensor<T, 2>(); }
  template <typename T>
  typename TTypes<T>::ConstMatrix matrix() const { return tensor<T, 2>(); }
  template <typename T, size_t N>
  typename TTypes<T, N>::Tensor tensor() {
    return typename TTypes<T, N>::Tensor(base<T>(), shape_.template AsEigenDSizes<N>());
  }
  template <typename T, size_t N>
  typename TTypes<T, N>::ConstTensor tensor() const {
    return typename TTypes<T, N>::ConstTensor(base<T>(), shape_.template AsEigenDSizes<N>());
  }
  template <typename T>
  typename TTypes<T>::Scalar scalar() {
    CheckIsScalar();
    return typename TTypes<T>::Scalar(base<T>(), Eigen::DSizes<Eigen::DenseIndex, 0>());
  }
  template <typename T>
  typename TTypes<T>::ConstScalar scalar() const {
    CheckIsScalar();
    return typename TTypes<T>::ConstScalar(base<T>(), Eigen::DSizes<Eigen::DenseIndex, 0>());
  }
  template <typename T, size_t N>
  typename TTypes<T, N>::Tensor shaped(gtl::ArraySlice<int64> sizes) {
    return typename TTypes<T, N>::Tensor(base<T>(), Sizes<N>(sizes));
  }
  template <typename T, size_t N>
  typename TTypes<T, N>::ConstTensor shaped(gtl::ArraySlice<int64> sizes) const {
    return typename TTypes<T, N>::ConstTensor(base<T>(), Sizes<N>(sizes));
  }
  template <typename T, size_t N>
  typename TTypes<T, N>::UnalignedTensor unaligned_shaped(gtl::ArraySlice<int64> sizes) { return shaped<T, N>(sizes); }
  template <typename T, size_t N>
  typename TTypes<T, N>::UnalignedConstTensor unaligned_shaped(gtl::ArraySlice<int64> sizes) const {
    return shaped<T, N>(sizes);
  }
  // N dimensions, of which the first (or the last) has all that are more.
  template <typename T, size_t N = 2>
  typename TTypes<T, N>::Tensor flat_inner_dims() { return shaped<T, N>(Inner(N)); }
  template <typename T, size_t N = 2>
  typename TTypes<T, N>::ConstTensor flat_inner_dims() const { return shaped<T, N>(Inner(N)); }
  template <typename T, size_t N = 2>
  typename TTypes<T, N>::Tensor flat_outer_dims() { return shaped<T, N>(Outer(N)); }
  template <typename T, size_t N = 2>
  typename TTypes<T, N>::ConstTensor flat_outer_dims() const { return shaped<T, N>(Outer(N)); }

  template <typename T, size_t N = 3>
  typename TTypes<T, N>::Tensor flat_inner_outer_dims(int64 begin) { return shaped<T, N>(Middle(begin, N)); }
  template <typename T, size_t N = 3>
  typename TTypes<T, N>::ConstTensor flat_inner_outer_dims(int64 begin) const { return shaped<T, N>(Middle(begin, N)); }

  void* data() const {
    if (!buffer_) return nullptr;
    return static_cast<char*>(buffer_->data) + static_cast<size_t>(offset_) * Width();
  }
  StringPiece tensor_data() const {
    return StringPiece(static_cast<const char*>(data()), dtype_ == DT_STRING ? 0 : TotalBytes());
  }
  string DeviceSafeDebugString() const {
    return "Tensor<type: " + DataTypeString(dtype_) + " shape: " + shape_.DebugString() + ">";
  }
  string SummarizeValue(int64 max_entries) const;
  string DebugString(int num_values = 3) const;

  // Makes the elements of a tensor whose elements are objects of C++; false for any other.
  bool HoldObjects() {
    const size_t count = static_cast<size_t>(NumElements());
    if (dtype_ == DT_STRING) {
      buffer_->strings.resize(count);
      buffer_->data = buffer_->strings.data();
    } else if (dtype_ == DT_RESOURCE) {
      buffer_->handles.resize(count);
      buffer_->data = buffer_->handles.data();
    }
    return dtype_ == DT_STRING || dtype_ == DT_RESOURCE;
  }
  const std::shared_ptr<internal::Buffer>& buffer() const { return buffer_; }
  int64 offset() const { return offset_; }

 private:
  size_t Width() const {
    return dtype_ == DT_STRING ? sizeof(string) : dtype_ == DT_RESOURCE ? sizeof(ResourceHandle) : DataTypeSize(dtype_);
  }
  Tensor At(int64 offset) const {
    Tensor moved = *this;
    moved.offset_ = offset;
    return moved;
  }
  template <typename T>
  T* base() const {
    CHECK_EQ(dtype_, DataTypeToEnum<T>::v()) << " " << DataTypeString(DataTypeToEnum<T>::v()) << " expected, got "
                                             << DataTypeString(dtype_);
    return static_cast<T*>(data());
  }
  void CheckIsScalar() const {
    CHECK_EQ(NumElements(), 1) << "Must have a one element tensor";
  }
  template <size_t N>
  Eigen::DSizes<Eigen::DenseIndex, N> Sizes(gtl::ArraySlice<int64> sizes) const {
    CHECK_EQ(N, sizes.size());
    Eigen::DSizes<Eigen::DenseIndex, N> result;
    int64 count = 1;
    for (size_t d = 0; d < N; ++d) result[d] = sizes[d], count *= sizes[d];
    CHECK_EQ(count, NumElements()) << "elements of " << shape_;
    return result;
  }
  std::vector<int64> Inner(size_t n) const {
    std::vector<int64> sizes(n, 1);
    for (int d = dims() - 1, to = static_cast<int>(n) - 1; d >= 0; --d, --to)
      sizes[static_cast<size_t>(std::max(to, 0))] *= dim_size(d);
    return sizes;
  }
  std::vector<int64> Outer(size_t n) const {
    std::vector<int64> sizes(n, 1);
    for (int d = 0; d < dims(); ++d) sizes[std::min(static_cast<size_t>(d), n - 1)] *= dim_size(d);
    return sizes;
  }

  // N sizes from `begin` on: the first has those before it as well, and the last those after.
  std::vector<int64> Middle(int64 begin, size_t n) const {
    std::vector<int64> sizes(n, 1);
    for (int d = 0; d < dims(); ++d)
      sizes[static_cast<size_t>(std::min<int64>(std::max<int64>(d - begin, 0), n - 1))] *= dim_size(d);
    return sizes;
  }

  DataType dtype_;
  TensorShape shape_;
  std::shared_ptr<internal::Buffer> buffer_;
  int64 offset_ = 0;  // elements
};

// A tensor that a kernel keeps between steps.
class PersistentTensor {
 public:
  PersistentTensor() {}
  explicit PersistentTensor(const Tensor& tensor) : tensor_(tensor) {}
  template <typename Context>
  Tensor* AccessTensor(Context*) { return &tensor_; }
  bool IsInitialized() const { return tensor_.IsInitialized(); }
  int64 NumElements() const { return tensor_.NumElements(); }

 private:
  Tensor tensor_;
};

}  // namespace tensorflow

#include "tideflow/kernels/tensor_text.h"

#endif  // TIDEFLOW_KERNELS_TENSOR_H_
