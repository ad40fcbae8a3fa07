// Random numbers: TensorFlow's counter-based generator, and what it draws with it. The numbers are TensorFlow's own.
#ifndef TIDEFLOW_KERNELS_RANDOM_H_
#define TIDEFLOW_KERNELS_RANDOM_H_

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

#include "tideflow/kernels/types.h"

#define PHILOX_DEVICE_FUNC TIDEFLOW_ON_DEVICE
#define PHILOX_INLINE inline
#define PHILOX_DEVICE_INLINE TIDEFLOW_ON_DEVICE inline

namespace tensorflow {
namespace random {

// Bits from the system, which nobody can repeat.
inline uint64 New64() {
  static thread_local std::random_device device;
  return static_cast<uint64>(device()) << 32 | device();
}

template <typename T, int ElementCount>
class Array {
 public:
  static const int kElementCount = ElementCount;
  TIDEFLOW_ON_DEVICE Array() {
    for (int i = 0; i < ElementCount; ++i) data_[i] = T(0);
  }
  TIDEFLOW_ON_DEVICE const T& operator[](int i) const { return data_[i]; }
  TIDEFLOW_ON_DEVICE T& operator[](int i) { return data_[i]; }
  size_t size() const { return ElementCount; }

 private:
  T data_[ElementCount];
};

// Philox 4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"): draw i is a function of
// the key and of i, so that threads take parts of a sequence without a state between them.
class PhiloxRandom {
 public:
  typedef Array<uint32, 4> ResultType;
  typedef uint32 ResultElementType;
  typedef Array<uint32, 2> Key;
  static const int kResultElementCount = 4;
  static const int kElementCost = 10;

  TIDEFLOW_ON_DEVICE PhiloxRandom() {}
  TIDEFLOW_ON_DEVICE explicit PhiloxRandom(uint64 seed) : PhiloxRandom(seed, 0) {}
  TIDEFLOW_ON_DEVICE explicit PhiloxRandom(uint64 seed_lo, uint64 seed_hi) {
    key_[0] = static_cast<uint32>(seed_lo), key_[1] = static_cast<uint32>(seed_lo >> 32);
    counter_[2] = static_cast<uint32>(seed_hi), counter_[3] = static_cast<uint32>(seed_hi >> 32);
  }
  TIDEFLOW_ON_DEVICE PhiloxRandom(ResultType counter, Key key) : counter_(counter), key_(key) {}

  TIDEFLOW_ON_DEVICE const ResultType& counter() const { return counter_; }
  TIDEFLOW_ON_DEVICE const Key& key() const { return key_; }

  TIDEFLOW_ON_DEVICE void Skip(uint64 draws) {
    const uint64 low = Pair(counter_[0], counter_[1]), after = low + draws;
    counter_[0] = static_cast<uint32>(after), counter_[1] = static_cast<uint32>(after >> 32);
    if (after < low && ++counter_[2] == 0) ++counter_[3];
  }

  TIDEFLOW_ON_DEVICE ResultType operator()() {
    ResultType x = counter_;
    uint32 a = key_[0], b = key_[1];
    for (int round = 0; round < 10; ++round, a += 0x9E3779B9u, b += 0xBB67AE85u) {
      const uint64 first = static_cast<uint64>(x[0]) * 0xD2511F53u, second = static_cast<uint64>(x[2]) * 0xCD9E8D57u;
      x[0] = static_cast<uint32>(second >> 32) ^ x[1] ^ a;
      x[1] = static_cast<uint32>(second);
      x[2] = static_cast<uint32>(first >> 32) ^ x[3] ^ b;
      x[3] = static_cast<uint32>(first);
    }
    Skip(1);
    return x;
  }

 private:
  TIDEFLOW_ON_DEVICE static uint64 Pair(uint32 low, uint32 high) { return low | static_cast<uint64>(high) << 32; }

