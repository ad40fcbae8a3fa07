// Views of a tensor's memory with the names of Eigen's Tensor module: elements, sizes, and assignments of
// expressions, which are computed element by element (moved_views.h has those that move or join elements).
#ifndef TIDEFLOW_KERNELS_VIEWS_H_
#define TIDEFLOW_KERNELS_VIEWS_H_

#include <array>
#include <functional>
#include <vector>

#include "tideflow/kernels/eigen_numbers.h"

#define EIGEN_STRONG_INLINE inline
#define EIGEN_ALWAYS_INLINE inline
#define EIGEN_DEVICE_FUNC TIDEFLOW_ON_DEVICE
#define EIGEN_MAX_ALIGN_BYTES 64

struct CUstream_st;

namespace Eigen {

typedef std::ptrdiff_t Index;
typedef Index DenseIndex;
enum StorageOptions { ColMajor = 0, RowMajor = 1 };
enum AlignmentType { Unaligned = 0, Aligned = 16 };

template <typename T, size_t N>
using array = std::array<T, N>;

template <typename I, int N>
struct DSizes : std::array<I, N> {
  DSizes() { this->fill(0); }
  DSizes(const std::array<I, N>& sizes) : std::array<I, N>(sizes) {}
  template <typename Other>
  DSizes(const std::array<Other, N>& sizes) {
    for (int d = 0; d < N; ++d) (*this)[d] = static_cast<I>(sizes[d]);
  }
  template <typename... Sizes>
  explicit DSizes(I first, Sizes... rest) : std::array<I, N>{{first, static_cast<I>(rest)...}} {}
  I TotalSize() const {
    I total = 1;
    for (I size : *this) total *= size;
    return total;
  }
};

// What an expression is computed on. The assignments of these views run in the calling thread.
struct DefaultDevice {};
struct ThreadPoolDevice {
  explicit ThreadPoolDevice(int threads = 1) : threads_(threads) {}
  int numThreads() const { return threads_; }
  // Calls work(first, last) for parts of [0, count), on several threads (threads.h).
  inline void parallelFor(Index count, const TensorOpCost& cost, std::function<void(Index, Index)> work) const;

 private:
  int threads_;
};
struct GpuDevice {
  explicit GpuDevice(CUstream_st* stream = nullptr) : stream_(stream) {}
  CUstream_st* stream() const { return stream_; }

