/* Operations in threads, executors, cancellation, policies, and what experimental functions tell. */

#include "check.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"

static TFE_TensorHandle* scalar(float value, TF_Status* status) {
  TFE_TensorHandle* made = TFE_NewTensorHandleFromScalar(TF_FLOAT, &value, sizeof value, status);
  OK(status);
  return made;
}

static float taken(TFE_TensorHandle* handle, TF_Status* status) {
  TF_Tensor* value = TFE_TensorHandleResolve(handle, status);
  float number;
  OK(status);
  number = *(float*)TF_TensorData(value);
  TF_DeleteTensor(value);
  TFE_DeleteTensorHandle(handle);
  return number;
}

static TFE_Op* product(TFE_Context* context, float a, float b, TF_Status* status) {
  TFE_Op* op = TFE_NewOp(context, "Mul", status);
  OK(status);
  TFE_OpConsumeInput(op, scalar(a, status), status);
  TFE_OpConsumeInput(op, scalar(b, status), status);
  OK(status);
  return op;
}

static void in_threads(TFE_Context* context, TF_Status* status) {
  enum { kCount = 8 };
  TFE_Op* ops[kCount];
  TFE_TensorHandle* results[kCount];
  TFE_ExecuteOpNotification* running[kCount];
  int counts[kCount], i;
  for (i = 0; i < kCount; ++i) {
    counts[i] = 1;
    ops[i] = product(context, i, 2, status);
    running[i] = TFE_ExecuteOpInNewThread(ops[i], &results[i], &counts[i], status);
    OK(status);
  }
  for (i = 0; i < kCount; ++i) {
    TFE_ExecuteOpNotificationWaitAndDelete(running[i], status);
    OK(status);
    CHECK(counts[i] == 1 && taken(results[i], status) == 2.0f * i);
    TFE_DeleteOp(ops[i]);
  }
}

static void cancelled(TFE_Context* context, TF_Status* status) {
  TFE_CancellationManager* manager = TFE_NewCancellationManager();
  TFE_Op* op = product(context, 3, 4, status);
  TFE_TensorHandle* result = NULL;
  int count = 1;
  TFE_OpSetCancellationManager(op, manager, status);
  OK(status);
  CHECK(!TFE_CancellationManagerIsCancelled(manager));
  TFE_Execute(op, &result, &count, status);
  OK(status);
  CHECK(taken(result, status) == 12);
  TFE_CancellationManagerStartCancel(manager);
  CHECK(TFE_CancellationManagerIsCancelled(manager));
  TFE_Execute(op, &result, &count, status);
  CHECK(code(status) == TF_CANCELLED);
  TFE_OpPrintDebugString(op);
  TFE_DeleteOp(op);
  TFE_DeleteCancellationManager(manager);
}

static void executors(TFE_Context* context, TF_Status* status) {
  TFE_Executor *own = TFE_NewExecutor(1), *found = TFE_ContextGetExecutorForThread(context);
  CHECK(TFE_ExecutorIsAsync(own) && !TFE_ExecutorIsAsync(found));
  TFE_DeleteExecutor(found);
  TFE_ContextSetExecutorForThread(context, own);
  found = TFE_ContextGetExecutorForThread(context);
  CHECK(TFE_ExecutorIsAsync(found));
  TFE_ExecutorWaitForAllPendingNodes(found, status);
  OK(status);
  TFE_ExecutorClearError(found);
  TFE_DeleteExecutor(found);
  TFE_DeleteExecutor(own);
  CHECK(TFE_ContextGetMirroringPolicy(context) == TFE_MIRRORING_ALL);
  TFE_ContextSetThreadLocalMirroringPolicy(context, TFE_MIRRORING_NONE);
  CHECK(TFE_ContextGetMirroringPolicy(context) == TFE_MIRRORING_NONE);
}

static void handles(TF_Status* status) {
  const int64_t dims[2] = {2, 3};
  const float values[6] = {0};
  double wrong = 1;
  TF_Tensor* tensor = new_tensor(TF_FLOAT, dims, 2, values, sizeof values);
  TFE_TensorHandle* handle = TFE_NewTensorHandle(tensor, status);
  TFE_TensorDebugInfo* info = TFE_TensorHandleTensorDebugInfo(handle, status);
  OK(status);
  CHECK(TFE_TensorDebugInfoOnDeviceNumDims(info) == 2 && TFE_TensorDebugInfoOnDeviceDim(info, 1) == 3);
  CHECK(TFE_TensorDebugInfoOnDeviceDim(info, 2) == -1);
  TFE_DeleteTensorDebugInfo(info);
  TFE_TensorHandlePrintDebugString(handle);
  TFE_DeleteTensorHandle(handle);
  TF_DeleteTensor(tensor);
  CHECK(TFE_NewTensorHandleFromScalar(TF_FLOAT, &wrong, sizeof wrong, status) == NULL);
  CHECK(code(status) == TF_INVALID_ARGUMENT);
}

static void facts(TF_Status* status) {
  int port = TF_PickUnusedPortOrDie();
  CHECK(port > 0 && port < 65536);
  CHECK(TF_OpIsStateful("VariableV2", status) == 1 && TF_OpIsStateful("Add", status) == 0);
  OK(status);
  TF_OpIsStateful("Nothing", status);
  CHECK(code(status) == TF_NOT_FOUND);
  CHECK(strcmp(TF_GetNumberAttrForOpListInput("ConcatV2", 0, status), "N") == 0);
  CHECK(TF_GetNumberAttrForOpListInput("ConcatV2", 1, status) == NULL);
  OK(status);
  TF_GetNumberAttrForOpListInput("ConcatV2", 7, status);
  CHECK(code(status) == TF_INVALID_ARGUMENT);
  TF_MakeInternalErrorStatus(status, "so it is");
  CHECK(strcmp(TF_Message(status), "so it is") == 0 && code(status) == TF_INTERNAL);
}

static void options(TF_Status* status) {
  TF_Buffer *config = TF_CreateConfig(1, 1, 2), *traced = TF_CreateRunOptions(1), *metadata = TF_NewBuffer();
  TF_SessionOptions* given = TF_NewSessionOptions();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation* one = constant(graph, "one", float_scalar(1), status);
  TF_Output fetch = out(one, 0);
  TF_Tensor* result = NULL;
  TF_Session* session;
  TFE_Context* context;
  TF_SetConfig(given, config->data, config->length, status);
  OK(status);
  TF_EnableXLACompilation(given, 0);
  session = TF_NewSession(graph, given, status);
  OK(status);
  TF_SessionRun(session, traced, NULL, NULL, 0, &fetch, &result, 1, NULL, 0, metadata, status);
  OK(status);
  CHECK(metadata->length > 0);
  context = TFE_CreateContextFromSession(session, status);
  OK(status);
  TFE_DeleteContext(context);
  TF_DeleteTensor(result);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(given);
  TF_DeleteGraph(graph);
  TF_DeleteBuffer(config);
  TF_DeleteBuffer(traced);
  TF_DeleteBuffer(metadata);
}

int main(void) {
  TF_Status* status = TF_NewStatus();
  TFE_ContextOptions* given = TFE_NewContextOptions();
  TFE_Context* context;
  TFE_ContextOptionsSetMirroringPolicy(given, TFE_MIRRORING_ALL);
  context = TFE_NewContext(given, status);
  OK(status);
  TFE_DeleteContextOptions(given);
  in_threads(context, status);
  cancelled(context, status);
  executors(context, status);
  handles(status);
  facts(status);
  options(status);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
  puts("done");
  return 0;
}
