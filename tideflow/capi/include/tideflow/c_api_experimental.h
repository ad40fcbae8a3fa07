/* What bindings use of TensorFlow 1.15's c_api_experimental.h: reading checkpoints, texts of graphs and functions. */

#ifndef TIDEFLOW_C_API_EXPERIMENTAL_H_
#define TIDEFLOW_C_API_EXPERIMENTAL_H_

#include "tideflow/c_api.h"

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

/* ------------------------------------------------------------------------------------------------ texts */

/* The GraphDef, or the FunctionDef, as text; the caller frees it with free(). `len` is its length. */
TF_CAPI_EXPORT extern const char* TF_GraphDebugString(TF_Graph* graph, size_t* len);
TF_CAPI_EXPORT extern char* TF_FunctionDebugString(TF_Function* func, size_t* len);

#ifdef __cplusplus
}
#endif

#endif /* TIDEFLOW_C_API_EXPERIMENTAL_H_ */