 private:
  CUstream_st* stream_;
};

template <typename T, int N, int Options = RowMajor, typename I = DenseIndex>
struct Tensor;

// ------------------------------------------------------------------------------------------- expressions

template <typename Derived, typename T, int N>
class TensorBase;
template <typename A, typename F, typename T, int M, int N>
struct MovedExpression;
template <typename F, typename T, int N>
struct GeneratedExpression;
template <typename A, typename T, int N>
struct ReshapedExpression;
template <typename T, int N>
struct EvaluatedExpression;
template <typename A, typename F, typename T, int M, int N>
struct ReducedExpression;
template <typename A, typename B, typename T, int M, int K>
struct ContractedExpression;
namespace movers {
template <typename T, int N>
struct Broadcast;
template <typename T, int N>
struct Shuffle;
template <typename T, int N>
struct Slice;
template <typename T, int N>
struct Reverse;
template <typename T, int N>
struct Pad;
template <typename T, int N>
struct Chip;
}  // namespace movers

template <typename A, typename F, typename T, int N>
struct UnaryExpression : TensorBase<UnaryExpression<A, F, T, N>, T, N> {
  UnaryExpression(const A& a, const F& f) : a(a), f(f) {}
  T coeff(Index i) const { return f(a.coeff(i)); }
  DSizes<Index, N> dimensions() const { return a.dimensions(); }
  A a;
  F f;
};

template <typename A, typename B, typename F, typename T, int N>
struct BinaryExpression : TensorBase<BinaryExpression<A, B, F, T, N>, T, N> {
  BinaryExpression(const A& a, const B& b, const F& f) : a(a), b(b), f(f) {}
  T coeff(Index i) const { return f(a.coeff(i), b.coeff(i)); }
  DSizes<Index, N> dimensions() const { return a.dimensions(); }
  A a;
  B b;
  F f;
};

template <typename C, typename A, typename B, typename T, int N>
struct SelectExpression : TensorBase<SelectExpression<C, A, B, T, N>, T, N> {
  SelectExpression(const C& c, const A& a, const B& b) : c(c), a(a), b(b) {}
  T coeff(Index i) const { return c.coeff(i) ? a.coeff(i) : b.coeff(i); }
  DSizes<Index, N> dimensions() const { return c.dimensions(); }
  C c;
  A a;
  B b;
};

template <typename T, int N>
struct ConstantExpression : TensorBase<ConstantExpression<T, N>, T, N> {
  ConstantExpression(const DSizes<Index, N>& sizes, T value) : sizes(sizes), value(value) {}
  T coeff(Index) const { return value; }
  DSizes<Index, N> dimensions() const { return sizes; }
  DSizes<Index, N> sizes;
  T value;
};

namespace functors {
#define TIDEFLOW_UNARY(Name, expression) \
  template <typename T>                  \
  struct Name {                          \
    T operator()(T x) const { return T(expression); } \
  };
#define TIDEFLOW_BINARY(Name, Result, expression) \
  template <typename T>                           \
  struct Name {                                   \
    Result operator()(T x, T y) const { return Result(expression); } \
  };
TIDEFLOW_UNARY(Negate, -x)
TIDEFLOW_UNARY(Abs, x < T(0) ? T(-x) : x)
TIDEFLOW_UNARY(Square, x* x)
TIDEFLOW_UNARY(Inverse, T(1) / x)
TIDEFLOW_UNARY(Exp, std::exp(x))
TIDEFLOW_UNARY(Log, std::log(x))
TIDEFLOW_UNARY(Sqrt, std::sqrt(x))
TIDEFLOW_UNARY(Rsqrt, T(1) / T(std::sqrt(x)))
TIDEFLOW_UNARY(Tanh, std::tanh(x))
TIDEFLOW_UNARY(Sigmoid, T(1) / (T(1) + T(std::exp(T(-x)))))
TIDEFLOW_UNARY(Floor, std::floor(x))
TIDEFLOW_UNARY(Ceil, std::ceil(x))
TIDEFLOW_UNARY(Not, !x)
TIDEFLOW_UNARY(Cube, x* x* x)
TIDEFLOW_UNARY(Sign, x > T(0) ? T(1) : x < T(0) ? T(-1) : x)
TIDEFLOW_UNARY(Round, numext::round(x))
TIDEFLOW_UNARY(Log1p, numext::log1p(x))
TIDEFLOW_UNARY(Expm1, numext::expm1(x))
TIDEFLOW_BINARY(Sum, T, x + y)
TIDEFLOW_BINARY(Difference, T, x - y)
TIDEFLOW_BINARY(Product, T, x* y)
TIDEFLOW_BINARY(Quotient, T, x / y)
TIDEFLOW_BINARY(Max, T, x < y ? y : x)
TIDEFLOW_BINARY(Min, T, y < x ? y : x)
TIDEFLOW_BINARY(Less, bool, x < y)
TIDEFLOW_BINARY(LessEqual, bool, x <= y)
TIDEFLOW_BINARY(Greater, bool, x > y)
TIDEFLOW_BINARY(GreaterEqual, bool, x >= y)
TIDEFLOW_BINARY(Equal, bool, x == y)
TIDEFLOW_BINARY(NotEqual, bool, x != y)
TIDEFLOW_BINARY(And, bool, x&& y)
TIDEFLOW_BINARY(Or, bool, x || y)
TIDEFLOW_BINARY(Remainder, T, x % y)
#undef TIDEFLOW_UNARY
#undef TIDEFLOW_BINARY

template <typename T>
struct IsNan {
  bool operator()(T x) const { return (numext::isnan)(x); }
};
template <typename T>
struct IsInf {
  bool operator()(T x) const { return (numext::isinf)(x); }
};
template <typename T>
struct IsFinite {
  bool operator()(T x) const { return (numext::isfinite)(x); }
};
template <typename From, typename To>
struct Cast {
  To operator()(From x) const { return static_cast<To>(x); }
};
template <typename T>
struct Power {
  T operator()(T x) const { return T(std::pow(x, exponent)); }
  T exponent;
};
}  // namespace functors

template <typename Derived, typename T, int N>
class TensorBase {
 public:
  typedef T Scalar;
  enum { NumDimensions = N, NumIndices = N };

