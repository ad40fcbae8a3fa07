// Numbers read from texts, and written as people like to read them.
#ifndef TIDEFLOW_KERNELS_NUMBERS_H_
#define TIDEFLOW_KERNELS_NUMBERS_H_

#include <cctype>
#include <cerrno>
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

inline bool ProtoParseNumeric(StringPiece text, int32* value) { return safe_strto32(text, value); }
inline bool ProtoParseNumeric(StringPiece text, int64* value) { return safe_strto64(text, value); }
inline bool ProtoParseNumeric(StringPiece text, uint32* value) { return safe_strtou32(text, value); }
inline bool ProtoParseNumeric(StringPiece text, uint64* value) { return safe_strtou64(text, value); }
inline bool ProtoParseNumeric(StringPiece text, float* value) { return safe_strtof(text, value); }
inline bool ProtoParseNumeric(StringPiece text, double* value) { return safe_strtod(text, value); }
template <typename T>
bool SafeStringToNumeric(StringPiece text, T* value) { return ProtoParseNumeric(text, value); }

// The hexadecimal number that a whole text is.
inline bool HexStringToUint64(const StringPiece& text, uint64* value) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return isxdigit(static_cast<unsigned char>(c)); });
  if (text.empty() || text.size() > 16 || !digits) return false;
  *value = strtoull(text.ToString().c_str(), nullptr, 16);
  return true;
}
inline string FpToString(uint64 fingerprint) { return internal::HexOf(fingerprint, 16, '0'); }

// 1024, 12.3k, 1.50M: a number of things in few characters.
inline string HumanReadableNum(int64 value) {
  const char* const sign = value < 0 ? "-" : "";
  uint64 size = value < 0 ? 0 - static_cast<uint64>(value) : static_cast<uint64>(value);
  if (size < 1000) return Printf("%s%llu", sign, size);
  if (size >= 1000000000000000ULL) return Printf("%s%0.3G", sign, static_cast<double>(size));
  const char* unit = "kMBT";
  for (; size >= 1000000; size /= 1000) ++unit;
  return Printf("%s%.2f%c", sign, static_cast<double>(size) / 1000.0, *unit);
}

}  // namespace strings

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_NUMBERS_H_
