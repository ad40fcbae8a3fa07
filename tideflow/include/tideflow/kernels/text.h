// Pieces of text, and what TensorFlow has to join, part, trim and escape them.
#ifndef TIDEFLOW_KERNELS_TEXT_H_
#define TIDEFLOW_KERNELS_TEXT_H_

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <sstream>

#include "tideflow/kernels/types.h"

namespace tensorflow {

// Text that somebody else owns.
class StringPiece {
 public:
  typedef const char* const_iterator;
  typedef const char* iterator;
  typedef char value_type;
  static constexpr size_t npos = static_cast<size_t>(-1);
  StringPiece() : data_(""), size_(0) {}
  StringPiece(const char* text) : data_(text), size_(strlen(text)) {}
  StringPiece(const string& text) : data_(text.data()), size_(text.size()) {}
  StringPiece(const char* data, size_t size) : data_(data), size_(size) {}
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  size_t length() const { return size_; }
  bool empty() const { return size_ == 0; }
  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }
  char operator[](size_t i) const { return data_[i]; }
  char front() const { return data_[0]; }
  char back() const { return data_[size_ - 1]; }
  string ToString() const { return string(data_, size_); }
  explicit operator string() const { return ToString(); }
  StringPiece substr(size_t from, size_t count = npos) const {
    from = from < size_ ? from : size_;
    return StringPiece(data_ + from, count < size_ - from ? count : size_ - from);
  }
  void remove_prefix(size_t n) { data_ += n, size_ -= n; }
  void remove_suffix(size_t n) { size_ -= n; }
  size_t find(char c, size_t from = 0) const { return find(StringPiece(&c, 1), from); }
  size_t find(StringPiece text, size_t from = 0) const {
    if (from > size_) return npos;
    const char* found = std::search(begin() + from, end(), text.begin(), text.end());
    return found == end() && !text.empty() ? npos : static_cast<size_t>(found - data_);
  }
  size_t rfind(char c, size_t from = npos) const { return ToString().rfind(c, from); }
  size_t find_first_of(StringPiece any, size_t from = 0) const {
    for (size_t i = from; i < size_; ++i)
      if (any.find(data_[i]) != npos) return i;
    return npos;
  }
  int compare(StringPiece other) const {
    const int order = memcmp(data_, other.data_, std::min(size_, other.size_));
    return order ? order : size_ < other.size_ ? -1 : size_ > other.size_;
  }
  friend bool operator==(StringPiece a, StringPiece b) {
    return a.size_ == b.size_ && memcmp(a.data_, b.data_, a.size_) == 0;
  }
  friend bool operator!=(StringPiece a, StringPiece b) { return !(a == b); }
  friend bool operator<(StringPiece a, StringPiece b) { return a.compare(b) < 0; }
  friend bool operator>(StringPiece a, StringPiece b) { return b < a; }
  friend bool operator<=(StringPiece a, StringPiece b) { return !(b < a); }
  friend bool operator>=(StringPiece a, StringPiece b) { return !(a < b); }
  friend std::ostream& operator<<(std::ostream& out, StringPiece text) {
    return out.write(text.data_, static_cast<std::streamsize>(text.size_));
  }

 private:
  const char* data_;
  size_t size_;
};

