/* Operations that run at once, and a checkpoint that is read. TensorFlow 1.15's library and Tideflow's must say the same.

   The argument is the prefix of a checkpoint; another one says that the library is Tideflow's. */

#include "check.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"

static TFE_TensorHandle* handle(TF_Tensor* tensor, TF_Status* status) {
  TFE_TensorHandle* made = TFE_NewTensorHandle(tensor, status);
  OK(status);
  TF_DeleteTensor(tensor);
  return made;
}

static TFE_TensorHandle* matrix(TF_Status* status) {
  static const int64_t dims[] = {2, 2};
  static const float numbers[] = {1, 2, 3, 4};
  return handle(new_tensor(TF_FLOAT, dims, 2, numbers, sizeof numbers), status);
}

static TFE_Op* op(TFE_Context* context, const char* type, TFE_TensorHandle* a, TFE_TensorHandle* b,
                  TF_Status* status) {
  TFE_Op* made = TFE_NewOp(context, type, status);
  OK(status);
  if (a != NULL) TFE_OpAddInput(made, a, status);
  OK(status);
  if (b != NULL) TFE_OpAddInput(made, b, status);
  OK(status);
  return made;
}

/* Executes an operation of one output or none, and deletes it. */
static TFE_TensorHandle* executed(TFE_Op* op, TF_Status* status) {
  TFE_TensorHandle* result[1] = {NULL};
  int count = 1;
  TFE_Execute(op, result, &count, status);
  OK(status);
  TFE_DeleteOp(op);
  return count ? result[0] : NULL;
}

static void show(const char* name, TFE_TensorHandle* shown, TF_Status* status) {
  TF_Tensor* value = TFE_TensorHandleResolve(shown, status);
  int i;
  OK(status);
  printf("%s: type %d, %d dims, %d elements:", name, TFE_TensorHandleDataType(shown),
         TFE_TensorHandleNumDims(shown, status), (int)TFE_TensorHandleNumElements(shown, status));
  for (i = 0; i < TFE_TensorHandleNumElements(shown, status); ++i) printf(" %g", ((float*)TF_TensorData(value))[i]);
  printf("\n");
  TF_DeleteTensor(value);
  TFE_DeleteTensorHandle(shown);
}

static void variables(TFE_Context* context, TF_Status* status) {
  TFE_Op* made = op(context, "VarHandleOp", NULL, NULL, status);
  TFE_TensorHandle *variable, *value = matrix(status);
  TFE_OpSetAttrType(made, "dtype", TF_FLOAT);
  TFE_OpSetAttrShape(made, "shape", NULL, -1, status);
  TFE_OpSetAttrString(made, "shared_name", "v", 1);
  variable = executed(made, status);
  printf("a variable's handle has type %d\n", TFE_TensorHandleDataType(variable));
  CHECK(executed(op(context, "AssignVariableOp", variable, value, status), status) == NULL);
  CHECK(executed(op(context, "AssignAddVariableOp", variable, value, status), status) == NULL);
  made = op(context, "ReadVariableOp", variable, NULL, status);
  TFE_OpSetAttrType(made, "dtype", TF_FLOAT);
  show("variable", executed(made, status), status);
  TFE_DeleteTensorHandle(value);
  TFE_DeleteTensorHandle(variable);
}

static void functions(TFE_Context* context, int is_tideflow, TF_Status* status) {
  TF_Graph* graph = TF_NewGraph();
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT, status);
  TF_Output input = out(x, 0), output = out(unary(graph, "Square", "y", input, status), 0);
  TF_Function* function = TF_GraphToFunction(graph, "squared", 0, -1, NULL, 1, &input, 1, &output, NULL, NULL, "",
                                             status);
  TFE_TensorHandle* value = matrix(status);
  TFE_Op* made;
  TF_DataType type = TF_FLOAT;
  OK(status);
  TFE_ContextAddFunction(context, function, status);
  OK(status);
  printf("has it: %d, another: %d\n", TFE_ContextHasFunction(context, "squared"),
         TFE_ContextHasFunction(context, "other"));
  show("function", executed(op(context, "squared", value, NULL, status), status), status);
  if (is_tideflow) {  /* of TensorFlow's library this ends the process */
    made = TFE_NewOp(context, "PartitionedCall", status);
    TFE_OpAddInputList(made, &value, 1, status);
    TFE_OpSetAttrTypeList(made, "Tin", &type, 1);
    TFE_OpSetAttrTypeList(made, "Tout", &type, 1);
    TFE_OpSetAttrFunctionName(made, "f", "squared", 7);
    show("call", executed(made, status), status);
  }
  TFE_ContextRemoveFunction(context, "squared", status);
  OK(status);
  printf("has it still: %d\n", TFE_ContextHasFunction(context, "squared"));
  TFE_DeleteTensorHandle(value);
  TF_DeleteFunction(function);
  TF_DeleteGraph(graph);
}

static void lists(TFE_Context* context, TF_Status* status) {
  TFE_TensorHandle *value = matrix(status), *both[2], *parts[3];
  TFE_Op* made = TFE_NewOp(context, "Pack", status);
  int count = 3, kind;
  unsigned char is_list = 9;
  both[0] = both[1] = value;
  TFE_OpAddInputList(made, both, 2, status);
  OK(status);
  printf("values: %d tensors, output: %d\n", TFE_OpGetInputLength(made, "values", status),
         TFE_OpGetOutputLength(made, "output", status));
  TFE_OpSetAttrInt(made, "axis", 1);
  show("packed", executed(made, status), status);
  made = op(context, "Unpack", value, NULL, status);
  kind = TFE_OpGetAttrType(made, "num", &is_list, status);
  printf("attr num is %d %d\n", kind, is_list);
  TFE_OpSetAttrInt(made, "num", 2);
  TFE_Execute(made, parts, &count, status);
  OK(status);
  printf("%d parts\n", count);
  show("first", parts[0], status);
  show("second", parts[1], status);
  TFE_DeleteOp(made);
  TFE_DeleteTensorHandle(value);
}

