// Hashes of bytes, the same as TensorFlow's, and numbers as bytes: little-endian, of variable length, in base 64.
#ifndef TIDEFLOW_KERNELS_HASHES_H_
#define TIDEFLOW_KERNELS_HASHES_H_

#include <functional>
#include <type_traits>
#include <utility>

#include "tideflow/kernels/status.h"

namespace tensorflow {

namespace port {
constexpr bool kLittleEndian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}  // namespace port

namespace core {
namespace internal {

template <typename Number>
Number Decode(const char* data) {
  Number value = 0;
  for (size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(value | static_cast<Number>(static_cast<unsigned char>(data[i])) << (8 * i));
  return value;
}
template <typename Number>
void Encode(char* to, Number value) {
  for (size_t i = 0; i < sizeof(Number); ++i) to[i] = static_cast<char>(value >> (8 * i));
}
template <typename Number>
void Put(string* to, Number value) {
  char bytes[sizeof(Number)];
  Encode(bytes, value);
  to->append(bytes, sizeof(Number));
}
template <typename Number>
bool GetVarint(StringPiece* from, Number* value) {
  uint64 number = 0;
  for (size_t i = 0; i < from->size() && 7 * i < 8 * sizeof(Number); ++i) {
    const uint64 byte = static_cast<unsigned char>((*from)[i]);
    number |= (byte & 0x7f) << (7 * i);
    if (byte & 0x80) continue;
    *value = static_cast<Number>(number);
    from->remove_prefix(i + 1);
    return true;
  }
  return false;
}

}  // namespace internal

static const int kMaxVarint32Bytes = 5, kMaxVarint64Bytes = 10;

inline uint16 DecodeFixed16(const char* data) { return internal::Decode<uint16>(data); }
inline uint32 DecodeFixed32(const char* data) { return internal::Decode<uint32>(data); }
inline uint64 DecodeFixed64(const char* data) { return internal::Decode<uint64>(data); }
inline void EncodeFixed16(char* to, uint16 value) { internal::Encode(to, value); }
inline void EncodeFixed32(char* to, uint32 value) { internal::Encode(to, value); }
inline void EncodeFixed64(char* to, uint64 value) { internal::Encode(to, value); }
inline void PutFixed16(string* to, uint16 value) { internal::Put(to, value); }
inline void PutFixed32(string* to, uint32 value) { internal::Put(to, value); }
inline void PutFixed64(string* to, uint64 value) { internal::Put(to, value); }
inline void PutVarint64(string* to, uint64 value) {
  for (; value >= 0x80; value >>= 7) *to += static_cast<char>(value | 0x80);
  *to += static_cast<char>(value);
}
inline void PutVarint32(string* to, uint32 value) { PutVarint64(to, value); }
inline bool GetVarint32(StringPiece* from, uint32* value) { return internal::GetVarint(from, value); }
inline bool GetVarint64(StringPiece* from, uint64* value) { return internal::GetVarint(from, value); }
inline int VarintLength(uint64 value) {
  int length = 1;
  while (value >>= 7) ++length;
  return length;
}

}  // namespace core

inline int Log2Floor64(uint64 n) { return n == 0 ? -1 : 63 - __builtin_clzll(n); }
inline int Log2Floor(uint32 n) { return Log2Floor64(n); }
inline int Log2Ceiling64(uint64 n) { return (n & (n - 1)) == 0 ? Log2Floor64(n) : Log2Floor64(n) + 1; }
inline int Log2Ceiling(uint32 n) { return Log2Ceiling64(n); }
inline uint64 NextPowerOfTwo64(uint64 n) { return n ? 1ULL << Log2Ceiling64(n) : 1; }
inline uint32 NextPowerOfTwo(uint32 n) { return static_cast<uint32>(NextPowerOfTwo64(n)); }

// ---------------------------------------------------------------------------------------------- Murmur hashes

inline uint32 Hash32(const char* data, size_t size, uint32 seed) {
  const uint32 factor = 0x5bd1e995;
  uint32 hash = seed ^ static_cast<uint32>(size);
  for (; size >= 4; data += 4, size -= 4) {
    uint32 word = core::DecodeFixed32(data) * factor;
    word = (word ^ word >> 24) * factor;
    hash = hash * factor ^ word;
  }
  for (size_t i = size; i-- > 0;) hash ^= static_cast<uint32>(static_cast<unsigned char>(data[i])) << (8 * i);
  if (size > 0) hash *= factor;
  hash = (hash ^ hash >> 13) * factor;
  return hash ^ hash >> 15;
}
inline uint64 Hash64(const char* data, size_t size, uint64 seed) {
  const uint64 factor = 0xc6a4a7935bd1e995ULL;
  uint64 hash = seed ^ size * factor;
  for (; size >= 8; data += 8, size -= 8) {
    uint64 word = core::DecodeFixed64(data) * factor;
    word = (word ^ word >> 47) * factor;
    hash = (hash ^ word) * factor;
  }
  for (size_t i = size; i-- > 0;) hash ^= static_cast<uint64>(static_cast<unsigned char>(data[i])) << (8 * i);
  if (size > 0) hash *= factor;
  hash = (hash ^ hash >> 47) * factor;
  return hash ^ hash >> 47;
}
inline uint64 Hash64(const char* data, size_t size) { return Hash64(data, size, 0xDECAFCAFFEULL); }
inline uint64 Hash64(const string& text) { return Hash64(text.data(), text.size()); }
inline uint64 Hash64Combine(uint64 a, uint64 b) { return a ^ (b + 0x9e3779b97f4a7800ULL + (a << 10) + (a >> 4)); }
inline uint64 Hash64CombineUnordered(uint64 a, uint64 b) { return a + b; }

template <typename T, typename = void>
struct hash {
  size_t operator()(const T& value) const { return std::hash<T>()(value); }
};
template <typename T>
struct hash<T, typename std::enable_if<std::is_enum<T>::value>::type> {
  size_t operator()(T value) const { return std::hash<uint64>()(static_cast<uint64>(value)); }
};
template <>
struct hash<string> {
  size_t operator()(const string& text) const { return Hash64(text); }
};
template <>
struct hash<StringPiece> {
  size_t operator()(StringPiece text) const { return Hash64(text.data(), text.size()); }
};
template <typename T, typename U>
struct hash<std::pair<T, U>> {
  size_t operator()(const std::pair<T, U>& both) const {
    return Hash64Combine(hash<T>()(both.first), hash<U>()(both.second));
  }
};
typedef hash<StringPiece> StringPieceHasher;

// ----------------------------------------------------------------------------------------------- fingerprints

namespace internal {

static const uint64 kFarm0 = 0xc3a5c85c97cb3127ULL, kFarm1 = 0xb492b66fbe98f273ULL, kFarm2 = 0x9ae16a3b2f90404fULL;

inline uint64 Rotate(uint64 x, int right) { return x >> right | x << (64 - right); }
inline uint64 ShiftMix(uint64 x) { return x ^ x >> 47; }
inline uint64 MixPair(uint64 u, uint64 v, uint64 factor) {
  const uint64 a = ShiftMix((u ^ v) * factor);
  return ShiftMix((v ^ a) * factor) * factor;
}

// FarmHash's Fingerprint64, which never changes.
class Farm {
 public:
  Farm(const char* data, size_t size) : data_(data), size_(size), factor_(kFarm2 + 2 * size) {}

