// Objects of C++ that outlive a step: kernels of a session find them by container, type and name.
#ifndef TIDEFLOW_KERNELS_RESOURCES_H_
#define TIDEFLOW_KERNELS_RESOURCES_H_

#include <atomic>
#include <map>
#include <typeinfo>

#include "tideflow/kernels/tensor.h"

namespace tensorflow {

namespace core {

// An object that is deleted with the last reference to it; it begins with one.
class RefCounted {
 public:
  RefCounted() : references_(1) {}
  RefCounted(const RefCounted&) = delete;
  void operator=(const RefCounted&) = delete;
  void Ref() const { references_.fetch_add(1, std::memory_order_relaxed); }
  bool Unref() const {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    delete this;
    return true;
  }
  bool RefCountIsOne() const { return references_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~RefCounted() {}

 private:
  mutable std::atomic<int64> references_;
};

struct RefCountDeleter {
  void operator()(RefCounted* object) const { object->Unref(); }
};
template <typename T>
using RefCountPtr = std::unique_ptr<T, RefCountDeleter>;

class ScopedUnref {
 public:
  explicit ScopedUnref(RefCounted* object) : object_(object) {}
  ScopedUnref(const ScopedUnref&) = delete;
  void operator=(const ScopedUnref&) = delete;
  ~ScopedUnref() {
    if (object_) object_->Unref();
  }

 private:
  RefCounted* object_;
};

}  // namespace core

class ResourceBase : public core::RefCounted {
 public:
  virtual string DebugString() const = 0;
  virtual int64 MemoryUsed() const { return 0; }
};

// A type by its name, which is the same in all libraries of the process.
class TypeIndex {
 public:
  explicit TypeIndex(const char* name) : name_(name) {}
  const char* name() const { return name_; }
  uint64 hash_code() const {
    uint64 hash = 14695981039346656037ULL;  // FNV-1a
    for (const char* c = name_; *c; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211ULL;
    return hash;
  }

 private:
  const char* name_;
};
template <typename T>
TypeIndex MakeTypeIndex() { return TypeIndex(typeid(T).name()); }

namespace internal {

// The resources of one container of a session. It holds a reference to each.
class Container {
 public:
  Container() {}
  Container(const Container&) = delete;
  ~Container() { Clear(); }

  ResourceBase* Find(const string& type, const string& name) {  // with a reference of the caller's
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = all_.find({type, name});
    if (found == all_.end()) return nullptr;
    found->second->Ref();
    return found->second;
  }
  bool Add(const string& type, const string& name, ResourceBase* resource) {
    std::lock_guard<std::mutex> lock(mutex_);
    return all_.insert({{type, name}, resource}).second;
  }
  // A destructor may ask for other resources, so none runs while the container is locked.
  bool Remove(const string& type, const string& name) {
    ResourceBase* removed = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = all_.find({type, name});
      if (found == all_.end()) return false;
      removed = found->second;
      all_.erase(found);
    }
    removed->Unref();
    return true;
  }
  void Clear() {
    std::map<std::pair<string, string>, ResourceBase*> all;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      all.swap(all_);
    }
    for (const auto& each : all) each.second->Unref();
  }
  std::mutex& creation() { return creation_; }

 private:
  std::mutex mutex_, creation_;
  std::map<std::pair<string, string>, ResourceBase*> all_;
};

static const char* const kContainer = "tideflow.container";  // a capsule with a shared_ptr of one

class HeldGil {
 public:
  HeldGil() : state_(::tideflow::python::EnsureGil()) {}
  HeldGil(const HeldGil&) = delete;
  ~HeldGil() { ::tideflow::python::ReleaseGil(state_); }

 private:
  int state_;
};

}  // namespace internal

// The resources of a session. Its containers belong to Python's manager of resources, which forgets them when
// the session ends or is reset.
class ResourceMgr {
 public:
  // `find` is a function of Python from the name of a container to its capsule, or None after the session.
  explicit ResourceMgr(PyObject* find) : find_(find) { ::tideflow::python::IncRef(find_); }
  ResourceMgr(const ResourceMgr&) = delete;
  ~ResourceMgr() {
    internal::HeldGil gil;
    ::tideflow::python::DecRef(find_);
  }

  const string& default_container() const { return default_container_; }

