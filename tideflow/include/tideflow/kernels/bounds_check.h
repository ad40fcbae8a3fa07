// Comparing an index with its limit by one comparison.
#ifndef TIDEFLOW_KERNELS_BOUNDS_CHECK_H_
#define TIDEFLOW_KERNELS_BOUNDS_CHECK_H_

#include "tideflow/kernels/types.h"

namespace tensorflow {

template <typename A, typename B>
TIDEFLOW_ON_DEVICE inline bool FastBoundsCheck(const A index, const B limit) {
  return static_cast<unsigned long long>(index) < static_cast<unsigned long long>(limit);
}

namespace internal {
// A value of memory that another thread may change, read once.
template <typename T>
inline const T SubtleMustCopy(const T& x) {
  return *reinterpret_cast<const volatile T*>(&x);
}
}  // namespace internal
}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_BOUNDS_CHECK_H_