/* A refusal, up to the summary of an op type or the name of the operation. */
static void refused(const char* what, TFE_Op* op, TF_Status* status) {
  TFE_TensorHandle* result[1];
  int count = 1;
  const char *text, *end;
  TFE_Execute(op, result, &count, status);
  text = TF_Message(status);
  end = strstr(text, "Op<");
  printf("%s: %d %.*s\n", what, TF_GetCode(status), end == NULL ? (int)strlen(text) : (int)(end - text), text);
  code(status);
  TFE_DeleteOp(op);
}

static void mistakes(TFE_Context* context, TF_Status* status) {
  TFE_TensorHandle *value = matrix(status), *result[1];
  TFE_Op* made = op(context, "MatMul", value, NULL, status);
  unsigned char is_list = 0;
  int count = 1;
  int64_t dims[] = {3};
  float numbers[] = {1, 2, 3};
  TFE_TensorHandle* vector = handle(new_tensor(TF_FLOAT, dims, 1, numbers, sizeof numbers), status);
  TFE_TensorHandle* number = handle(int_scalar(3), status);
  TFE_Execute(made, result, &count, status);
  printf("too few inputs: %d\n", code(status));
  TFE_DeleteOp(made);
  made = op(context, "MatMul", value, vector, status);
  TFE_Execute(made, result, &count, status);
  printf("wrong shapes: %d\n", code(status));
  TFE_DeleteOp(made);
  printf("no op: %d", (TFE_NewOp(context, "NoSuchOp", status) == NULL));
  printf(" %d %.70s\n", TF_GetCode(status), TF_Message(status));
  code(status);
  TFE_OpNameGetAttrType(context, "MatMul", "nothing", &is_list, status);
  printf("no attribute: %d\n", code(status));
  TFE_TensorHandleDim(vector, 0, status);
  OK(status);
  made = op(context, "AddV2", vector, number, status);
  refused("two types", made, status);
  made = op(context, "Square", vector, NULL, status);
  TFE_OpSetAttrInt(made, "nothing", 1);
  refused("no such attribute", made, status);
  made = op(context, "Unpack", vector, NULL, status);
  refused("an attribute is missing", made, status);
  TFE_DeleteTensorHandle(number);
  TFE_DeleteTensorHandle(vector);
  TFE_DeleteTensorHandle(value);
}

static void checkpoint(const char* prefix, TF_Status* status) {
  TF_CheckpointReader* reader = TF_NewCheckpointReader(prefix, status);
  TF_Tensor* value;
  int64_t dims[2];
  int i;
  OK(status);
  for (i = 0; i < TF_CheckpointReaderSize(reader); ++i) {
    const char* name = TF_CheckpointReaderGetVariable(reader, i);
    printf("%s: type %d, %d dims\n", name, TF_CheckpointReaderGetVariableDataType(reader, name),
           TF_CheckpointReaderGetVariableNumDims(reader, name));
  }
  printf("has w: %d, has nothing: %d\n", TF_CheckpointReaderHasTensor(reader, "w"),
         TF_CheckpointReaderHasTensor(reader, "nothing"));
  TF_CheckpointReaderGetVariableShape(reader, "w", dims, 2, status);
  OK(status);
  value = TF_CheckpointReaderGetTensor(reader, "w", status);
  OK(status);
  printf("w is %d by %d: %g %g\n", (int)dims[0], (int)dims[1], ((float*)TF_TensorData(value))[0],
         ((float*)TF_TensorData(value))[1]);
  TF_DeleteTensor(value);
  CHECK(TF_CheckpointReaderGetTensor(reader, "nothing", status) == NULL);
  printf("no variable: %d\n", code(status));
  TF_DeleteCheckpointReader(reader);
  CHECK(TF_NewCheckpointReader("/no/such/checkpoint", status) == NULL);
  CHECK(code(status) != TF_OK);
}

int main(int argc, char** argv) {
  TF_Status* status = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, status);
  TFE_TensorHandle *value, *other;
  TF_DeviceList* devices;
  TFE_Op* made;
  OK(status);
  CHECK(argc > 1);
  TFE_DeleteContextOptions(options);
  devices = TFE_ContextListDevices(context, status);
  OK(status);
  printf("%s\n", TF_DeviceListName(devices, 0, status));
  TF_DeleteDeviceList(devices);

  value = matrix(status);
  printf("%s\n", TFE_TensorHandleDeviceName(value, status));
  made = op(context, "MatMul", value, value, status);
  TFE_OpSetAttrBool(made, "transpose_a", 1);
  TFE_OpSetDevice(made, "/cpu:0", status);
  OK(status);
  show("product", executed(made, status), status);
  other = TFE_TensorHandleCopySharingTensor(value, status);
  OK(status);
  show("shared", other, status);
  other = TFE_TensorHandleCopyToDevice(value, context, "CPU:0", status);
  OK(status);
  show("copied", other, status);
  TFE_DeleteTensorHandle(value);

  variables(context, status);
  functions(context, argc > 2, status);
  lists(context, status);
  mistakes(context, status);
  checkpoint(argv[1], status);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
  return 0;
}