  const Derived& derived() const { return *static_cast<const Derived*>(this); }
  Index size() const { return derived().dimensions().TotalSize(); }

#define TIDEFLOW_UNARY(method, Name)                                                       \
  UnaryExpression<Derived, functors::Name<T>, T, N> method() const {                       \
    return UnaryExpression<Derived, functors::Name<T>, T, N>(derived(), functors::Name<T>()); \
  }
  TIDEFLOW_UNARY(operator-, Negate)
  TIDEFLOW_UNARY(operator!, Not)
  TIDEFLOW_UNARY(abs, Abs)
  TIDEFLOW_UNARY(square, Square)
  TIDEFLOW_UNARY(inverse, Inverse)
  TIDEFLOW_UNARY(exp, Exp)
  TIDEFLOW_UNARY(log, Log)
  TIDEFLOW_UNARY(sqrt, Sqrt)
  TIDEFLOW_UNARY(rsqrt, Rsqrt)
  TIDEFLOW_UNARY(tanh, Tanh)
  TIDEFLOW_UNARY(sigmoid, Sigmoid)
  TIDEFLOW_UNARY(floor, Floor)
  TIDEFLOW_UNARY(ceil, Ceil)
  TIDEFLOW_UNARY(cube, Cube)
  TIDEFLOW_UNARY(sign, Sign)
  TIDEFLOW_UNARY(round, Round)
  TIDEFLOW_UNARY(log1p, Log1p)
  TIDEFLOW_UNARY(expm1, Expm1)
#undef TIDEFLOW_UNARY

#define TIDEFLOW_BINARY(method, Name, Result)                                                     \
  template <typename Other>                                                                       \
  BinaryExpression<Derived, Other, functors::Name<T>, Result, N> method(                          \
      const TensorBase<Other, T, N>& other) const {                                               \
    return BinaryExpression<Derived, Other, functors::Name<T>, Result, N>(derived(), other.derived(), \
                                                                          functors::Name<T>());   \
  }                                                                                               \
  BinaryExpression<Derived, ConstantExpression<T, N>, functors::Name<T>, Result, N> method(       \
      const T& number) const {                                                                    \
    return method(constant(number));                                                              \
  }
  TIDEFLOW_BINARY(operator+, Sum, T)
  TIDEFLOW_BINARY(operator-, Difference, T)
  TIDEFLOW_BINARY(operator*, Product, T)
  TIDEFLOW_BINARY(operator/, Quotient, T)
  TIDEFLOW_BINARY(cwiseMax, Max, T)
  TIDEFLOW_BINARY(cwiseMin, Min, T)
  TIDEFLOW_BINARY(operator<, Less, bool)
  TIDEFLOW_BINARY(operator<=, LessEqual, bool)
  TIDEFLOW_BINARY(operator>, Greater, bool)
  TIDEFLOW_BINARY(operator>=, GreaterEqual, bool)
  TIDEFLOW_BINARY(operator==, Equal, bool)
  TIDEFLOW_BINARY(operator!=, NotEqual, bool)
  TIDEFLOW_BINARY(operator&&, And, bool)
  TIDEFLOW_BINARY(operator||, Or, bool)
  TIDEFLOW_BINARY(operator%, Remainder, T)
#undef TIDEFLOW_BINARY

#define TIDEFLOW_TEST(method, Name)                                                                 \
  UnaryExpression<Derived, functors::Name<T>, bool, N>(method)() const {                            \
    return UnaryExpression<Derived, functors::Name<T>, bool, N>(derived(), functors::Name<T>()); \
  }
  TIDEFLOW_TEST(isnan, IsNan)
  TIDEFLOW_TEST(isinf, IsInf)
  TIDEFLOW_TEST(isfinite, IsFinite)
#undef TIDEFLOW_TEST