  uint64 Hash() const {
    if (size_ > 64) return Long();
    if (size_ > 32) return To64();
    if (size_ > 16) return To32(Word(0) * kFarm1).Mixed(factor_);
    if (size_ >= 8) {
      const uint64 a = Word(0) + kFarm2, b = Word(size_ - 8);
      return MixPair(Rotate(b, 37) * factor_ + a, (Rotate(a, 25) + b) * factor_, factor_);
    }
    if (size_ >= 4) return MixPair((Half(0) << 3) + size_, Half(size_ - 4), factor_);
    if (size_ == 0) return kFarm2;
    const uint64 ends = (Byte(size_ >> 1) << 8) + Byte(0), last = (Byte(size_ - 1) << 2) + size_;
    return ShiftMix(ends * kFarm2 ^ last * kFarm0) * kFarm2;
  }

 private:
  struct Words {
    uint64 a, b;
    uint64 Mixed(uint64 factor) const { return MixPair(a, b, factor); }
  };
  uint64 Byte(size_t at) const { return static_cast<unsigned char>(data_[at]); }
  uint64 Half(size_t at) const { return core::DecodeFixed32(data_ + at); }
  uint64 Word(size_t at) const { return core::DecodeFixed64(data_ + at); }

  // What is mixed last for 17 to 32 bytes.
  Words To32(uint64 first) const {
    const uint64 b = Word(8), c = Word(size_ - 8) * factor_, d = Word(size_ - 16) * kFarm2;
    return {Rotate(first + b, 43) + Rotate(c, 30) + d, first + Rotate(b + kFarm2, 18) + c};
  }
  uint64 To64() const {
    const uint64 a = Word(0) * kFarm2;
    const Words both = To32(a);
    const uint64 y = both.a, z = both.Mixed(factor_);
    const uint64 e = Word(16) * factor_, f = Word(24);
    const uint64 g = (y + Word(size_ - 32)) * factor_, h = (z + Word(size_ - 24)) * factor_;
    return MixPair(Rotate(e + f, 43) + Rotate(g, 30) + h, e + Rotate(f + a, 18) + g, factor_);
  }
  // Two words of state with 32 bytes mixed in.
  Words Weak(size_t at, uint64 a, uint64 b) const {
    a += Word(at);
    const uint64 c = a + Word(at + 8) + Word(at + 16), last = Word(at + 24);
    return {c + last, Rotate(b + a + last, 21) + Rotate(c, 44) + a};
  }
  // Blocks of 64 bytes are mixed into a state of seven words, and the last 64 bytes once more at the end.
  uint64 Long() const {
    uint64 x = Word(0) + 81 * kFarm2, y = 81 * kFarm1 + 113, z = ShiftMix(y * kFarm2 + 113) * kFarm2;
    Words v = {0, 0}, w = {0, 0};
    const size_t rest = (size_ - 1) % 64;
    for (size_t at = 0; at < size_ - 1 - rest; at += 64) {
      x = Rotate(x + y + v.a + Word(at + 8), 37) * kFarm1 ^ w.b;
      y = Rotate(y + v.b + Word(at + 48), 42) * kFarm1 + v.a + Word(at + 40);
      z = Rotate(z + w.a, 33) * kFarm1;
      v = Weak(at, v.b * kFarm1, x + w.a);
      w = Weak(at + 32, z + w.b, y + Word(at + 16));
      std::swap(z, x);
    }
    const uint64 factor = kFarm1 + ((z & 0xff) << 1);
    const size_t at = size_ - 64;
    w.a += rest, v.a += w.a, w.a += v.a;
    x = Rotate(x + y + v.a + Word(at + 8), 37) * factor ^ w.b * 9;
    y = Rotate(y + v.b + Word(at + 48), 42) * factor + v.a * 9 + Word(at + 40);
    z = Rotate(z + w.a, 33) * factor;
    v = Weak(at, v.b * factor, x + w.a);
    w = Weak(at + 32, z + w.b, y + Word(at + 16));
    return MixPair(MixPair(v.a, w.a, factor) + ShiftMix(y) * kFarm0 + x, MixPair(v.b, w.b, factor) + z, factor);
  }