  ResultType counter_;
  Key key_;
};

// ----------------------------------------------------------------- numbers in [0, 1) of random bits

// The bits become the fraction of a number in [1, 2).
TIDEFLOW_ON_DEVICE inline float Uint32ToFloat(uint32 bits) {
  const uint32 number = 0x3f800000u | (bits & 0x7fffffu);
  float value;
  memcpy(&value, &number, sizeof(value));
  return value - 1.0f;
}
TIDEFLOW_ON_DEVICE inline double Uint64ToDouble(uint32 high, uint32 low) {
  const uint64 number = 0x3ff0000000000000ULL | static_cast<uint64>(high & 0xfffffu) << 32 | low;
  double value;
  memcpy(&value, &number, sizeof(value));
  return value - 1.0;
}
TIDEFLOW_ON_DEVICE inline half Uint16ToHalf(uint16 bits) {
  half value;
  value.x = static_cast<uint16>(0x3c00u | (bits & 0x3ffu));
  return value - half(1.0f);
}
TIDEFLOW_ON_DEVICE inline bfloat16 Uint16ToGfloat16(uint16 bits) {
  bfloat16 value;
  value.x = static_cast<uint16>(0x3f80u | (bits & 0x7fu));
  return value - bfloat16(1.0f);
}

// Two numbers of the normal distribution, of two uniform ones.
TIDEFLOW_ON_DEVICE inline void BoxMullerFloat(uint32 x0, uint32 x1, float* f0, float* f1) {
  const float least = 1.0e-7f, uniform = Uint32ToFloat(x0);
  const float angle = static_cast<float>(2.0f * 3.14159265358979323846 * Uint32ToFloat(x1));
  const float radius = sqrtf(-2.0f * logf(uniform < least ? least : uniform));
  *f0 = sinf(angle) * radius;
  *f1 = cosf(angle) * radius;
}
TIDEFLOW_ON_DEVICE inline void BoxMullerDouble(uint32 x0, uint32 x1, uint32 x2, uint32 x3, double* d0, double* d1) {
  const double least = 1.0e-7, uniform = Uint64ToDouble(x0, x1);
  const double angle = 2 * 3.14159265358979323846 * Uint64ToDouble(x2, x3);
  const double radius = sqrt(-2.0 * log(uniform < least ? least : uniform));
  *d0 = sin(angle) * radius;
  *d1 = cos(angle) * radius;
}

// --------------------------------------------------------------------------------- distributions

namespace internal {

// How a type is drawn: how many 32-bit samples a number takes, and which number they make.
template <typename T>
struct Draw;
template <>
struct Draw<float> {
  enum { kSamples = 1 };
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static float Uniform(const Sample& bits, int i) { return Uint32ToFloat(bits[i]); }
};
template <>
struct Draw<half> {
  enum { kSamples = 1 };
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static half Uniform(const Sample& bits, int i) { return Uint16ToHalf(static_cast<uint16>(bits[i])); }
};
template <>
struct Draw<bfloat16> {
  enum { kSamples = 1 };
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static bfloat16 Uniform(const Sample& bits, int i) {
    return Uint16ToGfloat16(static_cast<uint16>(bits[i]));
  }
};
template <>
struct Draw<double> {
  enum { kSamples = 2 };
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static double Uniform(const Sample& bits, int i) {
    return Uint64ToDouble(bits[2 * i], bits[2 * i + 1]);
  }
};
template <typename Integer>
struct DrawInteger {
  enum { kSamples = sizeof(Integer) / 4 };
  typedef typename std::make_unsigned<Integer>::type Bits;
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static Bits Full(const Sample& bits, int i) {
    return static_cast<Bits>(kSamples == 1 ? bits[i]
                                           : bits[kSamples * i] | static_cast<uint64>(bits[kSamples * i + 1]) << 32);
  }
};
template <>
struct Draw<int32> : DrawInteger<int32> {};
template <>
struct Draw<uint32> : DrawInteger<uint32> {};
template <>
struct Draw<int64> : DrawInteger<int64> {};
template <>
struct Draw<uint64> : DrawInteger<uint64> {};

template <typename Generator, typename T>
struct DistributionOf {
  static const int kResultElementCount = Generator::kResultElementCount / Draw<T>::kSamples;
  static const bool kVariableSamplesPerOutput = false;
  typedef Array<T, kResultElementCount> ResultType;
  typedef T ResultElementType;
};

}  // namespace internal

template <typename Integer>
TIDEFLOW_ON_DEVICE Integer SignedAdd(Integer a, typename std::make_unsigned<Integer>::type b) {
  return static_cast<Integer>(static_cast<typename std::make_unsigned<Integer>::type>(a) + b);
}

// Numbers in [0, 1), or integers in [lo, hi).
template <typename Generator, typename T>
struct UniformDistribution : internal::DistributionOf<Generator, T> {
  typedef internal::DistributionOf<Generator, T> Base;
  static const int kElementCost = 3;
  TIDEFLOW_ON_DEVICE typename Base::ResultType operator()(Generator* generator) {
    const typename Generator::ResultType bits = (*generator)();
    typename Base::ResultType result;
    for (int i = 0; i < Base::kResultElementCount; ++i) result[i] = internal::Draw<T>::Uniform(bits, i);
    return result;
  }
};
template <typename Generator, typename T>
struct UniformIntegers : internal::DistributionOf<Generator, T> {
  typedef internal::DistributionOf<Generator, T> Base;
  typedef typename std::make_unsigned<T>::type Bits;
  static const int kElementCost = 3;
  UniformIntegers(T lo, T hi) : lo_(lo), range_(static_cast<Bits>(hi) - static_cast<Bits>(lo)) {}
  TIDEFLOW_ON_DEVICE typename Base::ResultType operator()(Generator* generator) {
    const typename Generator::ResultType bits = (*generator)();
    typename Base::ResultType result;
    for (int i = 0; i < Base::kResultElementCount; ++i)
      result[i] = SignedAdd(lo_, static_cast<Bits>(internal::Draw<T>::Full(bits, i) % range_));
    return result;
  }

