// Contexts, handles and operations that run at once, as C holds them.

#ifndef TIDEFLOW_CAPI_EAGER_H_
#define TIDEFLOW_CAPI_EAGER_H_

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "description.h"
#include "tideflow/eager_c_api.h"

struct TFE_ContextOptions {
  std::string config;
  TFE_ContextDevicePlacementPolicy policy = TFE_DEVICE_PLACEMENT_SILENT;
  TFE_ContextMirroringPolicy mirroring = TFE_MIRRORING_NONE;
};

struct TFE_Executor {
  bool is_async;
};

struct TFE_Context {
  tideflow::Object context;
  TFE_ContextDevicePlacementPolicy policy;
  TFE_ContextMirroringPolicy mirroring;
  std::mutex mutex;
  std::map<std::thread::id, TFE_Executor> executors;  // of threads that have set one
};

struct TFE_TensorHandle {
  tideflow::Object tensor;
  TF_DataType type;
  std::vector<int64_t> dims;
  std::string device;
};

struct TFE_TensorDebugInfo {
  std::vector<int64_t> dims;
};

struct TFE_CancellationManager {
  std::atomic<bool> is_cancelled{false};
};

struct TFE_Op {
  struct Input {
    bool is_list;
    std::vector<tideflow::Object> tensors;
  };
  TFE_Context* context;
  TF_OperationDescription description;  // type, device and attributes
  std::vector<Input> inputs;
  TFE_CancellationManager* cancellation;
};

#endif  // TIDEFLOW_CAPI_EAGER_H_