  const char* data_;
  size_t size_;
  uint64 factor_;
};

}  // namespace internal

inline uint64 Fingerprint64(StringPiece text) { return internal::Farm(text.data(), text.size()).Hash(); }
inline uint64 FingerprintCat64(uint64 a, uint64 b) {
  const uint64 factor = 0xc6a4a7935bd1e995ULL;
  const uint64 both = ((a ^ factor) ^ internal::ShiftMix(b * factor) * factor) * factor;
  return internal::ShiftMix(internal::ShiftMix(both) * factor);
}

// ---------------------------------------------------------------------------------------------------- base 64

namespace internal {
// Of the kind that is safe in addresses and names of files.
inline StringPiece Digits64() { return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"; }
}  // namespace internal

inline Status Base64Encode(StringPiece data, bool with_padding, string* encoded) {
  string result;
  for (size_t i = 0; i < data.size(); i += 3) {
    const size_t count = std::min<size_t>(3, data.size() - i);
    uint32 bits = 0;
    for (size_t k = 0; k < count; ++k) bits |= static_cast<uint32>(static_cast<unsigned char>(data[i + k])) << (16 - 8 * k);
    for (size_t k = 0; k <= count; ++k) result += internal::Digits64()[bits >> (18 - 6 * k) & 63];
    if (with_padding) result.append(3 - count, '=');
  }
  *encoded = result;
  return Status::OK();
}
inline Status Base64Encode(StringPiece data, string* encoded) { return Base64Encode(data, false, encoded); }
inline Status Base64Decode(StringPiece data, string* decoded) {
  if (data.size() % 4 == 0)
    for (int padding = 0; padding < 2; ++padding) str_util::ConsumeSuffix(&data, "=");
  string result;
  uint32 bits = 0;
  int known = 0;
  for (char c : data) {
    const size_t digit = internal::Digits64().find(c);
    if (digit == StringPiece::npos) return errors::InvalidArgument("Invalid character found in base64.");
    bits = bits << 6 | static_cast<uint32>(digit);
    if ((known += 6) < 8) continue;
    known -= 8;
    result += static_cast<char>(bits >> known);
  }
  if (data.size() % 4 == 1)
    return errors::InvalidArgument("Base64 string length cannot be 1 modulo 4: ", data.size());
  *decoded = result;
  return Status::OK();
}

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_HASHES_H_
