// Element types of tensors: TensorFlow's names and numbers, for C++.
#ifndef TIDEFLOW_KERNELS_TYPES_H_
#define TIDEFLOW_KERNELS_TYPES_H_

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#ifdef __CUDACC__
#define TIDEFLOW_ON_DEVICE __host__ __device__
#else
#define TIDEFLOW_ON_DEVICE
#endif

namespace Eigen {

// Numbers of 16 bits are stored so, and computed with as floats of 32 bits.
struct half_bits {
  enum : uint16_t { kLeast = 0x0400, kLargest = 0x7bff, kEpsilon = 0x0800 };  // as Eigen has it
  TIDEFLOW_ON_DEVICE static uint16_t from(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits >= 0x47800000u) return sign | (bits > 0x7f800000u ? 0x7e00u : 0x7c00u);  // NaN, or too large
    if (bits < 0x38800000u) {  // subnormal: a float does the rounding
      const uint32_t magic = 0x3f000000u;
      float shifted, half_ulp;
      memcpy(&shifted, &bits, 4);
      memcpy(&half_ulp, &magic, 4);
      shifted += half_ulp;
      memcpy(&bits, &shifted, 4);
      return sign | static_cast<uint16_t>(bits - magic);
    }
    bits += 0xc8000fffu + ((bits >> 13) & 1u);
    return sign | static_cast<uint16_t>(bits >> 13);
  }
  TIDEFLOW_ON_DEVICE static float to(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 0x1fu, fraction = half & 0x3ffu;
    float value;
    uint32_t bits;
    if (exponent == 0) {
      value = static_cast<float>(fraction) * 5.9604644775390625e-8f;
      memcpy(&bits, &value, 4);
      bits |= sign;
    } else {
      bits = sign | ((exponent == 31 ? 255u : exponent + 112u) << 23) | (fraction << 13);
    }
    memcpy(&value, &bits, 4);
    return value;
  }
};

