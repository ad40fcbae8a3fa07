// Protocol buffers, written field by field: attributes of an operation need no Python until it is finished.

#ifndef TIDEFLOW_CAPI_WIRE_H_
#define TIDEFLOW_CAPI_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string>

namespace tideflow {

// A message, as its fields are appended in any order.
class Message {
 public:
  Message& number(int field, uint64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& real(int field, float value) {
    varint(static_cast<uint64_t>(field) << 3 | 5);
    append(value);
    return *this;
  }
  Message& bytes(int field, const void* data, size_t length) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(length);
    if (length > 0) text_.append(static_cast<const char*>(data), length);
    return *this;
  }
  Message& bytes(int field, const std::string& data) { return bytes(field, data.data(), data.size()); }
  Message& message(int field, const Message& inner) { return bytes(field, inner.text_); }

  // Values of a packed field.
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
    text_.push_back(static_cast<char>(value));
  }
  void append(float value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    text_.append(raw, sizeof raw);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tideflow

#endif  // TIDEFLOW_CAPI_WIRE_H_
