// Who executes operations that run at once: executors of threads, threads of their own, cancellation.

#include <algorithm>
#include <system_error>

#include "eager.h"
#include "session.h"
#include "tideflow/c_api_experimental.h"

using namespace tideflow;

struct TFE_ExecuteOpNotification {
  TF_Status status;
  std::thread thread;
};

extern "C" {

TFE_CancellationManager* TFE_NewCancellationManager(void) { return new TFE_CancellationManager; }

unsigned char TFE_CancellationManagerIsCancelled(TFE_CancellationManager* manager) { return manager->is_cancelled; }

void TFE_CancellationManagerStartCancel(TFE_CancellationManager* manager) { manager->is_cancelled = true; }

void TFE_DeleteCancellationManager(TFE_CancellationManager* manager) { delete manager; }

void TFE_OpSetCancellationManager(TFE_Op* op, TFE_CancellationManager* manager, TF_Status* status) {
  succeed(status);
  op->cancellation = manager;
}

TFE_Executor* TFE_NewExecutor(unsigned char is_async) { return new TFE_Executor{is_async != 0}; }

void TFE_DeleteExecutor(TFE_Executor* executor) { delete executor; }

unsigned char TFE_ExecutorIsAsync(TFE_Executor* executor) { return executor->is_async; }

void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor*, TF_Status* status) { succeed(status); }

void TFE_ExecutorClearError(TFE_Executor*) {}

void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor) {
  std::lock_guard<std::mutex> lock(ctx->mutex);
  ctx->executors[std::this_thread::get_id()] = *executor;
}

TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx) {
  std::lock_guard<std::mutex> lock(ctx->mutex);
  const auto found = ctx->executors.find(std::this_thread::get_id());
  return new TFE_Executor{found != ctx->executors.end() && found->second.is_async};
}

TFE_ExecuteOpNotification* TFE_ExecuteOpInNewThread(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals,
                                                    TF_Status* status) {
  succeed(status);
  auto* made = new TFE_ExecuteOpNotification;
  try {
    made->thread = std::thread([=] { TFE_Execute(op, retvals, num_retvals, &made->status); });
  } catch (const std::system_error& error) {
    fail(status, TF_RESOURCE_EXHAUSTED, std::string("No thread for the operation: ") + error.what());
    delete made;
    return nullptr;
  }
  return made;
}

void TFE_ExecuteOpNotificationWaitAndDelete(TFE_ExecuteOpNotification* notification, TF_Status* status) {
  if (notification == nullptr) return;
  notification->thread.join();
  *status = notification->status;
  delete notification;
}

void TFE_OpConsumeInput(TFE_Op* op, TFE_TensorHandle* h, TF_Status* status) {
  TFE_OpAddInput(op, h, status);
  TFE_DeleteTensorHandle(h);
}

TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType data_type, void* data, size_t len, TF_Status* status) {
  succeed(status);
  if (TF_DataTypeSize(data_type) == 0 || TF_DataTypeSize(data_type) != len) {
    fail(status, TF_INVALID_ARGUMENT, "A scalar of type " + std::to_string(data_type) + " has not " +
                                          std::to_string(len) + " bytes");
    return nullptr;
  }
  TF_Tensor* tensor = TF_AllocateTensor(data_type, nullptr, 0, len);
  std::copy_n(static_cast<const char*>(data), len, static_cast<char*>(TF_TensorData(tensor)));
  TFE_TensorHandle* handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}

TFE_Context* TFE_NewContextFromSession(const TFE_ContextOptions* opts, TF_Session*, TF_Status* status) {
  return TFE_NewContext(opts, status);
}

TFE_Context* TFE_CreateContextFromSession(TF_Session* session, TF_Status* status) {
  const TFE_ContextOptions options;
  return TFE_NewContextFromSession(&options, session, status);
}

}  // extern "C"