struct bfloat16_bits {
  enum : uint16_t { kLeast = 0x0080, kLargest = 0x7f7f, kEpsilon = 0x3c00 };
  TIDEFLOW_ON_DEVICE static uint16_t from(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (value != value) return 0x7fc0u;
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
  TIDEFLOW_ON_DEVICE static float to(uint16_t stored) {
    const uint32_t bits = static_cast<uint32_t>(stored) << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
};

template <typename Bits>
struct Float16 {
  uint16_t x;
  TIDEFLOW_ON_DEVICE Float16() : x(0) {}
  template <typename Number>
  TIDEFLOW_ON_DEVICE explicit Float16(Number value) : x(Bits::from(static_cast<float>(value))) {}
  TIDEFLOW_ON_DEVICE operator float() const { return Bits::to(x); }
  TIDEFLOW_ON_DEVICE Float16& operator+=(Float16 other) { return *this = *this + other; }
  TIDEFLOW_ON_DEVICE Float16& operator-=(Float16 other) { return *this = *this - other; }
  TIDEFLOW_ON_DEVICE Float16& operator*=(Float16 other) { return *this = *this * other; }
  TIDEFLOW_ON_DEVICE Float16& operator/=(Float16 other) { return *this = *this / other; }
  friend TIDEFLOW_ON_DEVICE Float16 operator+(Float16 a, Float16 b) { return Float16(float(a) + float(b)); }
  friend TIDEFLOW_ON_DEVICE Float16 operator-(Float16 a, Float16 b) { return Float16(float(a) - float(b)); }
  friend TIDEFLOW_ON_DEVICE Float16 operator*(Float16 a, Float16 b) { return Float16(float(a) * float(b)); }
  friend TIDEFLOW_ON_DEVICE Float16 operator/(Float16 a, Float16 b) { return Float16(float(a) / float(b)); }
  friend TIDEFLOW_ON_DEVICE Float16 operator-(Float16 a) { return Float16(-float(a)); }
};

// Functions of 16 bits give 16 bits: C++'s own would make them double.
#define TIDEFLOW_FUNCTION_OF_16_BITS(name)                          \
  template <typename Bits>                                          \
  TIDEFLOW_ON_DEVICE Float16<Bits> name(Float16<Bits> a) {          \
    return Float16<Bits>(std::name(static_cast<float>(a)));         \
  }
TIDEFLOW_FUNCTION_OF_16_BITS(abs)
TIDEFLOW_FUNCTION_OF_16_BITS(ceil)
TIDEFLOW_FUNCTION_OF_16_BITS(cos)
TIDEFLOW_FUNCTION_OF_16_BITS(exp)
TIDEFLOW_FUNCTION_OF_16_BITS(expm1)
TIDEFLOW_FUNCTION_OF_16_BITS(floor)
TIDEFLOW_FUNCTION_OF_16_BITS(log)
TIDEFLOW_FUNCTION_OF_16_BITS(log10)
TIDEFLOW_FUNCTION_OF_16_BITS(log1p)
TIDEFLOW_FUNCTION_OF_16_BITS(round)
TIDEFLOW_FUNCTION_OF_16_BITS(sin)
TIDEFLOW_FUNCTION_OF_16_BITS(sqrt)
TIDEFLOW_FUNCTION_OF_16_BITS(tan)
TIDEFLOW_FUNCTION_OF_16_BITS(tanh)
#undef TIDEFLOW_FUNCTION_OF_16_BITS

template <typename Bits>
TIDEFLOW_ON_DEVICE Float16<Bits> pow(Float16<Bits> a, Float16<Bits> b) {
  return Float16<Bits>(std::pow(static_cast<float>(a), static_cast<float>(b)));
}

typedef Float16<half_bits> half;
typedef Float16<bfloat16_bits> bfloat16;

}  // namespace Eigen

namespace tensorflow {

typedef signed char int8;
typedef short int16;
typedef int int32;
typedef long long int64;
typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef std::complex<float> complex64;
typedef std::complex<double> complex128;
typedef Eigen::half half;
typedef Eigen::bfloat16 bfloat16;
typedef std::string string;
typedef std::string tstring;

// Quantized numbers are integers, of which only an op knows the scale.
template <typename Integer>
struct Quantized {
  Integer value;
  Quantized() : value(0) {}
  Quantized(Integer number) : value(number) {}
  operator Integer() const { return value; }
};
typedef Quantized<int8> qint8;
typedef Quantized<uint8> quint8;
typedef Quantized<int16> qint16;
typedef Quantized<uint16> quint16;
typedef Quantized<int32> qint32;

enum DataType : int {  // and 100 more for a reference to a tensor of the type
  DT_INVALID = 0,
  DT_FLOAT = 1,
  DT_DOUBLE = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 5,
  DT_INT8 = 6,
  DT_STRING = 7,
  DT_COMPLEX64 = 8,
  DT_INT64 = 9,
  DT_BOOL = 10,
  DT_QINT8 = 11,
  DT_QUINT8 = 12,
  DT_QINT32 = 13,
  DT_BFLOAT16 = 14,
  DT_QINT16 = 15,
  DT_QUINT16 = 16,
  DT_UINT16 = 17,
  DT_COMPLEX128 = 18,
  DT_HALF = 19,
  DT_RESOURCE = 20,
  DT_VARIANT = 21,
  DT_UINT32 = 22,
  DT_UINT64 = 23
};

inline bool IsRefType(DataType dtype) { return dtype > 100; }
inline DataType MakeRefType(DataType dtype) { return static_cast<DataType>(dtype + 100); }
inline DataType RemoveRefType(DataType dtype) { return static_cast<DataType>(dtype - 100); }
inline DataType BaseType(DataType dtype) { return IsRefType(dtype) ? RemoveRefType(dtype) : dtype; }

namespace gtl {

// A vector that TensorFlow keeps in place while it is short; here it is a vector.
template <typename T, int N = 4>
class InlinedVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  InlinedVector() {}
  InlinedVector(const std::vector<T>& other) : std::vector<T>(other) {}
};

// Elements that somebody else owns.
template <typename T>
class ArraySlice {
 public:
  typedef const T* const_iterator;
  typedef T value_type;
  ArraySlice() : data_(nullptr), size_(0) {}
  ArraySlice(const T* data, size_t size) : data_(data), size_(size) {}
  ArraySlice(const std::vector<T>& all) : data_(all.data()), size_(all.size()) {}
  ArraySlice(std::initializer_list<T> all) : size_(all.size()) { data_ = all.begin(); }  // for one call
  template <size_t N>
  ArraySlice(const T (&all)[N]) : data_(all), size_(N) {}
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  std::vector<T> vector() const { return std::vector<T>(begin(), end()); }
  operator std::vector<T>() const { return vector(); }

