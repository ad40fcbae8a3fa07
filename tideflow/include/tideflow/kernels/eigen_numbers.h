// What Eigen has for single numbers: functions of any type, limits of types, and what an element costs.
#ifndef TIDEFLOW_KERNELS_EIGEN_NUMBERS_H_
#define TIDEFLOW_KERNELS_EIGEN_NUMBERS_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "tideflow/kernels/types.h"

namespace std {
template <typename Bits>
class numeric_limits<Eigen::Float16<Bits>> : public numeric_limits<float> {  // is_specialized, signs
 public:
  typedef Eigen::Float16<Bits> Number;
  static Number lowest() { return -(max)(); }
  static Number(min)() { return FromBits(Bits::kLeast); }
  static Number(max)() { return FromBits(Bits::kLargest); }
  static Number epsilon() { return FromBits(Bits::kEpsilon); }
  static Number infinity() { return Number(numeric_limits<float>::infinity()); }
  static Number quiet_NaN() { return Number(numeric_limits<float>::quiet_NaN()); }

 private:
  static Number FromBits(uint16_t bits) {
    Number number;
    number.x = bits;
    return number;
  }
};
}  // namespace std

namespace Eigen {

template <typename T>
struct NumTraits {
  enum {
    IsInteger = std::numeric_limits<T>::is_integer,
    IsSigned = std::numeric_limits<T>::is_signed,
    IsComplex = std::is_same<T, std::complex<float>>::value || std::is_same<T, std::complex<double>>::value
  };
  typedef T Real;
  static T lowest() { return std::numeric_limits<T>::lowest(); }
  static T highest() { return (std::numeric_limits<T>::max)(); }
  static T epsilon() { return std::numeric_limits<T>::epsilon(); }
  static T infinity() { return std::numeric_limits<T>::infinity(); }
  static T quiet_NaN() { return std::numeric_limits<T>::quiet_NaN(); }
};

namespace numext {

template <typename T>
TIDEFLOW_ON_DEVICE T mini(const T& a, const T& b) { return b < a ? b : a; }
template <typename T>
TIDEFLOW_ON_DEVICE T maxi(const T& a, const T& b) { return a < b ? b : a; }
template <typename T>
TIDEFLOW_ON_DEVICE bool(isnan)(const T& x) { return x != x; }
template <typename T>
TIDEFLOW_ON_DEVICE bool(isfinite)(const T& x) { return x - x == T(0); }
template <typename T>
TIDEFLOW_ON_DEVICE bool(isinf)(const T& x) { return !(isnan)(x) && !(isfinite)(x); }

// Functions of the standard library, or those of 16-bit numbers beside their type. Integers stay integers.
#define TIDEFLOW_NUMEXT(name)                \
  template <typename T>                      \
  TIDEFLOW_ON_DEVICE T name(const T& x) {    \
    using std::name;                         \
    return static_cast<T>(name(x));          \
  }
TIDEFLOW_NUMEXT(abs)
TIDEFLOW_NUMEXT(ceil)
TIDEFLOW_NUMEXT(cos)
TIDEFLOW_NUMEXT(exp)
TIDEFLOW_NUMEXT(expm1)
TIDEFLOW_NUMEXT(floor)
TIDEFLOW_NUMEXT(log)
TIDEFLOW_NUMEXT(log1p)
TIDEFLOW_NUMEXT(round)
TIDEFLOW_NUMEXT(sin)
TIDEFLOW_NUMEXT(sqrt)
TIDEFLOW_NUMEXT(tan)
TIDEFLOW_NUMEXT(tanh)
#undef TIDEFLOW_NUMEXT
template <typename T>
TIDEFLOW_ON_DEVICE T pow(const T& x, const T& y) {
  using std::pow;
  return static_cast<T>(pow(x, y));
}
template <typename T>
TIDEFLOW_ON_DEVICE T fmod(const T& x, const T& y) { return static_cast<T>(std::fmod(x, y)); }
template <typename T>
T conj(const T& x) { return x; }
template <typename T>
std::complex<T> conj(const std::complex<T>& x) { return std::conj(x); }
template <typename T>
void swap(T& a, T& b) { std::swap(a, b); }

}  // namespace numext

namespace internal {
// How many numbers an instruction takes. These views leave that to the compiler.
template <typename T>
struct packet_traits {
  enum { size = 1, Vectorizable = 0 };
};
}  // namespace internal

// Cycles and bytes of an element, by which work is parted among threads.
class TensorOpCost {
 public:
  TensorOpCost(double bytes_loaded = 0, double bytes_stored = 0, double compute_cycles = 0)
      : loaded_(bytes_loaded), stored_(bytes_stored), cycles_(compute_cycles) {}
  TensorOpCost(double bytes_loaded, double bytes_stored, double compute_cycles, bool vectorized, double packet_size)
      : TensorOpCost(bytes_loaded, bytes_stored, vectorized ? compute_cycles / packet_size : compute_cycles) {}
  double bytes_loaded() const { return loaded_; }
  double bytes_stored() const { return stored_; }
  double compute_cycles() const { return cycles_; }

  template <typename T>
  static int AddCost() { return 1; }
  template <typename T>
  static int MulCost() { return 1; }
  template <typename T>
  static int DivCost() { return 10; }
  template <typename T>
  static int ModCost() { return 10; }
  template <typename From, typename To>
  static int CastCost() { return 1; }

 private:
  double loaded_, stored_, cycles_;
};

}  // namespace Eigen

#endif  // TIDEFLOW_KERNELS_EIGEN_NUMBERS_H_
