// The attributes of a node, as Python sends them (tideflow/platform/kernel_messages.py writes the messages).
#ifndef TIDEFLOW_KERNELS_ATTRIBUTES_H_
#define TIDEFLOW_KERNELS_ATTRIBUTES_H_

#include <map>

#include "tideflow/kernels/tensor.h"

namespace tensorflow {
namespace internal {

// Reads a message: integers and floats of 8 bytes, and bytes after their number.
class MessageReader {
 public:
  MessageReader(const char* data, size_t size) : at_(data), end_(data + size) {}
  int64 Number() { return Plain<int64>(); }
  double Real() { return Plain<double>(); }
  string Bytes() {
    const size_t size = static_cast<size_t>(Number());
    CHECK(size <= static_cast<size_t>(end_ - at_)) << "a message ends early";
    at_ += size;
    return string(at_ - size, size);
  }
  std::vector<int64> Numbers() {
    std::vector<int64> all(static_cast<size_t>(Number()));
    for (int64& each : all) each = Number();
    return all;
  }
  PartialTensorShape Shape() {
    const bool known = Number() != 0;
    const std::vector<int64> sizes = Numbers();
    return known ? PartialTensorShape(sizes) : PartialTensorShape();
  }
  Tensor Value() {
    const DataType dtype = static_cast<DataType>(Number());
    Tensor tensor(dtype, TensorShape(Numbers()));
    if (dtype == DT_STRING) {
      for (string& text : tensor.buffer()->strings) text = Bytes();
      return tensor;
    }
    const string bytes = Bytes();
    CHECK_EQ(bytes.size(), tensor.TotalBytes());
    memcpy(tensor.data(), bytes.data(), bytes.size());
    return tensor;
  }

 private:
  template <typename T>
  T Plain() {
    CHECK(end_ - at_ >= static_cast<ptrdiff_t>(sizeof(T))) << "a message ends early";
    T value;
    memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  const char *at_, *end_;
};

struct Attribute {
  string kind;  // "int", "list(shape)"
  std::vector<int64> numbers;  // of ints, bools and types
  std::vector<double> reals;
  std::vector<string> strings;  // and names of functions
  std::vector<PartialTensorShape> shapes;
  std::vector<Tensor> tensors;

  static Attribute Read(MessageReader* in) {
    Attribute attribute;
    attribute.kind = in->Bytes();
    const string each = attribute.Element();
    for (int64 left = in->Number(); left > 0; --left) {
      if (each == "float") attribute.reals.push_back(in->Real());
      else if (each == "string" || each == "func") attribute.strings.push_back(in->Bytes());
      else if (each == "shape") attribute.shapes.push_back(in->Shape());
      else if (each == "tensor") attribute.tensors.push_back(in->Value());
      else attribute.numbers.push_back(in->Number());
    }
    return attribute;
  }
  bool IsList() const { return str_util::StartsWith(kind, "list("); }
  string Element() const { return IsList() ? kind.substr(5, kind.size() - 6) : kind; }
};

// How a C++ type takes an attribute's value: the kind that it needs, and element i of it.
template <typename T>
struct AttributeAs;
#define TIDEFLOW_ATTRIBUTE(TYPE, KIND, expression)                                      \
  template <>                                                                           \
  struct AttributeAs<TYPE> {                                                            \
    static const char* Kind() { return KIND; }                                          \
    static Status Take(const Attribute& from, size_t i, const string& name, TYPE* to) { \
      (void)name;                                                                       \
      expression;                                                                       \
      return Status::OK();                                                              \
    }                                                                                   \
  };
TIDEFLOW_ATTRIBUTE(int64, "int", *to = from.numbers[i])
TIDEFLOW_ATTRIBUTE(long, "int", *to = static_cast<long>(from.numbers[i]))
TIDEFLOW_ATTRIBUTE(int32, "int", *to = static_cast<int32>(from.numbers[i]);
                   if (*to != from.numbers[i]) return errors::InvalidArgument(
                       "Attr ", name, " has value ", from.numbers[i], " out of range for an int32"))
TIDEFLOW_ATTRIBUTE(bool, "bool", *to = from.numbers[i] != 0)
TIDEFLOW_ATTRIBUTE(float, "float", *to = static_cast<float>(from.reals[i]))
TIDEFLOW_ATTRIBUTE(string, "string", *to = from.strings[i])
TIDEFLOW_ATTRIBUTE(DataType, "type", *to = static_cast<DataType>(from.numbers[i]))
TIDEFLOW_ATTRIBUTE(PartialTensorShape, "shape", *to = from.shapes[i])
TIDEFLOW_ATTRIBUTE(TensorShape, "shape", if (!from.shapes[i].AsTensorShape(to)) return errors::InvalidArgument(
                       "Attr ", name, " is the shape ", from.shapes[i].DebugString(), ", which is not fully known"))
TIDEFLOW_ATTRIBUTE(Tensor, "tensor", *to = from.tensors[i])
#undef TIDEFLOW_ATTRIBUTE

class Attributes {
 public:
  void Read(MessageReader* in) {
    for (int64 left = in->Number(); left > 0; --left) {
      const string name = in->Bytes();
      all_[name] = Attribute::Read(in);
    }
  }
  bool Has(StringPiece name) const { return all_.count(name.ToString()) > 0; }

  template <typename T>
  Status Get(StringPiece name, T* value) const {
    const Attribute* found = nullptr;
    TF_RETURN_IF_ERROR(Find(name, AttributeAs<T>::Kind(), &found));
    return AttributeAs<T>::Take(*found, 0, name.ToString(), value);
  }
  template <typename T>
  Status Get(StringPiece name, std::vector<T>* values) const {
    const Attribute* found = nullptr;
    const string kind = string("list(") + AttributeAs<T>::Kind() + ")";
    TF_RETURN_IF_ERROR(Find(name, kind, &found));
    values->clear();
    const size_t count = found->numbers.size() + found->reals.size() + found->strings.size() +
                         found->shapes.size() + found->tensors.size();
    for (size_t i = 0; i < count; ++i) {
      T value;
      TF_RETURN_IF_ERROR(AttributeAs<T>::Take(*found, i, name.ToString(), &value));
      values->push_back(value);
    }
    return Status::OK();
  }

  template <typename T, int N>
  Status Get(StringPiece name, gtl::InlinedVector<T, N>* values) const {
    return Get(name, static_cast<std::vector<T>*>(values));
  }

 private:
  Status Find(StringPiece name, const string& kind, const Attribute** found) const {
    const auto entry = all_.find(name.ToString());
    if (entry == all_.end()) return errors::NotFound("No attr named '", name, "' in NodeDef:");
    if (entry->second.kind != kind)
      return errors::InvalidArgument("AttrValue had value with type '", entry->second.kind, "' when '", kind,
                                     "' expected\n\t for attr '", name, "'");
    *found = &entry->second;
    return Status::OK();
  }

  std::map<string, Attribute> all_;
};

}  // namespace internal
}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_ATTRIBUTES_H_