 private:
  const T* data_;
  size_t size_;
};

}  // namespace gtl

typedef gtl::InlinedVector<DataType, 4> DataTypeVector;
typedef gtl::ArraySlice<DataType> DataTypeSlice;

enum MemoryType { DEVICE_MEMORY = 0, HOST_MEMORY = 1 };

struct DeviceType {
  DeviceType(const char* name) : type(name) {}
  explicit DeviceType(const string& name) : type(name) {}
  const char* type_string() const { return type.c_str(); }
  const string& type_name() const { return type; }
  bool operator==(const DeviceType& other) const { return type == other.type; }
  bool operator!=(const DeviceType& other) const { return type != other.type; }
  string type;
};
static const int8 kint8min = -128, kint8max = 127;
static const int32 kint32min = -2147483647 - 1, kint32max = 2147483647;
static const int64 kint64min = -9223372036854775807LL - 1, kint64max = 9223372036854775807LL;
static const char* const DEVICE_CPU = "CPU";
static const char* const DEVICE_GPU = "GPU";
static const char* const DEVICE_DEFAULT = "DEFAULT";

// The name of a resource: of an object of C++ in a container of the session, or of a variable.
class ResourceHandle {
 public:
  const string& device() const { return device_; }
  void set_device(const string& device) { device_ = device; }
  const string& container() const { return container_; }
  void set_container(const string& container) { container_ = container; }
  const string& name() const { return name_; }
  void set_name(const string& name) { name_ = name; }
  uint64 hash_code() const { return hash_code_; }
  void set_hash_code(uint64 hash_code) { hash_code_ = hash_code; }
  const string& maybe_type_name() const { return maybe_type_name_; }
  void set_maybe_type_name(const string& name) { maybe_type_name_ = name; }
  string DebugString() const {
    return "device: " + device_ + " container: " + container_ + " name: " + name_ +
           " hash_code: " + std::to_string(hash_code_) + " maybe_type_name: " + maybe_type_name_;
  }

 private:
  string device_, container_, name_, maybe_type_name_;
  uint64 hash_code_ = 0;
};

template <typename T>
struct DataTypeToEnum;
template <DataType>
struct EnumToDataType;

#define TIDEFLOW_TYPES(m)                                                                                     \
  m(float, DT_FLOAT) m(double, DT_DOUBLE) m(int32, DT_INT32) m(uint8, DT_UINT8) m(int16, DT_INT16)            \
  m(int8, DT_INT8) m(string, DT_STRING) m(complex64, DT_COMPLEX64) m(int64, DT_INT64) m(bool, DT_BOOL)        \
  m(qint8, DT_QINT8) m(quint8, DT_QUINT8) m(qint32, DT_QINT32) m(bfloat16, DT_BFLOAT16)                       \
  m(qint16, DT_QINT16) m(quint16, DT_QUINT16) m(uint16, DT_UINT16) m(complex128, DT_COMPLEX128)               \
  m(half, DT_HALF) m(uint32, DT_UINT32) m(uint64, DT_UINT64)

#define TIDEFLOW_TO_ENUM(TYPE, ENUM)                       \
  template <>                                              \
  struct DataTypeToEnum<TYPE> {                            \
    static DataType v() { return ENUM; }                   \
    static DataType ref() { return DataType(ENUM + 100); } \
    static constexpr DataType value = ENUM;                \
  };
#define TIDEFLOW_TO_TYPE(TYPE, ENUM) \
  template <>                        \
  struct EnumToDataType<ENUM> {      \
    typedef TYPE Type;               \
  };
TIDEFLOW_TYPES(TIDEFLOW_TO_ENUM)
TIDEFLOW_TYPES(TIDEFLOW_TO_TYPE)
TIDEFLOW_TO_ENUM(ResourceHandle, DT_RESOURCE)
TIDEFLOW_TO_TYPE(ResourceHandle, DT_RESOURCE)
TIDEFLOW_TO_ENUM(long, DT_INT64)  // int64_t, where it is not long long
TIDEFLOW_TO_ENUM(unsigned long, DT_UINT64)

inline size_t DataTypeSize(DataType dtype) {
  switch (dtype) {
#define TIDEFLOW_SIZE(TYPE, ENUM) \
  case ENUM:                      \
    return ENUM == DT_STRING ? 0 : sizeof(TYPE);
    TIDEFLOW_TYPES(TIDEFLOW_SIZE)
#undef TIDEFLOW_SIZE
    default:
      return 0;
  }
}

inline string DataTypeString(DataType dtype) {
  static const char* const names[] = {"invalid",   "float",  "double", "int32",   "uint8",    "int16",
                                      "int8",      "string", "complex64", "int64", "bool",    "qint8",
                                      "quint8",    "qint32", "bfloat16", "qint16", "quint16", "uint16",
                                      "complex128", "half",  "resource", "variant", "uint32", "uint64"};
  const int number = static_cast<int>(dtype);
  if (number > 100 && number < 124) return string(names[number - 100]) + "_ref";
  return number >= 0 && number < 24 ? names[number] : "unrecognized type enum: " + std::to_string(number);
}

inline bool DataTypeIsFloating(DataType dtype) {
  return dtype == DT_FLOAT || dtype == DT_DOUBLE || dtype == DT_HALF || dtype == DT_BFLOAT16;
}
inline bool DataTypeIsComplex(DataType dtype) { return dtype == DT_COMPLEX64 || dtype == DT_COMPLEX128; }
inline bool DataTypeIsInteger(DataType dtype) {
  switch (dtype) {
    case DT_INT8: case DT_UINT8: case DT_INT16: case DT_UINT16: case DT_INT32: case DT_UINT32: case DT_INT64:
    case DT_UINT64:
      return true;
    default:
      return false;
  }
}

}  // namespace tensorflow