  template <typename To>
  UnaryExpression<Derived, functors::Cast<T, To>, To, N> cast() const {
    return UnaryExpression<Derived, functors::Cast<T, To>, To, N>(derived(), functors::Cast<T, To>());
  }
  UnaryExpression<Derived, functors::Power<T>, T, N> pow(T exponent) const {
    return UnaryExpression<Derived, functors::Power<T>, T, N>(derived(), functors::Power<T>{exponent});
  }
  template <typename F>
  UnaryExpression<Derived, F, T, N> unaryExpr(const F& f) const {
    return UnaryExpression<Derived, F, T, N>(derived(), f);
  }
  template <typename F, typename Other>
  BinaryExpression<Derived, Other, F, T, N> binaryExpr(const TensorBase<Other, T, N>& other, const F& f) const {
    return BinaryExpression<Derived, Other, F, T, N>(derived(), other.derived(), f);
  }
  ConstantExpression<T, N> constant(const T& value) const {
    return ConstantExpression<T, N>(derived().dimensions(), value);
  }
  template <typename A, typename B, typename Result>
  SelectExpression<Derived, A, B, Result, N> select(const TensorBase<A, Result, N>& a,
                                                    const TensorBase<B, Result, N>& b) const {
    return SelectExpression<Derived, A, B, Result, N>(derived(), a.derived(), b.derived());
  }

  // The elements that a function gives for their places, of the size of this.
  template <typename F>
  GeneratedExpression<F, T, N> generate(const F& f) const {
    return GeneratedExpression<F, T, N>(f, derived().dimensions());
  }

  EvaluatedExpression<T, N> eval() const { return EvaluatedExpression<T, N>(derived()); }

  // Elements elsewhere. Sizes, orders and offsets are arrays of N numbers.
  template <typename Times>
  MovedExpression<Derived, movers::Broadcast<T, N>, T, N, N> broadcast(const Times& times) const {
    DSizes<Index, N> sizes = derived().dimensions();
    for (int d = 0; d < N; ++d) sizes[d] *= times[d];
    return {derived(), movers::Broadcast<T, N>(), sizes};
  }
  template <typename Order>
  MovedExpression<Derived, movers::Shuffle<T, N>, T, N, N> shuffle(const Order& order) const {
    movers::Shuffle<T, N> mover;
    DSizes<Index, N> sizes;
    for (int d = 0; d < N; ++d) mover.order[d] = order[d], sizes[d] = derived().dimensions()[order[d]];
    return {derived(), mover, sizes};
  }
  template <typename First, typename Sizes>
  MovedExpression<Derived, movers::Slice<T, N>, T, N, N> slice(const First& first, const Sizes& extents) const {
    movers::Slice<T, N> mover;
    DSizes<Index, N> sizes;
    for (int d = 0; d < N; ++d) mover.first[d] = first[d], mover.steps[d] = 1, sizes[d] = extents[d];
    return {derived(), mover, sizes};
  }
  template <typename Steps>
  MovedExpression<Derived, movers::Slice<T, N>, T, N, N> stride(const Steps& steps) const {
    movers::Slice<T, N> mover;
    DSizes<Index, N> sizes = derived().dimensions();
    for (int d = 0; d < N; ++d) mover.steps[d] = steps[d], sizes[d] = (sizes[d] + steps[d] - 1) / steps[d];
    return {derived(), mover, sizes};
  }
  template <typename Turned>
  MovedExpression<Derived, movers::Reverse<T, N>, T, N, N> reverse(const Turned& turned) const {
    movers::Reverse<T, N> mover;
    for (int d = 0; d < N; ++d) mover.turned[d] = turned[d];
    return {derived(), mover, derived().dimensions()};
  }
  template <typename Margins>  // pairs of what comes before and after
  MovedExpression<Derived, movers::Pad<T, N>, T, N, N> pad(const Margins& margins, const T& value = T(0)) const {
    movers::Pad<T, N> mover;
    DSizes<Index, N> sizes = derived().dimensions();
    for (int d = 0; d < N; ++d) mover.before[d] = margins[d].first, sizes[d] += margins[d].first + margins[d].second;
    mover.value = value;
    return {derived(), mover, sizes};
  }
  template <int Dimension>
  MovedExpression<Derived, movers::Chip<T, N - 1>, T, N, N - 1> chip(Index i) const { return chip(i, Dimension); }
  MovedExpression<Derived, movers::Chip<T, N - 1>, T, N, N - 1> chip(Index i, int dimension) const {
    movers::Chip<T, N - 1> mover;
    mover.dimension = dimension, mover.place = i;
    DSizes<Index, N - 1> sizes;
    for (int d = 0; d < N - 1; ++d) sizes[d] = derived().dimensions()[d < dimension ? d : d + 1];
    return {derived(), mover, sizes};
  }
  template <typename Sizes>
  ReshapedExpression<Derived, T, std::tuple_size<Sizes>::value> reshape(const Sizes& sizes) const {
    return {derived(), DSizes<Index, std::tuple_size<Sizes>::value>(sizes)};
  }