namespace strings {
namespace internal {

// A decimal number that is read back as the same value: of few digits, or else of as many as any value needs.
template <typename Float>
string ReadBack(Float value, int few, int all) {
  char text[40];
  for (int digits : {few, all}) {
    snprintf(text, sizeof(text), "%.*g", digits, static_cast<double>(value));
    if (static_cast<Float>(strtod(text, nullptr)) == value) break;
  }
  return text;
}

inline string HexOf(uint64 value, size_t least, char fill) {
  char digits[20];
  const string text(digits, static_cast<size_t>(snprintf(digits, sizeof(digits), "%llx", value)));
  return text.size() < least ? string(least - text.size(), fill) + text : text;
}

}  // namespace internal

// What StrCat writes in hexadecimal digits: Hex(value) with as few as it has, or at least so many.
enum PadSpec { kNoPad = 1, kZeroPad2, kZeroPad3, kZeroPad4, kZeroPad5, kZeroPad6, kZeroPad7, kZeroPad8, kZeroPad16 = 16 };
struct Hex {
  template <typename Integer>
  explicit Hex(Integer number, PadSpec least = kNoPad)
      : value(static_cast<typename std::make_unsigned<Integer>::type>(number)), pad(least) {}
  uint64 value;
  PadSpec pad;
};

namespace internal {

inline void Append(std::ostream& out, float value) { out << ReadBack(value, 6, 9); }
inline void Append(std::ostream& out, double value) { out << ReadBack(value, 15, 17); }
inline void Append(std::ostream& out, int8 value) { out << static_cast<int>(value); }
inline void Append(std::ostream& out, uint8 value) { out << static_cast<int>(value); }
inline void Append(std::ostream& out, half value) { Append(out, static_cast<float>(value)); }
inline void Append(std::ostream& out, bfloat16 value) { Append(out, static_cast<float>(value)); }
inline void Append(std::ostream& out, Hex hex) { out << HexOf(hex.value, static_cast<size_t>(hex.pad), '0'); }
template <typename T>
void Append(std::ostream& out, const T& value) { out << value; }

// Items that are joined: floating-point numbers of six digits.
template <typename T>
void AppendItem(std::ostream& out, const T& item) { Append(out, item); }
inline void AppendItem(std::ostream& out, float item) { out << item; }
inline void AppendItem(std::ostream& out, double item) { out << item; }

inline void AppendAll(std::ostream&) {}
template <typename First, typename... Rest>
void AppendAll(std::ostream& out, const First& first, const Rest&... rest) {
  Append(out, first);
  AppendAll(out, rest...);
}

__attribute__((format(printf, 1, 0))) inline string Formatted(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  string text(static_cast<size_t>(vsnprintf(nullptr, 0, format, again)), '\0');
  va_end(again);
  vsnprintf(&text[0], text.size() + 1, format, args);
  return text;
}

}  // namespace internal

template <typename... Args>
string StrCat(const Args&... args) {
  std::ostringstream out;
  internal::AppendAll(out, args...);
  return out.str();
}

template <typename... Args>
void StrAppend(string* text, const Args&... args) { *text += StrCat(args...); }

__attribute__((format(printf, 1, 2))) inline string Printf(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const string text = internal::Formatted(format, args);
  va_end(args);
  return text;
}
__attribute__((format(printf, 2, 3))) inline void Appendf(string* text, const char* format, ...) {
  va_list args;
  va_start(args, format);
  *text += internal::Formatted(format, args);
  va_end(args);
}

}  // namespace strings

namespace str_util {
namespace internal {

inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace internal

template <typename Items>
string Join(const Items& items, const char* separator) {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out << separator;
    strings::internal::AppendItem(out, item);
    first = false;
  }
  return out.str();
}
// Each item as append(&text, item) writes it.
template <typename Items, typename Appender>
string Join(const Items& items, const char* separator, Appender append) {
  string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    append(&text, item);
    first = false;
  }
  return text;
}

// Which parts of a split text are kept.
struct AllowEmpty {
  bool operator()(StringPiece) const { return true; }
};
struct SkipEmpty {
  bool operator()(StringPiece part) const { return !part.empty(); }
};
struct SkipWhitespace {
  bool operator()(StringPiece part) const {
    return !std::all_of(part.begin(), part.end(), [](char c) { return internal::IsSpace(c); });
  }
};

