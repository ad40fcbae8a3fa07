// A sparse tensor as three dense ones: where its elements are, what they are, and its shape.
#ifndef TIDEFLOW_KERNELS_SPARSE_TENSOR_H_
#define TIDEFLOW_KERNELS_SPARSE_TENSOR_H_

#include <algorithm>
#include <numeric>

#include "tideflow/kernels/tensor.h"

namespace tensorflow {
namespace sparse {

// The elements whose indices are the same along some dimensions: rows [first, last).
class Group {
 public:
  Group(const Tensor& indices, const Tensor& values, const std::vector<int64>& dims, int64 first, int64 last)
      : indices_(indices), values_(values), dims_(dims), first_(first), last_(last) {}
  std::vector<int64> group() const {
    const auto all = indices_.matrix<int64>();
    std::vector<int64> at;
    for (int64 d : dims_) at.push_back(all(first_, d));
    return at;
  }
  typename TTypes<int64>::UnalignedConstMatrix indices() const {
    const int64 rank = indices_.dim_size(1);
    return {indices_.flat<int64>().data() + first_ * rank, last_ - first_, rank};
  }
  template <typename T>
  typename TTypes<T>::UnalignedVec values() const {
    return typename TTypes<T>::UnalignedVec(const_cast<T*>(values_.flat<T>().data()) + first_, last_ - first_);
  }

 private:
  Tensor indices_, values_;
  std::vector<int64> dims_;
  int64 first_, last_;
};

// for (const auto& group : tensor.group({0})) …
class GroupIterable {
 public:
  GroupIterable(const Tensor& indices, const Tensor& values, gtl::ArraySlice<int64> dims)
      : indices_(indices), values_(values), dims_(dims.vector()) {}

  class IteratorStep {
   public:
    IteratorStep(const GroupIterable* all, int64 first) : all_(all), first_(first), last_(all->EndOf(first)) {}
    bool operator!=(const IteratorStep& other) const { return first_ != other.first_; }
    bool operator==(const IteratorStep& other) const { return first_ == other.first_; }
    IteratorStep& operator++() { return *this = IteratorStep(all_, last_); }
    IteratorStep operator++(int) {
      const IteratorStep before = *this;
      ++*this;
      return before;
    }
    Group operator*() const { return Group(all_->indices_, all_->values_, all_->dims_, first_, last_); }
    int64 loc() const { return first_; }

   private:
    const GroupIterable* all_;
    int64 first_, last_;
  };

  IteratorStep begin() const { return IteratorStep(this, 0); }
  IteratorStep end() const { return IteratorStep(this, indices_.dim_size(0)); }

 private:
  int64 EndOf(int64 first) const {
    const auto all = indices_.matrix<int64>();
    int64 end = first;
    while (end < indices_.dim_size(0) && Same(all, first, end)) ++end;
    return end;
  }
  bool Same(const TTypes<int64>::ConstMatrix& all, int64 a, int64 b) const {
    return std::all_of(dims_.begin(), dims_.end(), [&](int64 d) { return all(a, d) == all(b, d); });
  }

  Tensor indices_, values_;
  std::vector<int64> dims_;
};

class SparseTensor {
 public:
  typedef gtl::ArraySlice<int64> VarDimArray;
  typedef gtl::InlinedVector<int64, 8> ShapeArray;

  SparseTensor() {}
  SparseTensor(const Tensor& indices, const Tensor& values, const TensorShape& shape)
      : SparseTensor(indices, values, shape.dim_sizes()) {}
  SparseTensor(const Tensor& indices, const Tensor& values, const TensorShape& shape, VarDimArray order)
      : SparseTensor(indices, values, shape.dim_sizes(), order) {}
  SparseTensor(const Tensor& indices, const Tensor& values, VarDimArray shape)
      : SparseTensor(indices, values, shape, std::vector<int64>(shape.size(), -1)) {}
  SparseTensor(const Tensor& indices, const Tensor& values, VarDimArray shape, VarDimArray order)
      : indices_(indices), values_(values), shape_(shape.vector()), order_(order.vector()) {}

  static Status Create(const Tensor& indices, const Tensor& values, VarDimArray shape, VarDimArray order,
                       SparseTensor* result) {
    if (indices.dtype() != DT_INT64)
      return errors::InvalidArgument("indices must be type int64 but got: ", static_cast<int>(indices.dtype()));
    if (!TensorShapeUtils::IsVector(values.shape()))
      return errors::InvalidArgument("vals must be a vec, but got: ", values.shape().DebugString());
    if (!TensorShapeUtils::IsMatrix(indices.shape()))
      return errors::InvalidArgument("indices must be a matrix, but got: ", indices.shape().DebugString());
    if (indices.dim_size(0) != values.dim_size(0))
      return errors::InvalidArgument("indices and values rows (indexing dimension) must match. (indices = ",
                                     indices.dim_size(0), ", values = ", values.dim_size(0), ")");
    const size_t rank = static_cast<size_t>(indices.dim_size(1));
    if (order.size() != rank) return errors::InvalidArgument("Order length must be SparseTensor rank.");
    if (shape.size() != rank) return errors::InvalidArgument("Shape rank must be SparseTensor rank.");
    *result = SparseTensor(indices, values, shape, order);
    return Status::OK();
  }
  static Status Create(const Tensor& indices, const Tensor& values, VarDimArray shape, SparseTensor* result) {
    return Create(indices, values, shape, std::vector<int64>(shape.size(), -1), result);
  }
  static Status Create(const Tensor& indices, const Tensor& values, const TensorShape& shape, SparseTensor* result) {
    const std::vector<int64> sizes = shape.dim_sizes();
    return Create(indices, values, VarDimArray(sizes), result);
  }
  static Status Create(const Tensor& indices, const Tensor& values, const TensorShape& shape, VarDimArray order,
                       SparseTensor* result) {
    const std::vector<int64> sizes = shape.dim_sizes();
    return Create(indices, values, VarDimArray(sizes), order, result);
  }

