// Expressions of Eigen's Tensor module that move elements or join many: broadcasts, slices, reductions along axes,
// contractions. Each finds the element of its operands that belongs to a place of its own.
#ifndef TIDEFLOW_KERNELS_MOVED_VIEWS_H_
#define TIDEFLOW_KERNELS_MOVED_VIEWS_H_

#include <memory>
#include <utility>
#include <vector>

namespace Eigen {

template <typename I>
struct IndexPair {
  IndexPair() : first(0), second(0) {}
  IndexPair(I first, I second) : first(first), second(second) {}
  I first, second;
};

// The coordinates of element i, the last one first in memory; and back.
template <int N>
DSizes<Index, N> Coordinates(Index i, const DSizes<Index, N>& sizes) {
  DSizes<Index, N> at;
  for (int d = N - 1; d >= 0; --d) at[d] = i % sizes[d], i /= sizes[d];
  return at;
}
template <int N>
Index Place(const DSizes<Index, N>& at, const DSizes<Index, N>& sizes) {
  Index place = 0;
  for (int d = 0; d < N; ++d) place = place * sizes[d] + at[d];
  return place;
}

// An expression whose element at `at` is one of `a`, at the place that F finds; or a value where F finds none.
template <typename A, typename F, typename T, int M, int N>
struct MovedExpression : TensorBase<MovedExpression<A, F, T, M, N>, T, N> {
  MovedExpression(const A& a, const F& f, const DSizes<Index, N>& sizes) : a(a), f(f), sizes(sizes) {}
  T coeff(Index i) const {
    DSizes<Index, M> from;
    return f(Coordinates<N>(i, sizes), a.dimensions(), &from) ? a.coeff(Place<M>(from, a.dimensions())) : f.other();
  }
  DSizes<Index, N> dimensions() const { return sizes; }
  A a;
  F f;
  DSizes<Index, N> sizes;
};

namespace movers {
template <typename T, int N>
struct Always {
  T other() const { return T(); }
};
template <typename T, int N>
struct Broadcast : Always<T, N> {
  bool operator()(const DSizes<Index, N>& at, const DSizes<Index, N>& sizes, DSizes<Index, N>* from) const {
    for (int d = 0; d < N; ++d) (*from)[d] = at[d] % sizes[d];
    return true;
  }
};
template <typename T, int N>
struct Shuffle : Always<T, N> {
  bool operator()(const DSizes<Index, N>& at, const DSizes<Index, N>&, DSizes<Index, N>* from) const {
    for (int d = 0; d < N; ++d) (*from)[order[d]] = at[d];
    return true;
  }
  DSizes<Index, N> order;
};
template <typename T, int N>
struct Slice : Always<T, N> {
  bool operator()(const DSizes<Index, N>& at, const DSizes<Index, N>&, DSizes<Index, N>* from) const {
    for (int d = 0; d < N; ++d) (*from)[d] = at[d] * steps[d] + first[d];
    return true;
  }
  DSizes<Index, N> first, steps;
};
template <typename T, int N>
struct Reverse : Always<T, N> {
  bool operator()(const DSizes<Index, N>& at, const DSizes<Index, N>& sizes, DSizes<Index, N>* from) const {
    for (int d = 0; d < N; ++d) (*from)[d] = turned[d] ? sizes[d] - 1 - at[d] : at[d];
    return true;
  }
  std::array<bool, N> turned;
};
template <typename T, int N>
struct Pad {
  bool operator()(const DSizes<Index, N>& at, const DSizes<Index, N>& sizes, DSizes<Index, N>* from) const {
    for (int d = 0; d < N; ++d) {
      (*from)[d] = at[d] - before[d];
      if ((*from)[d] < 0 || (*from)[d] >= sizes[d]) return false;
    }
    return true;
  }
  T other() const { return value; }
  DSizes<Index, N> before;
  T value;
};
template <typename T, int N>
struct Chip : Always<T, N> {  // to N from N + 1 dimensions
  bool operator()(const DSizes<Index, N>& at, const DSizes<Index, N + 1>&, DSizes<Index, N + 1>* from) const {
    for (int d = 0; d <= N; ++d) (*from)[d] = d < dimension ? at[d] : d == dimension ? place : at[d - 1];
    return true;
  }
  int dimension;
  Index place;
};
}  // namespace movers

template <typename F, typename T, int N>
struct GeneratedExpression : TensorBase<GeneratedExpression<F, T, N>, T, N> {
  GeneratedExpression(const F& f, const DSizes<Index, N>& sizes) : f(f), sizes(sizes) {}
  T coeff(Index i) const { return f(static_cast<const std::array<Index, N>&>(Coordinates<N>(i, sizes))); }
  DSizes<Index, N> dimensions() const { return sizes; }
  F f;
  DSizes<Index, N> sizes;
};

template <typename A, typename T, int N>
struct ReshapedExpression : TensorBase<ReshapedExpression<A, T, N>, T, N> {
  ReshapedExpression(const A& a, const DSizes<Index, N>& sizes) : a(a), sizes(sizes) {}
  T coeff(Index i) const { return a.coeff(i); }
  DSizes<Index, N> dimensions() const { return sizes; }
  A a;
  DSizes<Index, N> sizes;
};

// Elements that are computed now, once, and kept.
template <typename T, int N>
struct EvaluatedExpression : TensorBase<EvaluatedExpression<T, N>, T, N> {
  template <typename A>
  explicit EvaluatedExpression(const A& a) : sizes(a.dimensions()), values(std::make_shared<std::vector<T>>()) {
    const Index count = sizes.TotalSize();
    values->reserve(static_cast<size_t>(count));
    for (Index i = 0; i < count; ++i) values->push_back(a.coeff(i));
  }
  T coeff(Index i) const { return (*values)[static_cast<size_t>(i)]; }
  DSizes<Index, N> dimensions() const { return sizes; }
  DSizes<Index, N> sizes;
  std::shared_ptr<std::vector<T>> values;
};

// Joins the elements along some of M dimensions; N are left.
template <typename A, typename F, typename T, int M, int N>
struct ReducedExpression : TensorBase<ReducedExpression<A, F, T, M, N>, T, N> {
  ReducedExpression(const A& a, const std::array<bool, M>& reduced, T begin, bool is_mean)
      : a(a), reduced(reduced), begin(begin), is_mean(is_mean) {
    const DSizes<Index, M> all = a.dimensions();
    count = 1;
    for (int d = 0, k = 0; d < M; ++d) {
      inner[d] = reduced[d] ? all[d] : 1;
      if (reduced[d]) count *= all[d];
      else sizes[k++] = all[d];
    }
  }
  T coeff(Index i) const {
    const DSizes<Index, M> all = a.dimensions();
    const DSizes<Index, N> at = Coordinates<N>(i, sizes);
    T joined = begin;
    for (Index j = 0; j < count; ++j) {
      DSizes<Index, M> from = Coordinates<M>(j, inner);
      for (int d = 0, k = 0; d < M; ++d)
        if (!reduced[d]) from[d] = at[k++];
      joined = F()(joined, a.coeff(Place<M>(from, all)));
    }
    return is_mean ? T(joined / static_cast<T>(count)) : joined;
  }
  DSizes<Index, N> dimensions() const { return sizes; }
  A a;
  std::array<bool, M> reduced;
  T begin;
  bool is_mean;
  DSizes<Index, M> inner;
  DSizes<Index, N> sizes;
  Index count;
};

// Sums of products along one dimension of each operand; their other dimensions follow each other.
template <typename A, typename B, typename T, int M, int K>
struct ContractedExpression : TensorBase<ContractedExpression<A, B, T, M, K>, T, M + K - 2> {
  enum { N = M + K - 2 };
  ContractedExpression(const A& a, const B& b, int of_a, int of_b) : a(a), b(b), of_a(of_a), of_b(of_b) {
    int k = 0;
    for (int d = 0; d < M; ++d)
      if (d != of_a) sizes[k++] = a.dimensions()[d];
    for (int d = 0; d < K; ++d)
      if (d != of_b) sizes[k++] = b.dimensions()[d];
  }
  T coeff(Index i) const {
    const DSizes<Index, N> at = Coordinates<N>(i, sizes);
    DSizes<Index, M> left;
    DSizes<Index, K> right;
    int k = 0;
    for (int d = 0; d < M; ++d)
      if (d != of_a) left[d] = at[k++];
    for (int d = 0; d < K; ++d)
      if (d != of_b) right[d] = at[k++];
    T sum = T(0);
    for (Index j = 0; j < a.dimensions()[of_a]; ++j) {
      left[of_a] = right[of_b] = j;
      sum += a.coeff(Place<M>(left, a.dimensions())) * b.coeff(Place<K>(right, b.dimensions()));
    }
    return sum;
  }
  DSizes<Index, N> dimensions() const { return sizes; }
  A a;
  B b;
  int of_a, of_b;
  DSizes<Index, N> sizes;
};

}  // namespace Eigen

#endif  // TIDEFLOW_KERNELS_MOVED_VIEWS_H_