  // Sums of products with another tensor, along a dimension of each: dims[0] is the pair of them.
  template <typename Other, int K, typename Pairs>
  EvaluatedExpression<T, N + K - 2> contract(const TensorBase<Other, T, K>& other, const Pairs& dims) const {
    static_assert(std::tuple_size<Pairs>::value == 1, "these views contract along one dimension");
    return EvaluatedExpression<T, N + K - 2>(ContractedExpression<Derived, Other, T, N, K>(
        derived(), other.derived(), static_cast<int>(dims[0].first), static_cast<int>(dims[0].second)));
  }

  // Reductions along some dimensions.
#define TIDEFLOW_REDUCTION(method, Name, begin, is_mean)                                                     \
  template <typename Dims>                                                                                   \
  EvaluatedExpression<T, N - static_cast<int>(std::tuple_size<Dims>::value)> method(const Dims& dims) const { \
    std::array<bool, N> reduced;                                                                             \
    reduced.fill(false);                                                                                     \
    for (size_t k = 0; k < std::tuple_size<Dims>::value; ++k) reduced[static_cast<size_t>(dims[k])] = true;  \
    const int left = N - static_cast<int>(std::tuple_size<Dims>::value);                                     \
    return EvaluatedExpression<T, left>(                                                                     \
        ReducedExpression<Derived, functors::Name<T>, T, N, left>(derived(), reduced, begin, is_mean));      \
  }
  TIDEFLOW_REDUCTION(sum, Sum, T(0), false)
  TIDEFLOW_REDUCTION(mean, Sum, T(0), true)
  TIDEFLOW_REDUCTION(prod, Product, T(1), false)
  TIDEFLOW_REDUCTION(maximum, Max, std::numeric_limits<T>::lowest(), false)
  TIDEFLOW_REDUCTION(minimum, Min, (std::numeric_limits<T>::max)(), false)
#undef TIDEFLOW_REDUCTION

  // Reductions of all elements to one, as an expression of rank 0.
  ConstantExpression<T, 0> sum() const { return Reduced(T(0), functors::Sum<T>()); }
  ConstantExpression<T, 0> prod() const { return Reduced(T(1), functors::Product<T>()); }
  ConstantExpression<T, 0> maximum() const {
    return Reduced(std::numeric_limits<T>::lowest(), functors::Max<T>());
  }
  ConstantExpression<T, 0> minimum() const { return Reduced((std::numeric_limits<T>::max)(), functors::Min<T>()); }
  ConstantExpression<T, 0> mean() const {
    return ConstantExpression<T, 0>(DSizes<Index, 0>(), sum().value / static_cast<T>(size()));
  }