// The kernels of many types in one line: TF_CALL_REAL_NUMBER_TYPES(REGISTER_KERNEL);
#define TF_CALL_float(m) m(float)
#define TF_CALL_double(m) m(double)
#define TF_CALL_int32(m) m(::tensorflow::int32)
#define TF_CALL_uint32(m) m(::tensorflow::uint32)
#define TF_CALL_uint8(m) m(::tensorflow::uint8)
#define TF_CALL_int16(m) m(::tensorflow::int16)
#define TF_CALL_int8(m) m(::tensorflow::int8)
#define TF_CALL_string(m) m(::tensorflow::string)
#define TF_CALL_tstring(m) m(::tensorflow::string)
#define TF_CALL_complex64(m) m(::tensorflow::complex64)
#define TF_CALL_int64(m) m(::tensorflow::int64)
#define TF_CALL_uint64(m) m(::tensorflow::uint64)
#define TF_CALL_bool(m) m(bool)
#define TF_CALL_qint8(m) m(::tensorflow::qint8)
#define TF_CALL_quint8(m) m(::tensorflow::quint8)
#define TF_CALL_qint32(m) m(::tensorflow::qint32)
#define TF_CALL_bfloat16(m) m(::tensorflow::bfloat16)
#define TF_CALL_qint16(m) m(::tensorflow::qint16)
#define TF_CALL_quint16(m) m(::tensorflow::quint16)
#define TF_CALL_uint16(m) m(::tensorflow::uint16)
#define TF_CALL_complex128(m) m(::tensorflow::complex128)
#define TF_CALL_half(m) m(::Eigen::half)

#define TF_CALL_INTEGRAL_TYPES(m) \
  TF_CALL_int64(m) TF_CALL_int32(m) TF_CALL_uint16(m) TF_CALL_int16(m) TF_CALL_uint8(m) TF_CALL_int8(m)
#define TF_CALL_FLOAT_TYPES(m) TF_CALL_half(m) TF_CALL_bfloat16(m) TF_CALL_float(m) TF_CALL_double(m)
#define TF_CALL_REAL_NUMBER_TYPES(m) TF_CALL_INTEGRAL_TYPES(m) TF_CALL_FLOAT_TYPES(m)
#define TF_CALL_REAL_NUMBER_TYPES_NO_BFLOAT16(m) \
  TF_CALL_INTEGRAL_TYPES(m) TF_CALL_half(m) TF_CALL_float(m) TF_CALL_double(m)
#define TF_CALL_REAL_NUMBER_TYPES_NO_INT32(m)                                                               \
  TF_CALL_half(m) TF_CALL_bfloat16(m) TF_CALL_float(m) TF_CALL_double(m) TF_CALL_int64(m) TF_CALL_uint16(m) \
      TF_CALL_int16(m) TF_CALL_uint8(m) TF_CALL_int8(m)
#define TF_CALL_COMPLEX_TYPES(m) TF_CALL_complex64(m) TF_CALL_complex128(m)
#define TF_CALL_NUMBER_TYPES(m) TF_CALL_REAL_NUMBER_TYPES(m) TF_CALL_COMPLEX_TYPES(m)
#define TF_CALL_NUMBER_TYPES_NO_INT32(m) TF_CALL_REAL_NUMBER_TYPES_NO_INT32(m) TF_CALL_COMPLEX_TYPES(m)
#define TF_CALL_POD_TYPES(m) TF_CALL_NUMBER_TYPES(m) TF_CALL_bool(m)
#define TF_CALL_POD_STRING_TYPES(m) TF_CALL_POD_TYPES(m) TF_CALL_string(m)
#define TF_CALL_ALL_TYPES(m) TF_CALL_POD_STRING_TYPES(m)
#define TF_CALL_QUANTIZED_TYPES(m) TF_CALL_qint8(m) TF_CALL_quint8(m) TF_CALL_qint32(m)
#define TF_CALL_GPU_NUMBER_TYPES(m) TF_CALL_half(m) TF_CALL_float(m) TF_CALL_double(m)
#define TF_CALL_GPU_NUMBER_TYPES_NO_HALF(m) TF_CALL_float(m) TF_CALL_double(m)

#endif  // TIDEFLOW_KERNELS_TYPES_H_
