// Tensors copied, joined and parted along their rows, and two shapes broadcast together.
#ifndef TIDEFLOW_KERNELS_TENSOR_UTIL_H_
#define TIDEFLOW_KERNELS_TENSOR_UTIL_H_

#include <algorithm>
#include <numeric>

#include "tideflow/kernels/tensor.h"

namespace tensorflow {
namespace tensor {
namespace internal {

// The elements of a tensor of the CPU, after the first `at` ones of another.
inline void CopyElements(const Tensor& from, Tensor* to, int64 at) {
  const size_t count = static_cast<size_t>(from.NumElements());
  if (count == 0) return;
  if (from.dtype() == DT_STRING) {
    const string* texts = static_cast<const string*>(from.data());
    std::copy(texts, texts + count, static_cast<string*>(to->data()) + at);
  } else if (from.dtype() == DT_RESOURCE) {
    const ResourceHandle* handles = static_cast<const ResourceHandle*>(from.data());
    std::copy(handles, handles + count, static_cast<ResourceHandle*>(to->data()) + at);
  } else {
    const size_t width = DataTypeSize(from.dtype());
    memcpy(static_cast<char*>(to->data()) + static_cast<size_t>(at) * width, from.data(), count * width);
  }
}

}  // namespace internal

inline void DeepCopy(const Tensor& from, Tensor* to) { internal::CopyElements(from, to, 0); }
inline Tensor DeepCopy(const Tensor& other) {
  Tensor copy(other.dtype(), other.shape());
  DeepCopy(other, &copy);
  return copy;
}

inline Status Concat(const gtl::ArraySlice<Tensor>& tensors, Tensor* result) {
  if (tensors.empty()) return errors::InvalidArgument("Cannot concatenate zero tensors");
  int64 rows = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.dims() < 1) return errors::InvalidArgument("Cannot concatenate a zero-dimensional tensor");
    if (tensor.dtype() != tensors[0].dtype())
      return errors::InvalidArgument("Cannot concatenate tensors that have different data types: ",
                                     DataTypeString(tensors[0].dtype()), " and ", DataTypeString(tensor.dtype()));
    rows += tensor.dim_size(0);
  }
  TensorShape shape = tensors[0].shape();
  shape.set_dim(0, rows);
  *result = Tensor(tensors[0].dtype(), shape);
  int64 at = 0;
  for (const Tensor& tensor : tensors) {
    if (at + tensor.NumElements() > result->NumElements())
      return errors::InvalidArgument("Cannot concatenate rows of different sizes: ", shape.DebugString(), " and ",
                                     tensor.shape().DebugString());
    internal::CopyElements(tensor, result, at);
    at += tensor.NumElements();
  }
  return Status::OK();
}

inline Status Split(const Tensor& tensor, const gtl::ArraySlice<int64>& sizes, std::vector<Tensor>* result) {
  if (tensor.dims() < 1) return errors::InvalidArgument("Cannot split a zero-dimensional tensor");
  if (std::accumulate(sizes.begin(), sizes.end(), int64(0)) != tensor.dim_size(0))
    return errors::InvalidArgument("The values in 'sizes' do not sum to the zeroth-dimension size of 'tensor'");
  int64 row = 0;
  for (int64 size : sizes) {
    result->push_back(DeepCopy(tensor.Slice(row, row + size)));
    row += size;
  }
  return Status::OK();
}

}  // namespace tensor

// How x and y become of one shape: each is reshaped, and then repeated as often as `bcast` says. Neighbouring
// dimensions that are repeated alike are one, so that there are few.
class BCast {
 public:
  typedef gtl::InlinedVector<int64, 4> Vec;

  BCast(const Vec& x, const Vec& y, bool fewer_dims = true) {
    const size_t rank = std::max(x.size(), y.size());
    int before = -1;  // which of them was repeated along the dimension before: 0 none, 1 x, 2 y
    for (size_t d = 0; d < rank; ++d) {
      const int64 of_x = From(x, rank, d), of_y = From(y, rank, d);
      if (of_x != of_y && of_x != 1 && of_y != 1) valid_ = false;
      const int64 size = of_x == 1 ? of_y : of_x;
      output_.push_back(size);
      if (of_x == 1) grad_x_.push_back(static_cast<int64>(d));
      if (of_y == 1) grad_y_.push_back(static_cast<int64>(d));
      if (fewer_dims && of_x == 1 && of_y == 1) continue;
      const int repeated = of_x == of_y ? 0 : of_x == 1 ? 1 : 2;
      if (!fewer_dims || repeated != before) {
        for (Vec* all : {&x_reshape_, &x_bcast_, &y_reshape_, &y_bcast_, &result_}) all->push_back(1);
      }
      x_reshape_.back() *= of_x, x_bcast_.back() *= repeated == 1 ? of_y : 1;
      y_reshape_.back() *= of_y, y_bcast_.back() *= repeated == 2 ? of_x : 1;
      result_.back() *= size;
      before = repeated;
    }
    if (result_.empty())
      for (Vec* all : {&x_reshape_, &x_bcast_, &y_reshape_, &y_bcast_, &result_}) all->push_back(1);
  }
  BCast(const BCast&) = delete;

  bool IsValid() const { return valid_; }
  const Vec& x_reshape() const { return x_reshape_; }
  const Vec& x_bcast() const { return x_bcast_; }
  const Vec& y_reshape() const { return y_reshape_; }
  const Vec& y_bcast() const { return y_bcast_; }
  const Vec& result_shape() const { return result_; }
  const Vec& output_shape() const { return output_; }
  const Vec& grad_x_reduce_idx() const { return grad_x_; }
  const Vec& grad_y_reduce_idx() const { return grad_y_; }

  static Vec FromShape(const TensorShape& shape) { return shape.dim_sizes(); }
  static TensorShape ToShape(const Vec& sizes) { return TensorShape(sizes); }
  template <typename I, int N>
  static std::array<I, N> ToIndexArrayType(const Vec& sizes) {
    CHECK_EQ(sizes.size(), static_cast<size_t>(N));
    std::array<I, N> all;
    std::copy(sizes.begin(), sizes.end(), all.begin());
    return all;
  }
  template <int N>
  static std::array<Eigen::DenseIndex, N> ToIndexArray(const Vec& sizes) {
    return ToIndexArrayType<Eigen::DenseIndex, N>(sizes);
  }

 private:
  static int64 From(const Vec& sizes, size_t rank, size_t d) {
    return d + sizes.size() < rank ? 1 : sizes[d + sizes.size() - rank];
  }

  bool valid_ = true;
  Vec x_reshape_, x_bcast_, y_reshape_, y_bcast_, result_, output_, grad_x_, grad_y_;
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_TENSOR_UTIL_H_
