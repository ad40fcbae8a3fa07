// How kernels make, find and delete the resources behind handles.
#ifndef TIDEFLOW_KERNELS_RESOURCE_KERNELS_H_
#define TIDEFLOW_KERNELS_RESOURCE_KERNELS_H_

#include "tideflow/kernels/registration.h"

namespace tensorflow {

inline ResourceHandle MakeResourceHandle(OpKernelContext* context, const string& container, const string& name,
                                         const TypeIndex& type) {
  ResourceHandle handle;
  handle.set_device("/device:" + context->op_kernel().node().device + ":" +
                    std::to_string(context->op_kernel().node().device_id));
  handle.set_container(container.empty() ? context->resource_manager()->default_container() : container);
  handle.set_name(name);
  handle.set_hash_code(type.hash_code());
  handle.set_maybe_type_name(type.name());
  return handle;
}
template <typename T>
ResourceHandle MakeResourceHandle(OpKernelContext* context, const string& container, const string& name) {
  return MakeResourceHandle(context, container, name, MakeTypeIndex<T>());
}
inline Status MakeResourceHandleToOutput(OpKernelContext* context, int output, const string& container,
                                         const string& name, const TypeIndex& type) {
  Tensor* handle;
  TF_RETURN_IF_ERROR(context->allocate_output(output, TensorShape({}), &handle));
  handle->scalar<ResourceHandle>()() = MakeResourceHandle(context, container, name, type);
  return Status::OK();
}

inline const ResourceHandle& HandleFromInput(OpKernelContext* context, int input) {
  return context->input(input).flat<ResourceHandle>()(0);
}
inline Status HandleFromInput(OpKernelContext* context, StringPiece input, ResourceHandle* handle) {
  const Tensor* tensor;
  TF_RETURN_IF_ERROR(context->input(input, &tensor));
  *handle = tensor->flat<ResourceHandle>()(0);
  return Status::OK();
}

namespace internal {

inline Status CheckType(const ResourceHandle& handle, const TypeIndex& type) {
  if (handle.maybe_type_name() == type.name()) return Status::OK();
  return errors::InvalidArgument("Trying to access resource using the wrong type. Expected ", handle.maybe_type_name(),
                                 " got ", type.name());
}

// The objects behind handles are the session's, but for variables, which are the step's.
template <typename T>
struct Behind {
  static Status Find(OpKernelContext* context, const ResourceHandle& handle, T** value) {
    return context->resource_manager()->template Lookup<T>(handle.container(), handle.name(), value);
  }
  static Status Add(OpKernelContext* context, const ResourceHandle& handle, T* value) {
    return context->resource_manager()->Create(handle.container(), handle.name(), value);
  }
  static Status FindOrAdd(OpKernelContext* context, const ResourceHandle& handle, T** value,
                          std::function<Status(T**)> creator) {
    return context->resource_manager()->template LookupOrCreate<T>(handle.container(), handle.name(), value, creator);
  }
};
template <>
struct Behind<Var> {
  static Status Find(OpKernelContext* context, const ResourceHandle& handle, Var** value) {
    OpKernelContext::Variable* found = context->FindVariable(handle);
    if (!found || !found->var)
      return errors::NotFound("Resource ", handle.container(), "/", handle.name(), "/", MakeTypeIndex<Var>().name(),
                              " does not exist.");
    *value = found->var.get();
    (*value)->Ref();
    return Status::OK();
  }
  static Status Add(OpKernelContext* context, const ResourceHandle& handle, Var* value) {
    OpKernelContext::Variable* found = context->FindVariable(handle);
    if (!found) return errors::NotFound("No variable ", handle.name(), " among the inputs");
    found->var.reset(value);
    return Status::OK();
  }
  static Status FindOrAdd(OpKernelContext* context, const ResourceHandle& handle, Var** value,
                          std::function<Status(Var**)> creator) {
    *value = nullptr;
    if (Find(context, handle, value).ok()) return Status::OK();
    TF_RETURN_IF_ERROR(creator(value));
    (*value)->Ref();
    return Add(context, handle, *value);
  }
};

}  // namespace internal

template <typename T>
Status CreateResource(OpKernelContext* context, const ResourceHandle& handle, T* value) {
  TF_RETURN_IF_ERROR(internal::CheckType(handle, MakeTypeIndex<T>()));
  return internal::Behind<T>::Add(context, handle, value);
}
template <typename T, bool use_dynamic_cast = false>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle, T** value) {
  TF_RETURN_IF_ERROR(internal::CheckType(handle, MakeTypeIndex<T>()));
  return internal::Behind<T>::Find(context, handle, value);
}
template <typename T>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle, core::RefCountPtr<T>* value) {
  T* found = nullptr;
  TF_RETURN_IF_ERROR(LookupResource<T>(context, handle, &found));
  value->reset(found);
  return Status::OK();
}
template <typename T>
Status LookupOrCreateResource(OpKernelContext* context, const ResourceHandle& handle, T** value,
                              std::function<Status(T**)> creator) {
  TF_RETURN_IF_ERROR(internal::CheckType(handle, MakeTypeIndex<T>()));
  return internal::Behind<T>::FindOrAdd(context, handle, value, creator);
}
template <typename T>
Status LookupOrCreateResource(OpKernelContext* context, const ResourceHandle& handle, core::RefCountPtr<T>* value,
                              std::function<Status(T**)> creator) {
  T* found = nullptr;
  TF_RETURN_IF_ERROR(LookupOrCreateResource<T>(context, handle, &found, creator));
  value->reset(found);
  return Status::OK();
}
inline Status DeleteResource(OpKernelContext* context, const ResourceHandle& handle) {
  return context->resource_manager()->Delete(handle);
}
template <typename T>
Status DeleteResource(OpKernelContext* context, const ResourceHandle& handle) {
  TF_RETURN_IF_ERROR(internal::CheckType(handle, MakeTypeIndex<T>()));
  return DeleteResource(context, handle);
}