 private:
  T lo_;
  Bits range_;
};
template <typename Generator>
struct UniformDistribution<Generator, int32> : UniformIntegers<Generator, int32> {
  using UniformIntegers<Generator, int32>::UniformIntegers;
};
template <typename Generator>
struct UniformDistribution<Generator, int64> : UniformIntegers<Generator, int64> {
  using UniformIntegers<Generator, int64>::UniformIntegers;
};

// Integers of which every bit is random.
template <typename Generator, typename T>
struct UniformFullIntDistribution : internal::DistributionOf<Generator, T> {
  typedef internal::DistributionOf<Generator, T> Base;
  static const int kElementCost = 3;
  TIDEFLOW_ON_DEVICE typename Base::ResultType operator()(Generator* generator) {
    const typename Generator::ResultType bits = (*generator)();
    typename Base::ResultType result;
    for (int i = 0; i < Base::kResultElementCount; ++i) result[i] = static_cast<T>(internal::Draw<T>::Full(bits, i));
    return result;
  }
};

namespace internal {

// Pairs of normal numbers: of two samples each, of four where the numbers are doubles.
template <typename T>
struct NormalPair {
  enum { kSamples = 2 };
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static void Of(const Sample& bits, int at, T* pair) {
    float f[2];
    BoxMullerFloat(bits[at], bits[at + 1], &f[0], &f[1]);
    pair[0] = T(f[0]), pair[1] = T(f[1]);
  }
};
template <>
struct NormalPair<double> {
  enum { kSamples = 4 };
  template <typename Sample>
  TIDEFLOW_ON_DEVICE static void Of(const Sample& bits, int at, double* pair) {
    BoxMullerDouble(bits[at], bits[at + 1], bits[at + 2], bits[at + 3], &pair[0], &pair[1]);
  }
};

}  // namespace internal

// Normal numbers of mean 0 and deviation 1.
template <typename Generator, typename T>
struct NormalDistribution : internal::DistributionOf<Generator, T> {
  typedef internal::DistributionOf<Generator, T> Base;
  static const int kElementCost = 70;
  TIDEFLOW_ON_DEVICE typename Base::ResultType operator()(Generator* generator) {
    const typename Generator::ResultType bits = (*generator)();
    typename Base::ResultType result;
    for (int i = 0; i < Base::kResultElementCount; i += 2)
      internal::NormalPair<T>::Of(bits, i * internal::Draw<T>::kSamples, &result[i]);
    return result;
  }
};

// Gives the numbers of a generator one by one.
template <typename Generator>
class SingleSampleAdapter {
 public:
  static const int kResultElementCount = 1;
  static const int kNativeElementCount = Generator::kResultElementCount;
  typedef typename Generator::ResultElementType ResultType;
  typedef typename Generator::ResultElementType ResultElementType;

  TIDEFLOW_ON_DEVICE explicit SingleSampleAdapter(Generator* generator)
      : generator_(generator), used_(Generator::kResultElementCount) {}
  TIDEFLOW_ON_DEVICE ResultType operator()() {
    if (used_ == Generator::kResultElementCount) results_ = (*generator_)(), used_ = 0;
    return results_[used_++];
  }
  TIDEFLOW_ON_DEVICE void Skip(uint64 count) {
    while (count-- > 0) (*this)();
  }

