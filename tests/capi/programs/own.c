/* What TensorFlow's library does otherwise, or not at all: memory, all types, wrong arguments, threads. */

#define _GNU_SOURCE /* memmem */

#include <pthread.h>

#include "check.h"

static int freed = 0;

static void count_free(void* data, size_t length, void* arg) {
  (void)length;
  CHECK(arg == &freed);
  free(data);
  ++freed;
}

static TF_Session* new_session(TF_Graph* graph, TF_Status* status) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  OK(status);
  TF_DeleteSessionOptions(options);
  return session;
}

/* Memory is freed once, and not before the last one who uses it is done. */
static void memory(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation *x = placeholder(graph, "x", TF_FLOAT, status), *same = unary(graph, "Identity", "same", out(x, 0), status);
  TF_Session* session = new_session(graph, status);
  const int64_t large = 100000;
  float* data = (float*)malloc(large * sizeof *data);
  char* shifted = (char*)malloc(64);
  TF_Tensor *fed, *result, *other;
  int64_t i;
  for (i = 0; i < large; ++i) data[i] = (float)i;
  fed = TF_NewTensor(TF_FLOAT, &large, 1, data, large * sizeof *data, count_free, &freed);
  CHECK(TF_TensorData(fed) == data);
  CHECK(TF_TensorMaybeMove(fed) == fed);
  result = run(session, out(x, 0), fed, out(same, 0), status); /* deletes what was fed */
  OK(status);
  CHECK(freed == 1);
  CHECK(((float*)TF_TensorData(result))[large - 1] == (float)(large - 1));
  other = TF_AllocateTensor(TF_FLOAT, &large, 1, large * sizeof *data);
  TF_TensorBitcastFrom(result, TF_INT32, other, &large, 1, status);
  OK(status);
  CHECK(TF_TensorMaybeMove(result) == NULL);
  TF_DeleteTensor(result);
  CHECK(((int*)TF_TensorData(other))[1] == 0x3f800000);
  TF_DeleteTensor(other);
  fed = TF_NewTensor(TF_FLOAT, NULL, 0, shifted + 1, 4, NULL, NULL); /* not aligned: copied */
  CHECK(TF_TensorData(fed) != shifted + 1);
  TF_DeleteTensor(fed);
  free(shifted);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

/* Bytes of every type go through a session unchanged. */
static void types(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Session* session = new_session(graph, status);
  const int64_t dims[] = {2, 2};
  int type;
  for (type = TF_FLOAT; type <= TF_UINT64; ++type) {
    size_t size = TF_DataTypeSize((TF_DataType)type);
    unsigned char bytes[64];
    char name[32];
    TF_Operation *x, *same;
    TF_Tensor* result;
    size_t i;
    if (size == 0) continue; /* strings are in the tour; handles stay in their session */
    for (i = 0; i < sizeof bytes; ++i) bytes[i] = type == TF_BOOL ? i % 2 : (unsigned char)(i + 1);
    sprintf(name, "x%d", type);
    x = placeholder(graph, name, (TF_DataType)type, status);
    sprintf(name, "same%d", type);
    same = unary(graph, "Identity", name, out(x, 0), status);
    result = run(session, out(x, 0), new_tensor((TF_DataType)type, dims, 2, bytes, 4 * size), out(same, 0), status);
    OK(status);
    CHECK(TF_TensorType(result) == (TF_DataType)type && TF_NumDims(result) == 2);
    CHECK(TF_TensorByteSize(result) == 4 * size && !memcmp(TF_TensorData(result), bytes, 4 * size));
    TF_DeleteTensor(result);
  }
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void wrong_arguments(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph *graph = TF_NewGraph(), *other = TF_NewGraph();
  TF_Operation *x = placeholder(graph, "x", TF_FLOAT, status), *y = placeholder(other, "y", TF_FLOAT, status),
               *zero = constant(graph, "zero", int_scalar(0), status),
               *ratio = binary(graph, "FloorDiv", "ratio", out(zero, 0), out(zero, 0), status);
  TF_Session* session = new_session(graph, status);
  TF_OperationDescription* desc;
  const char* text;
  size_t length;
  TF_StringDecode("\x7fshort", 6, &text, &length, status);
  CHECK(code(status) == TF_INVALID_ARGUMENT);
  TF_GraphGetTensorNumDims(graph, out(x, 3), status);
  CHECK(TF_GetCode(status) == TF_OUT_OF_RANGE && strstr(TF_Message(status), "does not have output 3"));
  desc = TF_NewOperation(graph, "Neg", "wrong");
  TF_SetAttrTensorShapeProto(desc, "shape", "\xff", 1, status);
  CHECK(code(status) == TF_INVALID_ARGUMENT);
  TF_AddInput(desc, out(y, 0));
  CHECK(TF_FinishOperation(desc, status) == NULL);
  CHECK(strstr(TF_Message(status), "not found in the graph") != NULL);
  CHECK(TF_GraphOperationByName(graph, "wrong") == NULL);
  CHECK(run(session, out(x, 0), int_scalar(1), out(ratio, 0), status) == NULL);
  CHECK(TF_GetCode(status) == TF_INVALID_ARGUMENT && strstr(TF_Message(status), "Expects arg[0] to be float but int32 is provided"));
  CHECK(run(session, out(x, 0), NULL, out(ratio, 0), status) == NULL); /* the error names the operation */
  CHECK(TF_GetCode(status) == TF_INVALID_ARGUMENT && strstr(TF_Message(status), "{{node ratio}}"));
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteGraph(other);
  TF_DeleteStatus(status);
}

/* The gradient of a loop; TensorFlow's library ends the process here. */
static void loop_gradient(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation *n = placeholder(graph, "n", TF_INT32, status), *one = constant(graph, "one", float_scalar(1), status);
  TF_Output results[2], x = {one, 0}, slope;
  TF_Session* session = new_session(graph, status);
  power_loop(graph, out(n, 0), x, results, status);
  TF_AddGradients(graph, &results[1], 1, &x, 1, NULL, status, &slope);
  OK(status);
  CHECK(run_float(session, out(n, 0), int_scalar(2), slope, status) == 9);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

/* Op types of a library, by their OpList and ApiDefs. */
static void libraries(const char* path) {
  TF_Status* status = TF_NewStatus();
  TF_Library* library = TF_LoadLibrary(path, status);
  TF_Buffer ops, *def;
  TF_ApiDefMap* map;
  const char* change = "op { graph_op_name: 'SquaredHinge' summary: 'Squared.' }";
  OK(status);
  ops = TF_GetOpList(library);
  CHECK(ops.length > 0 && memmem(ops.data, ops.length, "SquaredHinge", 12));
  map = TF_NewApiDefMap(&ops, status);
  OK(status);
  TF_ApiDefMapPut(map, change, strlen(change), status);
  OK(status);
  def = TF_ApiDefMapGet(map, "SquaredHinge", 12, status);
  OK(status);
  CHECK(memmem(def->data, def->length, "Squared.", 8) != NULL);
  TF_DeleteBuffer(def);
  CHECK(TF_ApiDefMapGet(map, "Nothing", 7, status) == NULL);
  TF_ApiDefMapPut(map, "op {}", 5, status);
  CHECK(code(status) == TF_FAILED_PRECONDITION);
  TF_DeleteApiDefMap(map);
  TF_DeleteLibraryHandle(library);
  TF_DeleteStatus(status);
}

/* A server of one task, and a session of its. */
static void servers(void) {
  /* cluster { job { name: "w" tasks { value: "localhost:0" } } } job_name: "w" protocol: "grpc" */
  static const char server_def[] = "\x0a\x14\x0a\x12\x0a\x01w\x12\x0d\x12\x0blocalhost:0\x12\x01w\x2a\x04grpc";
  TF_Status* status = TF_NewStatus();
  TF_Server* server;
  TF_Graph* graph = TF_NewGraph();
  TF_Operation* c = constant(graph, "c", float_scalar(8), status);
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session;
  CHECK(TF_NewServer(server_def, 20, status) == NULL); /* cut off */
  CHECK(code(status) == TF_INVALID_ARGUMENT);
  server = TF_NewServer(server_def, sizeof server_def - 1, status);
  OK(status);
  TF_ServerStart(server, status);
  OK(status);
  TF_SetTarget(options, TF_ServerTarget(server));
  session = TF_NewSession(graph, options, status);
  OK(status);
  CHECK(run_float(session, out(c, 0), NULL, out(c, 0), status) == 8);
  TF_DeleteSession(session, status);
  TF_ServerStop(server, status);
  OK(status);
  TF_ServerJoin(server, status);
  OK(status);
  TF_DeleteServer(server);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

/* Threads build one graph and run one session together. */
static TF_Graph* shared_graph;
static TF_Session* shared_session;

static void* build_and_run(void* number) {
  TF_Status* status = TF_NewStatus();
  int i, n = *(int*)number;
  for (i = 0; i < 20; ++i) {
    char name[32];
    TF_Operation* c;
    sprintf(name, "c_%d_%d", n, i);
    c = constant(shared_graph, name, float_scalar((float)(100 * n + i)), status);
    CHECK(run_float(shared_session, out(c, 0), NULL, out(c, 0), status) == (float)(100 * n + i));
  }
  TF_DeleteStatus(status);
  return NULL;
}

static void threads(void) {
  TF_Status* status = TF_NewStatus();
  pthread_t threads[4];
  int i, numbers[4];
  size_t pos = 0, count = 0;
  shared_graph = TF_NewGraph();
  shared_session = new_session(shared_graph, status);
  for (i = 0; i < 4; ++i) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, build_and_run, &numbers[i]) == 0);
  }
  for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  while (TF_GraphNextOperation(shared_graph, &pos)) ++count;
  CHECK(count == 80);
  TF_DeleteSession(shared_session, status);
  TF_DeleteGraph(shared_graph);
  TF_DeleteStatus(status);
}

int main(int argc, char** argv) {
  memory();
  types();
  wrong_arguments();
  loop_gradient();
  servers();
  threads();
  if (argc > 1) libraries(argv[1]);
  printf("done\n");
  return 0;
}