// The container and the name of a kernel's resource, by its attributes `container` and `shared_name`. Without
// a shared name the resource is the kernel's own.
class ContainerInfo {
 public:
  Status Init(ResourceMgr* manager, const NodeDef& node, bool use_node_name_as_default = false) {
    static std::atomic<int64> count{0};
    manager_ = manager;
    string container, shared;
    TF_RETURN_IF_ERROR(GetNodeAttr(node, "container", &container));
    TF_RETURN_IF_ERROR(GetNodeAttr(node, "shared_name", &shared));
    container_ = container.empty() ? manager->default_container() : container;
    private_ = shared.empty() && !use_node_name_as_default;
    if (!shared.empty() && shared[0] == '_')
      return errors::InvalidArgument("shared_name cannot start with '_':", shared);
    name_ = !shared.empty() ? shared : private_ ? strings::StrCat("_", count++, "_", node.name()) : node.name();
    return Status::OK();
  }
  ResourceMgr* resource_manager() const { return manager_; }
  const string& container() const { return container_; }
  const string& name() const { return name_; }
  bool resource_is_private_to_kernel() const { return private_; }
  string DebugString() const {
    return strings::StrCat("[", container_, ",", name_, ",", private_ ? "private" : "public", "]");
  }

 private:
  ResourceMgr* manager_ = nullptr;
  string container_, name_;
  bool private_ = false;
};

// A kernel that makes a resource at its first step, and gives its handle out.
template <typename T>
class ResourceOpKernel : public OpKernel {
 public:
  explicit ResourceOpKernel(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES(context, context->output_type(0) == DT_RESOURCE,
                errors::Unimplemented(context->def().op(), " gives out a handle of type ",
                                      DataTypeString(context->output_type(0)), ": declare its output as a resource"));
  }
  ~ResourceOpKernel() override {
    if (!resource_) return;
    resource_->Unref();
    if (cinfo_.resource_is_private_to_kernel())
      cinfo_.resource_manager()->template Delete<T>(cinfo_.container(), cinfo_.name()).IgnoreError();
  }

  void Compute(OpKernelContext* context) override {
    mutex_lock lock(mu_);
    if (!resource_) {
      OP_REQUIRES_OK(context, cinfo_.Init(context->resource_manager(), def()));
      T* found = nullptr;
      OP_REQUIRES_OK(context, context->resource_manager()->template LookupOrCreate<T>(
                                  cinfo_.container(), cinfo_.name(), &found, [this](T** made) {
                                    const Status status = CreateResource(made);
                                    if (!status.ok() && *made) (*made)->Unref();
                                    return status;
                                  }));
      const Status verified = VerifyResource(found);
      if (!verified.ok()) found->Unref();
      OP_REQUIRES_OK(context, verified);
      resource_ = found;
    }
    OP_REQUIRES_OK(context, MakeResourceHandleToOutput(context, 0, cinfo_.container(), cinfo_.name(), MakeTypeIndex<T>()));
  }

 protected:
  mutex mu_;
  ContainerInfo cinfo_;
  T* resource_ = nullptr;

 private:
  virtual Status CreateResource(T** resource) = 0;
  virtual Status VerifyResource(T*) { return Status::OK(); }
};

// A kernel that gives out the handle of a resource that another kernel makes.
template <typename T>
class ResourceHandleOp : public OpKernel {
 public:
  explicit ResourceHandleOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("container", &container_));
    OP_REQUIRES_OK(context, context->GetAttr("shared_name", &name_));
  }
  void Compute(OpKernelContext* context) override {
    OP_REQUIRES_OK(context, MakeResourceHandleToOutput(context, 0, container_, name_, MakeTypeIndex<T>()));
  }
  bool IsExpensive() override { return false; }

 private:
  string container_, name_;
};

template <typename T>
class IsResourceInitialized : public OpKernel {
 public:
  explicit IsResourceInitialized(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &output));
    T* found = nullptr;
    output->scalar<bool>()() = LookupResource<T>(context, HandleFromInput(context, 0), &found).ok();
    if (found) found->Unref();
  }
};

#define REGISTER_RESOURCE_HANDLE_OP(Type) \
  REGISTER_OP(#Type "HandleOp")           \
      .Attr("container: string = ''")     \
      .Attr("shared_name: string = ''")   \
      .Output("resource: resource")       \
      .SetIsStateful()                    \
      .SetShapeFn(::tensorflow::shape_inference::ScalarShape)
#define REGISTER_RESOURCE_HANDLE_KERNEL(Type) \
  REGISTER_KERNEL_BUILDER(Name(#Type "HandleOp").Device(DEVICE_CPU), ResourceHandleOp<Type>)

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_RESOURCE_KERNELS_H_