 private:
  Generator* generator_;
  typename Generator::ResultType results_;
  int used_;
};

// Normal numbers between -2 and 2; the others are drawn again.
template <typename Generator, typename T>
struct TruncatedNormalDistribution {
  static const int kNative = Generator::kNativeElementCount / internal::Draw<T>::kSamples;
  static const int kResultElementCount = kNative > 1 ? kNative : 1;
  static const int kElementCost = 90;
  static const bool kVariableSamplesPerOutput = true;
  typedef Array<T, kResultElementCount> ResultType;
  typedef T ResultElementType;

  TIDEFLOW_ON_DEVICE ResultType operator()(Generator* generator) {
    // TensorFlow compares before it rounds to 16 bits.
    typedef typename std::conditional<std::is_same<T, double>::value, double, float>::type Wide;
    ResultType results;
    for (int found = 0; true;) {
      uint32 bits[internal::NormalPair<Wide>::kSamples];
      for (uint32& each : bits) each = (*generator)();
      Wide pair[2];
      internal::NormalPair<Wide>::Of(bits, 0, pair);
      for (Wide value : pair) {
        if (!(value > -2 && value < 2)) continue;
        results[found++] = T(value);
        if (found == kResultElementCount) return results;
      }
    }
  }
};

// --------------------------------------------------------------------------------- one number at a time

class SimplePhilox {
 public:
  explicit SimplePhilox(PhiloxRandom* generator) : single_(generator) {}
  uint32 Rand32() { return single_(); }
  uint64 Rand64() {
    const uint32 low = single_(), high = single_();
    return low | static_cast<uint64>(high) << 32;
  }
  float RandFloat() { return Uint32ToFloat(single_()); }
  double RandDouble() {
    const uint32 high = single_(), low = single_();
    return Uint64ToDouble(high, low);
  }
  uint32 Uniform(uint32 n) { return Below<uint32>(n, [this] { return Rand32(); }); }
  uint64 Uniform64(uint64 n) { return Below<uint64>(n, [this] { return Rand64(); }); }
  bool OneIn(uint32 n) { return Uniform(n) == 0; }
  // Few bits or many: as many as are drawn first, at most so many.
  uint32 Skewed(int most) {
    const uint32 bits = Rand32() % static_cast<uint32>(most + 1);
    return Rand32() & static_cast<uint32>((1ULL << bits) - 1);
  }

 private:
  // An integer in [0, n). The few numbers that would make some of them likelier are drawn again.
  template <typename Number, typename Drawer>
  static Number Below(Number n, Drawer draw) {
    if ((n & (n - 1)) == 0) return n ? draw() & (n - 1) : draw() * n;
    const Number too_low = std::numeric_limits<Number>::max() % n + 1;
    Number drawn = draw();
    while (drawn < too_low) drawn = draw();
    return drawn % n;
  }

  SingleSampleAdapter<PhiloxRandom> single_;
};

// Draws places with given weights in constant time (Walker's aliases): a uniform place, or its alias.
class DistributionSampler {
 public:
  explicit DistributionSampler(const gtl::ArraySlice<float>& weights) : places_(weights.size()) {
    const int count = num();
    double sum = 0;
    for (float weight : weights) sum += weight;
    std::vector<int> high, low;
    std::vector<double> share(weights.size());
    for (int i = 0; i < count; ++i) {
      share[i] = weights[i] * count / sum;
      (share[i] < 1.0 ? low : high).push_back(i);
    }
    while (!high.empty() && !low.empty()) {
      const int more = high.back(), less = low.back();
      high.pop_back(), low.pop_back();
      places_[less] = {static_cast<float>(share[less]), more};
      share[more] -= 1.0 - share[less];
      (share[more] < 1.0 ? low : high).push_back(more);
    }
    for (const std::vector<int>& rest : {high, low})
      for (int i : rest) places_[i] = {1.0f, i};
  }
  DistributionSampler(const DistributionSampler&) = delete;

  int Sample(SimplePhilox* random) const {
    const float drawn = random->RandFloat();
    const auto& place = places_[random->Uniform(static_cast<uint32>(num()))];
    return drawn < place.first ? static_cast<int>(&place - places_.data()) : place.second;
  }
  int num() const { return static_cast<int>(places_.size()); }

 private:
  std::vector<std::pair<float, int>> places_;  // the part of a place that is its own, and whose the rest is
};

}  // namespace random
}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_RANDOM_H_