  template <typename T>
  Status Create(const string& container, const string& name, T* resource) {
    static_assert(std::is_base_of<ResourceBase, T>::value, "T must derive from ResourceBase");
    CHECK(resource != nullptr);
    return Add(container, MakeTypeIndex<T>().name(), name, resource);
  }
  template <typename T, bool use_dynamic_cast = false>
  Status Lookup(const string& container, const string& name, T** resource) const {
    static_assert(std::is_base_of<ResourceBase, T>::value, "T must derive from ResourceBase");
    std::shared_ptr<internal::Container> held;
    TF_RETURN_IF_ERROR(Find(container, &held));
    ResourceBase* found = held->Find(MakeTypeIndex<T>().name(), name);
    if (!found) return Absent(container, MakeTypeIndex<T>().name(), name);
    *resource = static_cast<T*>(found);
    return Status::OK();
  }
  // Resources of one container are created one after another, so that no one is created twice.
  template <typename T, bool use_dynamic_cast = false>
  Status LookupOrCreate(const string& container, const string& name, T** resource,
                        std::function<Status(T**)> creator) {
    std::shared_ptr<internal::Container> held;
    TF_RETURN_IF_ERROR(Find(container, &held));
    *resource = nullptr;
    if (Lookup<T>(container, name, resource).ok()) return Status::OK();
    std::lock_guard<std::mutex> lock(held->creation());
    if (Lookup<T>(container, name, resource).ok()) return Status::OK();
    TF_RETURN_IF_ERROR(creator(resource));
    TF_RETURN_IF_ERROR(Create(container, name, *resource));
    (*resource)->Ref();
    return Status::OK();
  }
  template <typename T>
  Status Delete(const string& container, const string& name) {
    return Remove(container, MakeTypeIndex<T>().name(), name);
  }
  Status Delete(const ResourceHandle& handle) {
    return Remove(handle.container(), handle.maybe_type_name(), handle.name());
  }
  Status Cleanup(const string& container) {
    std::shared_ptr<internal::Container> held;
    TF_RETURN_IF_ERROR(Find(container, &held));
    held->Clear();
    return Status::OK();
  }
  string DebugString() const { return "resources of a session"; }

 private:
  static Status Absent(const string& container, const string& type, const string& name) {
    return errors::NotFound("Resource ", container, "/", name, "/", type, " does not exist.");
  }
  Status Add(const string& container, const string& type, const string& name, ResourceBase* resource) {
    std::shared_ptr<internal::Container> held;
    TF_RETURN_IF_ERROR(Find(container, &held));
    if (held->Add(type, name, resource)) return Status::OK();
    resource->Unref();
    return errors::AlreadyExists("Resource ", container, "/", name, "/", type);
  }
  Status Remove(const string& container, const string& type, const string& name) {
    std::shared_ptr<internal::Container> held;
    TF_RETURN_IF_ERROR(Find(container, &held));
    return held->Remove(type, name) ? Status::OK() : Absent(container, type, name);
  }
  Status Find(const string& container, std::shared_ptr<internal::Container>* held) const {
    using namespace ::tideflow;
    internal::HeldGil gil;
    PyObject* arguments = python::TupleNew(1);
    python::TupleSetItem(arguments, 0, python::BytesFromStringAndSize(container.data(), container.size()));
    PyObject* capsule = python::CallObject(find_, arguments);
    python::DecRef(arguments);
    void* pointer = capsule ? python::CapsuleGetPointer(capsule, internal::kContainer) : nullptr;
    if (pointer) *held = *static_cast<std::shared_ptr<internal::Container>*>(pointer);
    else python::ClearError();
    if (capsule) python::DecRef(capsule);
    return pointer ? Status::OK() : errors::Cancelled("The session of container ", container, " has ended.");
  }

  PyObject* find_;
  string default_container_ = "localhost";
};

// A variable behind a handle, while a kernel works with it. Nobody else reads or writes it meanwhile.
class Var : public ResourceBase {
 public:
  explicit Var(DataType dtype) : tensor_(dtype) {}
  mutex* mu() { return &mutex_; }
  Tensor* tensor() { return &tensor_; }
  string DebugString() const override {
    return strings::StrCat(DataTypeString(tensor_.dtype()), "/", tensor_.shape().DebugString());
  }
  bool is_initialized = false;
  std::atomic<bool> copy_on_read_mode{false};

 private:
  mutex mutex_;
  Tensor tensor_;
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_RESOURCES_H_
