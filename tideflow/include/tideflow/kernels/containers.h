// What TensorFlow has beside the standard library's containers: looking up and inserting, the largest of many,
// work for the end of a block, distances of sequences.
#ifndef TIDEFLOW_KERNELS_CONTAINERS_H_
#define TIDEFLOW_KERNELS_CONTAINERS_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tideflow/kernels/hashes.h"

namespace tensorflow {

template <typename T, typename... Args>
std::unique_ptr<T> MakeUnique(Args&&... args) {
  return std::unique_ptr<T>(new T(std::forward<Args>(args)...));
}
template <typename T>
std::unique_ptr<T> WrapUnique(T* object) { return std::unique_ptr<T>(object); }

namespace gtl {

// Without TensorFlow's promise of how they lie in memory.
template <typename Key, typename Value, typename Hash = ::tensorflow::hash<Key>, typename Equal = std::equal_to<Key>>
using FlatMap = std::unordered_map<Key, Value, Hash, Equal>;
template <typename Key, typename Hash = ::tensorflow::hash<Key>, typename Equal = std::equal_to<Key>>
using FlatSet = std::unordered_set<Key, Hash, Equal>;

// ---------------------------------------------------------------------------------------------- maps

template <typename Map>
using KeyOf = typename Map::value_type::first_type;
template <typename Map>
using MappedOf = typename Map::value_type::second_type;

template <typename Map>
const MappedOf<Map>* FindOrNull(const Map& map, const KeyOf<Map>& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}
template <typename Map>
MappedOf<Map>* FindOrNull(Map& map, const KeyOf<Map>& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}
template <typename Map>
MappedOf<Map> FindPtrOrNull(const Map& map, const KeyOf<Map>& key) {
  const auto found = map.find(key);
  return found == map.end() ? MappedOf<Map>() : found->second;
}
template <typename Map>
const MappedOf<Map>& FindWithDefault(const Map& map, const KeyOf<Map>& key, const MappedOf<Map>& otherwise) {
  const auto found = map.find(key);
  return found == map.end() ? otherwise : found->second;
}
// Whether the key is new.
template <typename Map>
bool InsertOrUpdate(Map* map, const typename Map::value_type& pair) {
  const auto put = map->insert(pair);
  if (!put.second) put.first->second = pair.second;
  return put.second;
}
template <typename Map>
bool InsertOrUpdate(Map* map, const KeyOf<Map>& key, const MappedOf<Map>& value) {
  return InsertOrUpdate(map, typename Map::value_type(key, value));
}
template <typename Collection>
bool InsertIfNotPresent(Collection* collection, const typename Collection::value_type& element) {
  return collection->insert(element).second;
}
template <typename Map>
bool InsertIfNotPresent(Map* map, const KeyOf<Map>& key, const MappedOf<Map>& value) {
  return InsertIfNotPresent(map, typename Map::value_type(key, value));
}
template <typename Map>
MappedOf<Map>& LookupOrInsert(Map* map, const KeyOf<Map>& key, const MappedOf<Map>& value) {
  return map->insert(typename Map::value_type(key, value)).first->second;
}
template <typename Map>
MappedOf<Map> EraseKeyReturnValuePtr(Map* map, const KeyOf<Map>& key) {
  const auto found = map->find(key);
  if (found == map->end()) return nullptr;
  const MappedOf<Map> value = found->second;
  map->erase(found);
  return value;
}

// ------------------------------------------------------------------------------------------ containers

inline char* string_as_array(string* text) { return &*text->begin(); }
inline void STLStringResizeUninitialized(string* text, size_t size) { text->resize(size); }
template <typename T>
T* vector_as_array(std::vector<T>* all) { return all->data(); }
template <typename T>
const T* vector_as_array(const std::vector<T>* all) { return all->data(); }
template <typename Collection>
void STLDeleteElements(Collection* collection) {
  if (!collection) return;
  for (auto* element : *collection) delete element;
  collection->clear();
}
template <typename Map>
void STLDeleteValues(Map* map) {
  if (!map) return;
  for (auto& pair : *map) delete pair.second;
  map->clear();
}
template <typename T>
void STLSortAndRemoveDuplicates(T* all) {
  std::sort(all->begin(), all->end());
  all->erase(std::unique(all->begin(), all->end()), all->end());
}

template <typename It>
class iterator_range {
 public:
  iterator_range(It begin, It end) : begin_(std::move(begin)), end_(std::move(end)) {}
  It begin() const { return begin_; }
  It end() const { return end_; }