 private:
  template <typename F>
  ConstantExpression<T, 0> Reduced(T value, F f) const {
    const Index count = size();
    for (Index i = 0; i < count; ++i) value = f(value, derived().coeff(i));
    return ConstantExpression<T, 0>(DSizes<Index, 0>(), value);
  }
};

template <typename Derived, typename T, int N>
auto operator+(const T& number, const TensorBase<Derived, T, N>& x) -> decltype(x.constant(number) + x) {
  return x.constant(number) + x;
}
template <typename Derived, typename T, int N>
auto operator-(const T& number, const TensorBase<Derived, T, N>& x) -> decltype(x.constant(number) - x) {
  return x.constant(number) - x;
}
template <typename Derived, typename T, int N>
auto operator*(const T& number, const TensorBase<Derived, T, N>& x) -> decltype(x.constant(number) * x) {
  return x.constant(number) * x;
}
template <typename Derived, typename T, int N>
auto operator/(const T& number, const TensorBase<Derived, T, N>& x) -> decltype(x.constant(number) / x) {
  return x.constant(number) / x;
}

// ------------------------------------------------------------------------------------------------ memory

template <typename Type, int Options = Unaligned>
class TensorMap;

template <typename View>
class TensorDevice {  // view.device(d) = expression
 public:
  explicit TensorDevice(const View& view) : view_(view) {}
  template <typename Expression>
  void operator=(const Expression& expression) { view_ = expression; }
  template <typename Expression>
  void operator+=(const Expression& expression) { view_ += expression; }
  template <typename Expression>
  void operator-=(const Expression& expression) { view_ -= expression; }

 private:
  View view_;
};

template <typename Type>
struct ViewTraits {  // of Tensor<T, N> or Tensor<const T, N>
  typedef typename Type::Scalar Element;
  typedef typename std::remove_const<Element>::type Value;
  enum { N = Type::NumDimensions };
};

// What a view of N dimensions, itself one of these or not, has at one place of one of them. It can be read and written.
template <typename View, typename Element, int N>
class TensorChip : public TensorBase<TensorChip<View, Element, N>, typename std::remove_const<Element>::type, N - 1> {
 public:
  typedef typename std::remove_const<Element>::type Scalar;

  TensorChip(const View& view, Index place, int dimension) : view_(view), inner_(1) {
    const DSizes<Index, N>& sizes = view.dimensions();
    for (int d = 0; d < N - 1; ++d) sizes_[d] = sizes[d < dimension ? d : d + 1];
    for (int d = dimension + 1; d < N; ++d) inner_ *= sizes[d];
    step_ = inner_ * sizes[dimension];
    first_ = inner_ * place;
  }
  TensorChip(const TensorChip&) = default;

  const DSizes<Index, N - 1>& dimensions() const { return sizes_; }
  Index size() const { return sizes_.TotalSize(); }
  Element& coeff(Index i) const { return view_.coeff(first_ + i / inner_ * step_ + i % inner_); }

  template <int Dimension>
  TensorChip<TensorChip, Element, N - 1> chip(Index i) const { return chip(i, Dimension); }
  TensorChip<TensorChip, Element, N - 1> chip(Index i, int dimension) const { return {*this, i, dimension}; }

  TensorChip& operator=(const TensorChip& other) {
    return *this = static_cast<const TensorBase<TensorChip, Scalar, N - 1>&>(other);
  }
  template <typename Other>
  TensorChip& operator=(const TensorBase<Other, Scalar, N - 1>& other) {
    const Index count = size();
    for (Index i = 0; i < count; ++i) coeff(i) = other.derived().coeff(i);
    return *this;
  }
  template <typename Other>
  TensorChip& operator+=(const TensorBase<Other, Scalar, N - 1>& other) { return *this = *this + other; }
  template <typename Other>
  TensorChip& operator-=(const TensorBase<Other, Scalar, N - 1>& other) { return *this = *this - other; }
  TensorChip& setConstant(const Scalar& value) {
    const Index count = size();
    for (Index i = 0; i < count; ++i) coeff(i) = value;
    return *this;
  }
  TensorChip& setZero() { return setConstant(Scalar()); }

  template <typename Device>
  TensorDevice<TensorChip> device(const Device&) { return TensorDevice<TensorChip>(*this); }

 private:
  View view_;
  DSizes<Index, N - 1> sizes_;
  Index inner_, step_, first_;
};

template <typename Type, int Options>
class TensorMap : public TensorBase<TensorMap<Type, Options>, typename ViewTraits<Type>::Value, ViewTraits<Type>::N> {
 public:
  typedef typename ViewTraits<Type>::Value Scalar;
  typedef typename std::conditional<std::is_const<Type>::value, const Scalar, typename ViewTraits<Type>::Element>::type
      Element;
  enum { N = ViewTraits<Type>::N };
  typedef DSizes<Index, N> Dimensions;

