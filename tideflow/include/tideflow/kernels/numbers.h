// Numbers read from texts, and the clock.
#ifndef TIDEFLOW_KERNELS_NUMBERS_H_
#define TIDEFLOW_KERNELS_NUMBERS_H_

#include <cerrno>
#include <chrono>
#include <limits>

#include "tideflow/kernels/status.h"

namespace tensorflow {
namespace strings {
namespace internal {

// Whether a whole text, but for spaces around it, is a number that fits; base 10.
template <typename Number, typename Wide>
bool ReadWhole(StringPiece text, Wide (*read)(const char*, char**), Number* value) {
  const string copy = text.ToString();
  char* end = nullptr;
  errno = 0;
  const Wide found = read(copy.c_str(), &end);
  if (end == copy.c_str() || errno == ERANGE) return false;
  while (*end == ' ' || (*end >= '\t' && *end <= '\r')) ++end;
  if (end != copy.c_str() + copy.size()) return false;
  *value = static_cast<Number>(found);
  return std::numeric_limits<Number>::is_iec559 || static_cast<Wide>(*value) == found;
}
inline long long Signed(const char* text, char** end) { return strtoll(text, end, 10); }
inline unsigned long long Unsigned(const char* text, char** end) {
  while (*text == ' ') ++text;
  return *text == '-' ? (*end = const_cast<char*>(text), 0ULL) : strtoull(text, end, 10);
}

}  // namespace internal

inline bool safe_strto32(StringPiece text, int32* value) { return internal::ReadWhole(text, internal::Signed, value); }
inline bool safe_strto64(StringPiece text, int64* value) { return internal::ReadWhole(text, internal::Signed, value); }
inline bool safe_strtou32(StringPiece text, uint32* value) { return internal::ReadWhole(text, internal::Unsigned, value); }
inline bool safe_strtou64(StringPiece text, uint64* value) { return internal::ReadWhole(text, internal::Unsigned, value); }
inline bool safe_strtof(StringPiece text, float* value) { return internal::ReadWhole<float, float>(text, strtof, value); }
inline bool safe_strtod(StringPiece text, double* value) { return internal::ReadWhole<double, double>(text, strtod, value); }

}  // namespace strings

class Env {
 public:
  static Env* Default() {
    static Env env;
    return &env;
  }
  uint64 NowNanos() const {
    using namespace std::chrono;
    return static_cast<uint64>(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
  }
  uint64 NowMicros() const { return NowNanos() / 1000; }
  uint64 NowSeconds() const { return NowNanos() / 1000000000; }
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_NUMBERS_H_
