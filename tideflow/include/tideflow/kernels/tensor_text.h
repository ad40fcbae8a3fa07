// What messages show of the elements of a tensor.
#ifndef TIDEFLOW_KERNELS_TENSOR_TEXT_H_
#define TIDEFLOW_KERNELS_TENSOR_TEXT_H_

#include "tideflow/kernels/tensor.h"

namespace tensorflow {

namespace summaries {

inline string Shown(const string& value) { return str_util::CEscape(value); }
inline string Shown(bool value) { return value ? "1" : "0"; }
inline string Shown(int8 value) { return std::to_string(value); }
inline string Shown(uint8 value) { return std::to_string(value); }
inline string Shown(Eigen::half value) { return strings::StrCat(static_cast<float>(value)); }
template <typename T>
string Shown(T value) { return strings::StrCat(value); }

// The first elements, in the brackets of their dimensions but for the outermost.
template <typename T>
class Elements {
 public:
  Elements(const Tensor& tensor, int64 limit)
      : elements_(static_cast<const T*>(tensor.data())), sizes_(tensor.shape().dim_sizes()), limit_(limit) {}

  string Text() {
    if (sizes_.empty()) return limit_ > 0 ? Shown(elements_[0]) : "";
    Add(0);
    return text_;
  }

 private:
  void Add(size_t dimension) {
    const bool innermost = dimension + 1 == sizes_.size();
    for (int64 i = 0; i < sizes_[dimension] && next_ < limit_; ++i) {
      if (innermost) {
        text_ += (i > 0 ? " " : "") + Shown(elements_[next_++]);
        if (next_ == limit_ && dimension > 0 && i + 1 < sizes_[dimension]) text_ += "...";
        continue;
      }
      text_ += "[";
      Add(dimension + 1);
      text_ += "]";
    }
  }

  const T* elements_;
  const std::vector<int64> sizes_;
  const int64 limit_;
  int64 next_ = 0;
  string text_;
};

}  // namespace summaries

inline string Tensor::SummarizeValue(int64 max_entries) const {
  const int64 count = NumElements();
  const int64 limit = max_entries < 0 ? count : std::min(max_entries, count);
  if (!IsInitialized()) return strings::StrCat("uninitialized Tensor of ", count, " elements of type ", dtype_);
  string text;
  switch (dtype_) {
#define TIDEFLOW_CASE(T) \
  case DataTypeToEnum<T>::value: text = summaries::Elements<T>(*this, limit).Text(); break;
    TF_CALL_REAL_NUMBER_TYPES_NO_BFLOAT16(TIDEFLOW_CASE)
    TF_CALL_bool(TIDEFLOW_CASE)
    TF_CALL_string(TIDEFLOW_CASE)
#undef TIDEFLOW_CASE
    default:
      for (int64 i = 0; i < limit; ++i) text += i > 0 ? " ?" : "?";
  }
  return limit < count ? text + "..." : text;
}

inline string Tensor::DebugString(int num_values) const {
  return strings::StrCat("Tensor<type: ", DataTypeString(dtype_), " shape: ", shape_.DebugString(),
                         " values: ", SummarizeValue(num_values), ">");
}

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_TENSOR_TEXT_H_