// Parts between any of the separators.
template <typename Keep>
std::vector<string> Split(StringPiece text, StringPiece separators, Keep keep) {
  std::vector<string> parts;
  if (text.empty()) return parts;
  size_t from = 0;
  while (true) {
    const size_t to = text.find_first_of(separators, from);
    const StringPiece part = text.substr(from, to == StringPiece::npos ? StringPiece::npos : to - from);
    if (keep(part)) parts.push_back(part.ToString());
    if (to == StringPiece::npos) return parts;
    from = to + 1;
  }
}
template <typename Keep>
std::vector<string> Split(StringPiece text, char separator, Keep keep) {
  return Split(text, StringPiece(&separator, 1), keep);
}
inline std::vector<string> Split(StringPiece text, StringPiece separators) {
  return Split(text, separators, AllowEmpty());
}
inline std::vector<string> Split(StringPiece text, char separator) { return Split(text, separator, AllowEmpty()); }

inline bool StartsWith(StringPiece text, StringPiece prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
inline bool EndsWith(StringPiece text, StringPiece suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}
inline bool StrContains(StringPiece text, StringPiece part) { return text.find(part) != StringPiece::npos; }
inline string Lowercase(StringPiece text) {
  string result = text.ToString();
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return result;
}
inline string Uppercase(StringPiece text) {
  string result = text.ToString();
  for (char& c : result) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return result;
}
inline string StringReplace(StringPiece text, StringPiece old, StringPiece by, bool all) {
  string result = text.ToString();
  for (size_t at = 0; (at = result.find(old.data(), at, old.size())) != string::npos; at += by.size()) {
    result.replace(at, old.size(), by.data(), by.size());
    if (!all) break;
  }
  return result;
}

// -------------------------------------------------------------------------------- text that is taken from a piece

inline size_t RemoveLeadingWhitespace(StringPiece* text) {
  const size_t before = text->size();
  while (!text->empty() && internal::IsSpace(text->front())) text->remove_prefix(1);
  return before - text->size();
}
inline size_t RemoveTrailingWhitespace(StringPiece* text) {
  const size_t before = text->size();
  while (!text->empty() && internal::IsSpace(text->back())) text->remove_suffix(1);
  return before - text->size();
}
inline size_t RemoveWhitespaceContext(StringPiece* text) {
  return RemoveLeadingWhitespace(text) + RemoveTrailingWhitespace(text);
}
inline void StripTrailingWhitespace(string* text) {
  while (!text->empty() && internal::IsSpace(text->back())) text->pop_back();
}
inline bool ConsumePrefix(StringPiece* text, StringPiece prefix) {
  if (!StartsWith(*text, prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}
inline bool ConsumeSuffix(StringPiece* text, StringPiece suffix) {
  if (!EndsWith(*text, suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}
inline bool ConsumeNonWhitespace(StringPiece* text, StringPiece* word) {
  size_t length = 0;
  while (length < text->size() && !internal::IsSpace((*text)[length])) ++length;
  *word = text->substr(0, length);
  text->remove_prefix(length);
  return length > 0;
}
// The digits at the beginning; false where there are none, or too many for the type.
inline bool ConsumeLeadingDigits(StringPiece* text, uint64* value) {
  size_t length = 0;
  uint64 number = 0;
  for (; length < text->size() && internal::IsDigit((*text)[length]); ++length) {
    if (__builtin_mul_overflow(number, 10ULL, &number)) return false;
    if (__builtin_add_overflow(number, static_cast<uint64>((*text)[length] - '0'), &number)) return false;
  }
  if (length == 0) return false;
  text->remove_prefix(length);
  *value = number;
  return true;
}

// ---------------------------------------------------------------------------------------------- escapes of C

inline string CEscape(StringPiece text) {
  static const char special[] = "\n\r\t\"'\\", letters[] = "nrt\"'\\";
  string result;
  for (char c : text) {
    const char* found = c ? strchr(special, c) : nullptr;
    if (found) result += '\\', result += letters[found - special];
    else if (c >= ' ' && c <= '~') result += c;
    else strings::Appendf(&result, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace str_util

}  // namespace tensorflow

namespace std {
template <>
struct hash<tensorflow::StringPiece> {
  size_t operator()(tensorflow::StringPiece text) const { return hash<string>()(text.ToString()); }
};
}  // namespace std

#endif  // TIDEFLOW_KERNELS_TEXT_H_
