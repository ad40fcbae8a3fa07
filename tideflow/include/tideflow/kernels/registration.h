// REGISTER_OP and REGISTER_KERNEL_BUILDER: what a library of kernels brings.
#ifndef TIDEFLOW_KERNELS_REGISTRATION_H_
#define TIDEFLOW_KERNELS_REGISTRATION_H_

#include "tideflow/kernels/op_kernel.h"

namespace tensorflow {

namespace internal {

typedef std::vector<std::pair<string, string>> Words;  // what a declaration says, in order: ("input", "x: T")

struct OpDeclaration {
  Words words;
  OpShapeInferenceFn shape_function;
};
struct KernelDeclaration {
  Words words;
  std::function<OpKernel*(OpKernelConstruction*)> make;
};
struct Declarations {
  std::vector<OpDeclaration> ops;
  std::vector<KernelDeclaration> kernels;
};

// Hidden: each library has declarations of its own, also where another one is loaded beside it.
__attribute__((visibility("hidden"))) inline Declarations& LibraryDeclarations() {
  static Declarations* all = new Declarations;
  return *all;
}

}  // namespace internal

// The schema is parsed in Python (tideflow/platform/kernel_schemas.py); here it is only noted.
class OpDefBuilder {
 public:
  explicit OpDefBuilder(const string& name) { Say("op", name); }
  OpDefBuilder& Attr(const string& spec) { return Say("attr", spec); }
  OpDefBuilder& Input(const string& spec) { return Say("input", spec); }
  OpDefBuilder& Output(const string& spec) { return Say("output", spec); }
  OpDefBuilder& Doc(const string& text) { return Say("doc", text); }
  OpDefBuilder& SetIsCommutative() { return Say("trait", "commutative"); }
  OpDefBuilder& SetIsAggregate() { return Say("trait", "aggregate"); }
  OpDefBuilder& SetIsStateful() { return Say("trait", "stateful"); }
  OpDefBuilder& SetAllowsUninitializedInput() { return Say("trait", "uninitialized_ok"); }
  OpDefBuilder& Deprecated(int, const string&) { return *this; }
  OpDefBuilder& SetShapeFn(OpShapeInferenceFn function) {
    declaration_.shape_function = std::move(function);
    return *this;
  }
  const internal::OpDeclaration& declaration() const { return declaration_; }

 private:
  OpDefBuilder& Say(const char* key, const string& value) {
    declaration_.words.emplace_back(key, value);
    return *this;
  }
  internal::OpDeclaration declaration_;
};

struct OpRegistrar {
  OpRegistrar(const OpDefBuilder& builder) { internal::LibraryDeclarations().ops.push_back(builder.declaration()); }
};

#define TIDEFLOW_CONCATENATE_AGAIN(a, b) a##b
#define TIDEFLOW_CONCATENATE(a, b) TIDEFLOW_CONCATENATE_AGAIN(a, b)
#define REGISTER_OP(name)                                                                                  \
  static ::tensorflow::OpRegistrar TIDEFLOW_CONCATENATE(register_op, __COUNTER__) TF_ATTRIBUTE_UNUSED = \
      ::tensorflow::OpDefBuilder(name)
#define REGISTER_SYSTEM_OP(name) REGISTER_OP(name)

class KernelDefBuilder {
 public:
  explicit KernelDefBuilder(const char* op) { Say("kernel", op); }
  KernelDefBuilder& Device(const char* device) { return Say("device", device); }
  KernelDefBuilder& TypeConstraint(const char* attr, gtl::ArraySlice<DataType> allowed) {
    string spec = attr;
    for (DataType dtype : allowed) strings::StrAppend(&spec, " ", static_cast<int>(dtype));
    return Say("constraint", spec);
  }
  KernelDefBuilder& TypeConstraint(const char* attr, DataType allowed) {
    return TypeConstraint(attr, gtl::ArraySlice<DataType>(&allowed, 1));
  }
  template <typename T>
  KernelDefBuilder& TypeConstraint(const char* attr) { return TypeConstraint(attr, DataTypeToEnum<T>::v()); }
  KernelDefBuilder& HostMemory(const char* argument) { return Say("host", argument); }
  KernelDefBuilder& Label(const char* label) { return Say("label", label); }
  KernelDefBuilder& Priority(int32 priority) { return Say("priority", std::to_string(priority)); }
  const internal::Words& words() const { return words_; }

 private:
  KernelDefBuilder& Say(const char* key, const string& value) {
    words_.emplace_back(key, value);
    return *this;
  }
  internal::Words words_;
};

namespace register_kernel {
class Name : public KernelDefBuilder {
 public:
  using KernelDefBuilder::KernelDefBuilder;
};
}  // namespace register_kernel

struct KernelRegistrar {
  KernelRegistrar(const KernelDefBuilder& builder, std::function<OpKernel*(OpKernelConstruction*)> make) {
    internal::LibraryDeclarations().kernels.push_back({builder.words(), std::move(make)});
  }
};

#define REGISTER_KERNEL_BUILDER(kernel_builder, ...)                                                           \
  static ::tensorflow::KernelRegistrar TIDEFLOW_CONCATENATE(register_kernel, __COUNTER__) TF_ATTRIBUTE_UNUSED( \
      ::tensorflow::register_kernel::kernel_builder,                                                           \
      [](::tensorflow::OpKernelConstruction* context) -> ::tensorflow::OpKernel* { return new __VA_ARGS__(context); })
#define REGISTER_SYSTEM_KERNEL_BUILDER(kernel_builder, ...) REGISTER_KERNEL_BUILDER(kernel_builder, __VA_ARGS__)

}  // namespace tensorflow

#include "tideflow/kernels/library.h"

#endif  // TIDEFLOW_KERNELS_REGISTRATION_H_
