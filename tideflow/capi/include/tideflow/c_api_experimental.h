/* What bindings use of TensorFlow 1.15's c_api_experimental.h: reading checkpoints, options, facts of op
   types, operations in threads of their own, texts of graphs and functions. */

#ifndef TIDEFLOW_C_API_EXPERIMENTAL_H_
#define TIDEFLOW_C_API_EXPERIMENTAL_H_

#include "tideflow/c_api.h"
#include "tideflow/eager_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ checkpoints */

typedef struct TF_CheckpointReader TF_CheckpointReader;

/* The reader of a checkpoint, which is named by the prefix of its files. */
TF_CAPI_EXPORT extern TF_CheckpointReader* TF_NewCheckpointReader(const char* filename, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteCheckpointReader(TF_CheckpointReader* reader);
TF_CAPI_EXPORT extern int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader, const char* name);
/* How many variables there are, and their names, which belong to the reader. */
TF_CAPI_EXPORT extern int TF_CheckpointReaderSize(TF_CheckpointReader* reader);
TF_CAPI_EXPORT extern const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader, int index);
/* Of a variable that the checkpoint has: its type, its number of axes (-1 for an unknown name), its sizes. */
TF_CAPI_EXPORT extern TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader,
                                                                         const char* name);
TF_CAPI_EXPORT extern int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader, const char* name);
TF_CAPI_EXPORT extern void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader, const char* name,
                                                               int64_t* dims, int num_dims, TF_Status* status);
TF_CAPI_EXPORT extern TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader, const char* name,
                                                              TF_Status* status);

/* ------------------------------------------------------------------------------------------------ options */

/* Sets or clears the level of XLA in the options' ConfigProto. */
TF_CAPI_EXPORT extern void TF_EnableXLACompilation(TF_SessionOptions* options, unsigned char enable);
/* A ConfigProto, and RunOptions, for the caller to delete. */
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation,
                                                 unsigned char gpu_memory_allow_growth, unsigned int num_cpu_devices);
TF_CAPI_EXPORT extern TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace);
TF_CAPI_EXPORT extern void TF_MakeInternalErrorStatus(TF_Status* status, const char* errMsg);
/* A port of the loopback that is free now. Ends the process where there is none. */
TF_CAPI_EXPORT extern int TF_PickUnusedPortOrDie(void);

/* ------------------------------------------------------------------------------------------------ op types */

TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type, TF_Status* status);
/* The attribute that says how many tensors an input has; null for an input that is no such list. */
TF_CAPI_EXPORT extern const char* TF_GetNumberAttrForOpListInput(const char* op_name, int input_index,
                                                                 TF_Status* status);

/* ------------------------------------------------------------------------------------------------ operations */

typedef struct TFE_ExecuteOpNotification TFE_ExecuteOpNotification;

/* Executes an operation in a thread. The operation, `retvals` and `num_retvals` are its until it has been waited for. */
TF_CAPI_EXPORT extern TFE_ExecuteOpNotification* TFE_ExecuteOpInNewThread(TFE_Op* op, TFE_TensorHandle** retvals,
                                                                          int* num_retvals, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ExecuteOpNotificationWaitAndDelete(TFE_ExecuteOpNotification* notification,
                                                                  TF_Status* status);
/* Adds an input, and deletes its handle. */
TF_CAPI_EXPORT extern void TFE_OpConsumeInput(TFE_Op* op, TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromScalar(TF_DataType data_type, void* data, size_t len,
                                                                      TF_Status* status);
/* A context with the devices of a session, which are the process's. */
TF_CAPI_EXPORT extern TFE_Context* TFE_NewContextFromSession(const TFE_ContextOptions* opts, TF_Session* sess,
                                                             TF_Status* status);
TF_CAPI_EXPORT extern TFE_Context* TFE_CreateContextFromSession(TF_Session* session, TF_Status* status);

/* ------------------------------------------------------------------------------------------------ texts */

/* The GraphDef, or the FunctionDef, as text; the caller frees it with free(). `len` is its length. */
TF_CAPI_EXPORT extern const char* TF_GraphDebugString(TF_Graph* graph, size_t* len);
TF_CAPI_EXPORT extern char* TF_FunctionDebugString(TF_Function* func, size_t* len);

#ifdef __cplusplus
}
#endif

#endif /* TIDEFLOW_C_API_EXPERIMENTAL_H_ */