  TensorMap(Element* data, const Dimensions& sizes) : data_(data), sizes_(sizes) {}
  TensorMap(Element* data, const std::array<Index, N>& sizes) : data_(data), sizes_(sizes) {}
  template <typename... Sizes>
  TensorMap(Element* data, Index first, Sizes... rest) : data_(data), sizes_(first, rest...) {}
  TensorMap(const TensorMap&) = default;

  TIDEFLOW_ON_DEVICE Element* data() const { return data_; }
  Index size() const { return sizes_.TotalSize(); }
  const Dimensions& dimensions() const { return sizes_; }
  TIDEFLOW_ON_DEVICE Index dimension(size_t i) const { return sizes_[i]; }
  Index rank() const { return N; }
  Element& coeff(Index i) const { return data_[i]; }

  Element& operator()() const { return data_[0]; }
  Element& operator()(Index i) const { return data_[i]; }  // of all elements, whatever their dimensions
  template <typename... Indices>
  Element& operator()(Index first, Index second, Indices... rest) const {
    static_assert(sizeof...(rest) + 2 == N, "one index for each dimension");
    return data_[Offset<0>(0, first, second, rest...)];
  }
  Element& operator()(const std::array<Index, N>& at) const {
    Index offset = 0;
    for (int d = 0; d < N; ++d) offset = offset * sizes_[d] + at[d];
    return data_[offset];
  }
  Element& operator[](Index i) const { return data_[i]; }

  TensorMap& operator=(const TensorMap& other) {
    std::copy(other.data_, other.data_ + other.size(), data_);
    return *this;
  }
  template <typename Other>
  TensorMap& operator=(const TensorBase<Other, Scalar, N>& other) {
    const Index count = size();
    for (Index i = 0; i < count; ++i) data_[i] = other.derived().coeff(i);
    return *this;
  }
  template <typename Other>
  TensorMap& operator+=(const TensorBase<Other, Scalar, N>& other) { return *this = *this + other; }
  template <typename Other>
  TensorMap& operator-=(const TensorBase<Other, Scalar, N>& other) { return *this = *this - other; }
  template <typename Other>
  TensorMap& operator*=(const TensorBase<Other, Scalar, N>& other) { return *this = *this * other; }

  TensorMap& setConstant(const Scalar& value) {
    std::fill(data_, data_ + size(), value);
    return *this;
  }
  TensorMap& setZero() { return setConstant(Scalar()); }

  template <typename Device>
  TensorDevice<TensorMap> device(const Device&) { return TensorDevice<TensorMap>(*this); }

  template <typename Sizes>
  TensorMap<Tensor<Element, std::tuple_size<Sizes>::value>> reshape(const Sizes& sizes) const {
    return TensorMap<Tensor<Element, std::tuple_size<Sizes>::value>>(data_, sizes);
  }
  // One index less. At the outermost dimension it is a view as well.
  template <int Dimension>
  typename std::conditional<Dimension == 0, TensorMap<Tensor<Element, N - 1>>,
                            TensorChip<TensorMap, Element, N>>::type
  chip(Index i) const {
    return Chipped(i, std::integral_constant<int, Dimension>());
  }
  TensorChip<TensorMap, Element, N> chip(Index i, int dimension) const { return {*this, i, dimension}; }

 private:
  TensorMap<Tensor<Element, N - 1>> Chipped(Index i, std::integral_constant<int, 0>) const {
    std::array<Index, N - 1> sizes;
    for (int d = 1; d < N; ++d) sizes[d - 1] = sizes_[d];
    const Index row = sizes_[0] ? size() / sizes_[0] : 0;
    return TensorMap<Tensor<Element, N - 1>>(data_ + i * row, sizes);
  }
  template <int Dimension>
  TensorChip<TensorMap, Element, N> Chipped(Index i, std::integral_constant<int, Dimension>) const {
    return chip(i, Dimension);
  }
  template <int d, typename... Indices>
  Index Offset(Index before, Index at, Indices... rest) const {
    return Offset<d + 1>(before * sizes_[d] + at, static_cast<Index>(rest)...);
  }
  template <int d>
  Index Offset(Index before) const { return before; }