 private:
  It begin_, end_;
};
template <typename It>
iterator_range<It> make_range(It begin, It end) { return iterator_range<It>(std::move(begin), std::move(end)); }

// The `limit` first elements by an order, the largest if none is given.
template <typename T, typename Before = std::greater<T>>
class TopN {
 public:
  typedef typename std::vector<T>::const_iterator UnsortedIterator;

  explicit TopN(size_t limit, const Before& before = Before()) : limit_(limit), before_(before) {}
  size_t limit() const { return limit_; }
  size_t size() const { return heap_.size(); }
  bool empty() const { return heap_.empty(); }
  void reserve(size_t count) { heap_.reserve(std::min(count, limit_ + 1)); }
  void push(const T& element) { push(element, nullptr); }
  // `dropped` gets the element that has no place any more, if there is one.
  void push(const T& element, T* dropped) {
    heap_.push_back(element);
    std::push_heap(heap_.begin(), heap_.end(), before_);
    if (heap_.size() <= limit_) return;
    std::pop_heap(heap_.begin(), heap_.end(), before_);
    if (dropped) *dropped = std::move(heap_.back());
    heap_.pop_back();
  }
  const T& peek_bottom() const {
    CHECK(!empty()) << "there is no last element of none";
    return heap_.front();
  }
  std::vector<T>* Extract() {
    std::vector<T>* sorted = ExtractNondestructive();
    Reset();
    return sorted;
  }
  std::vector<T>* ExtractUnsorted() {
    std::vector<T>* all = new std::vector<T>;
    all->swap(heap_);
    return all;
  }
  std::vector<T>* ExtractNondestructive() const {
    std::vector<T>* sorted = new std::vector<T>;
    ExtractNondestructive(sorted);
    return sorted;
  }
  void ExtractNondestructive(std::vector<T>* sorted) const {
    *sorted = heap_;
    std::sort_heap(sorted->begin(), sorted->end(), before_);
  }
  UnsortedIterator unsorted_begin() const { return heap_.begin(); }
  UnsortedIterator unsorted_end() const { return heap_.end(); }
  void Reset() { heap_.clear(); }

 private:
  size_t limit_;
  Before before_;
  std::vector<T> heap_;  // the last of them at the front
};

// ------------------------------------------------------------------------------------------------- the rest

// Does a work when the block ends, unless it was released.
template <typename F>
class Cleanup {
 public:
  Cleanup() : pending_(false), work_() {}
  explicit Cleanup(F work) : pending_(true), work_(std::move(work)) {}
  Cleanup(Cleanup&& other) : pending_(other.pending_), work_(other.release()) {}
  ~Cleanup() {
    if (pending_) work_();
  }
  F release() {
    pending_ = false;
    return std::move(work_);
  }
  bool is_released() const { return !pending_; }

 private:
  bool pending_;
  F work_;
};
template <typename F>
Cleanup<typename std::decay<F>::type> MakeCleanup(F&& work) {
  return Cleanup<typename std::decay<F>::type>(std::forward<F>(work));
}

// How many elements have to be put in, taken out or changed to make one sequence of the other.
template <typename T, typename Same>
int64 LevenshteinDistance(const ArraySlice<T>& s, const ArraySlice<T>& t, const Same& same) {
  std::vector<int64> row(t.size() + 1);
  std::iota(row.begin(), row.end(), int64(0));
  for (size_t i = 1; i <= s.size(); ++i) {
    int64 diagonal = row[0];
    row[0] = static_cast<int64>(i);
    for (size_t j = 1; j <= t.size(); ++j) {
      const int64 changed = diagonal + (same(s[i - 1], t[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min(changed, std::min(row[j], row[j - 1]) + 1);
    }
  }
  return row.back();
}
template <typename Sequence, typename Other, typename Same>
int64 LevenshteinDistance(const Sequence& s, const Other& t, const Same& same) {
  typedef typename Sequence::value_type T;
  return LevenshteinDistance(ArraySlice<T>(s.data(), s.size()), ArraySlice<T>(t.data(), t.size()), same);
}

}  // namespace gtl
}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_CONTAINERS_H_