  size_t num_entries() const { return static_cast<size_t>(indices_.dim_size(0)); }
  int dims() const { return static_cast<int>(shape_.size()); }
  const Tensor& indices() const { return indices_; }
  const Tensor& values() const { return values_; }
  DataType dtype() const { return values_.dtype(); }
  VarDimArray shape() const { return shape_; }
  VarDimArray order() const { return order_; }

  // Whether the indices are in the shape and in order, each once.
  Status IndicesValid() const {
    for (int64 dim : order_)
      if (dim < 0)
        return errors::FailedPrecondition("Order was not provided.  Provide an order at construction time or run "
                                          "ReorderInPlace");
    const auto all = indices_.matrix<int64>();
    for (int64 row = 0; row < indices_.dim_size(0); ++row) {
      std::vector<int64> at;
      bool inside = true;
      for (int d = 0; d < dims(); ++d) {
        at.push_back(all(row, d));
        inside = inside && at.back() >= 0 && at.back() < shape_[static_cast<size_t>(d)];
      }
      const string name = strings::StrCat("indices[", row, "] = [", str_util::Join(at, ","), "]");
      if (!inside)
        return errors::InvalidArgument(name, " is out of bounds: need 0 <= index < [", str_util::Join(shape_, ","), "]");
      const int order = row == 0 ? 1 : Compared(all, row, row - 1, order_);
      if (order < 0)
        return errors::InvalidArgument(name, " is out of order. Many sparse ops require sorted indices.\n"
                                       "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n");
      if (order == 0) return errors::InvalidArgument(name, " is repeated");
    }
    return Status::OK();
  }

  GroupIterable group(VarDimArray dims) const {
    for (size_t i = 0; i < dims.size(); ++i)
      DCHECK_EQ(dims[i], order_[i]) << "Group dimension does not match sorted order";
    return GroupIterable(indices_, values_, dims);
  }

  // Sorts the elements, in their own memory, by the dimensions in an order.
  template <typename T>
  void Reorder(VarDimArray order) {
    CHECK_EQ(order.size(), shape_.size()) << "Order length must be SparseTensor rank";
    order_ = order.vector();
    auto all = indices_.matrix<int64>();
    auto values = values_.vec<T>();
    std::vector<int64> places(num_entries());
    std::iota(places.begin(), places.end(), int64(0));
    std::sort(places.begin(), places.end(), [&](int64 a, int64 b) { return Compared(all, a, b, order_) < 0; });
    const std::vector<int64> indices_before(all.data(), all.data() + all.size());
    const std::vector<T> values_before(values.data(), values.data() + values.size());
    const size_t rank = shape_.size();
    for (size_t to = 0; to < places.size(); ++to) {
      const size_t from = static_cast<size_t>(places[to]);
      std::copy_n(indices_before.begin() + from * rank, rank, all.data() + to * rank);
      values(to) = values_before[from];
    }
  }

  // Writes the elements to their places; false where one has none, or where the shape is too large for `out`.
  template <typename T>
  bool ToDense(Tensor* out, bool initialize = true) const {
    if (out->dims() != dims()) return false;
    for (int d = 0; d < dims(); ++d)
      if (shape_[static_cast<size_t>(d)] > out->dim_size(d)) return false;
    auto dense = out->flat<T>();
    if (initialize) dense.setConstant(T());
    const auto all = indices_.matrix<int64>();
    const auto values = values_.vec<T>();
    for (int64 row = 0; row < indices_.dim_size(0); ++row) {
      int64 place = 0;
      for (int d = 0; d < dims(); ++d) {
        if (all(row, d) < 0 || all(row, d) >= out->dim_size(d)) return false;
        place = place * out->dim_size(d) + all(row, d);
      }
      dense(place) = values(row);
    }
    return true;
  }

  std::vector<int64> PickDims(VarDimArray dims) const {
    std::vector<int64> sizes;
    for (int64 d : dims) sizes.push_back(shape_[static_cast<size_t>(d)]);
    return sizes;
  }

 private:
  template <typename Matrix>
  static int Compared(const Matrix& all, int64 a, int64 b, const std::vector<int64>& order) {
    for (int64 d : order)
      if (all(a, d) != all(b, d)) return all(a, d) < all(b, d) ? -1 : 1;
    return 0;
  }

  Tensor indices_, values_;
  std::vector<int64> shape_, order_;
};

}  // namespace sparse
}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_SPARSE_TENSOR_H_