  Element* data_;
  Dimensions sizes_;
};

// A tensor with memory of its own, for what a kernel keeps in between. Tensor<const T, N> only names a type.
template <typename T, int N, int Options, typename I>
struct Tensor : TensorBase<Tensor<T, N, Options, I>, typename std::remove_const<T>::type, N> {
  typedef T Scalar;
  typedef I Index;
  typedef typename std::remove_const<T>::type Value;
  typedef DSizes<Eigen::Index, N> Dimensions;
  enum { NumDimensions = N, Layout = RowMajor };

  Tensor() {}
  explicit Tensor(const Dimensions& sizes) : sizes_(sizes), values_(static_cast<size_t>(sizes.TotalSize())) {}
  template <typename... Sizes>
  explicit Tensor(Eigen::Index first, Sizes... rest) : Tensor(Dimensions(first, static_cast<Eigen::Index>(rest)...)) {}
  template <typename Other>
  Tensor(const TensorBase<Other, Value, N>& other) : Tensor(other.derived().dimensions()) { View() = other; }
  template <typename Other>
  Tensor& operator=(const TensorBase<Other, Value, N>& other) { return *this = Tensor(other); }

  const Dimensions& dimensions() const { return sizes_; }
  Eigen::Index dimension(size_t i) const { return sizes_[i]; }
  Eigen::Index size() const { return sizes_.TotalSize(); }
  Value* data() { return values_.data(); }
  const Value* data() const { return values_.data(); }
  Value coeff(Eigen::Index i) const { return values_[static_cast<size_t>(i)]; }
  template <typename... Indices>
  Value& operator()(Indices... at) { return View()(static_cast<Eigen::Index>(at)...); }
  template <typename... Indices>
  const Value& operator()(Indices... at) const {
    return const_cast<Tensor*>(this)->View()(static_cast<Eigen::Index>(at)...);
  }
  Tensor& setConstant(const Value& value) {
    std::fill(values_.begin(), values_.end(), value);
    return *this;
  }
  Tensor& setZero() { return setConstant(Value()); }

 private:
  TensorMap<Tensor> View() { return TensorMap<Tensor>(values_.data(), sizes_); }

  Dimensions sizes_;
  std::vector<Value> values_;
};

}  // namespace Eigen

#include "tideflow/kernels/moved_views.h"

namespace std {
template <typename I, int N>
struct tuple_size<Eigen::DSizes<I, N>> : integral_constant<size_t, N> {};
}  // namespace std

namespace tensorflow {

// The types of views: TTypes<float>::ConstFlat, TTypes<T, 3>::Tensor.
template <typename T, int NDIMS = 1, typename IndexType = Eigen::DenseIndex>
struct TTypes {
  template <typename E, int N>
  struct View {
    typedef Eigen::TensorMap<Eigen::Tensor<E, N, Eigen::RowMajor, IndexType>> Type;
    typedef Eigen::TensorMap<Eigen::Tensor<const E, N, Eigen::RowMajor, IndexType>> Const;
  };
  typedef typename View<T, NDIMS>::Type Tensor;
  typedef typename View<T, NDIMS>::Const ConstTensor;
  typedef Tensor UnalignedTensor;
  typedef ConstTensor UnalignedConstTensor;
  typedef typename View<T, 0>::Type Scalar;
  typedef typename View<T, 0>::Const ConstScalar;
  typedef typename View<T, 1>::Type Flat;
  typedef typename View<T, 1>::Const ConstFlat;
  typedef Flat Vec;
  typedef ConstFlat ConstVec;
  typedef Flat UnalignedFlat;
  typedef ConstFlat UnalignedConstFlat;
  typedef Flat UnalignedVec;
  typedef ConstFlat UnalignedConstVec;
  typedef typename View<T, 2>::Type Matrix;
  typedef typename View<T, 2>::Const ConstMatrix;
  typedef Matrix UnalignedMatrix;
  typedef ConstMatrix UnalignedConstMatrix;
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_VIEWS_H_
