/* A walk through the C API that says what it sees. TensorFlow 1.15's library and Tideflow's must say the same. */

#include "check.h"

static void values(void) {
  static const TF_DataType types[] = {TF_FLOAT, TF_DOUBLE,   TF_INT32,  TF_UINT8,  TF_STRING, TF_COMPLEX64,
                                      TF_BOOL,  TF_BFLOAT16, TF_QINT32, TF_HALF,   TF_UINT64, TF_COMPLEX128,
                                      TF_INT64, TF_RESOURCE, TF_QINT8,  TF_VARIANT};
  static const int64_t dims[] = {2, 3};
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  char encoded[300], text[200];
  const char* decoded = NULL;
  size_t i, length = 0, written;
  TF_Status* status = TF_NewStatus();
  TF_Buffer* buffer = TF_NewBufferFromString("bytes", 5);
  TF_Tensor *tensor, *other;
  printf("version %s\n", TF_Version());
  for (i = 0; i < sizeof types / sizeof *types; ++i) printf("%zu ", TF_DataTypeSize(types[i]));
  printf("\nbuffer %zu %.5s\n", TF_GetBuffer(buffer).length, (const char*)buffer->data);
  TF_DeleteBuffer(buffer);
  TF_SetStatus(status, TF_ABORTED, "mine");
  printf("status %d %s\n", (int)TF_GetCode(status), TF_Message(status));
  TF_SetStatus(status, TF_OK, "");
  memset(text, 'x', sizeof text);
  written = TF_StringEncode(text, 200, encoded, sizeof encoded, status);
  printf("encoded %zu %zu %d %d\n", written, TF_StringEncodedSize(200), (unsigned char)encoded[0], encoded[1]);
  TF_StringDecode(encoded, written, &decoded, &length, status);
  OK(status);
  printf("decoded %zu at %d\n", length, (int)(decoded - encoded));
  TF_StringEncode(text, 200, encoded, 100, status);
  printf("too short: %d\n", code(status));
  tensor = new_tensor(TF_FLOAT, dims, 2, numbers, sizeof numbers);
  printf("tensor %d %d %d %d %zu %d\n", TF_TensorType(tensor), TF_NumDims(tensor), (int)TF_Dim(tensor, 0),
         (int)TF_Dim(tensor, 1), TF_TensorByteSize(tensor), (int)TF_TensorElementCount(tensor));
  other = TF_AllocateTensor(TF_INT32, dims, 2, sizeof numbers);
  printf("aligned %d\n", TF_TensorIsAligned(other));
  TF_TensorBitcastFrom(tensor, TF_INT32, other, dims, 2, status);
  printf("cast %d %x\n", code(status), ((int*)TF_TensorData(other))[0]);
  printf("moved %d\n", TF_TensorMaybeMove(other) != NULL);
  TF_TensorBitcastFrom(tensor, TF_DOUBLE, other, dims, 2, status);
  printf("cast %d\n", code(status));
  TF_DeleteTensor(other);
  TF_DeleteTensor(tensor);
  printf("too little memory: %d\n", new_tensor(TF_FLOAT, dims, 2, numbers, 8) == NULL);
  TF_DeleteStatus(status);
}

static void show_metadata(TF_Operation* oper, const char* name, TF_Status* status) {
  TF_AttrMetadata m = TF_OperationGetAttrMetadata(oper, name, status);
  printf("%s: code %d", name, TF_GetCode(status));
  if (TF_GetCode(status) == TF_OK) {
    printf(", list %d", m.is_list);
    if (m.is_list) printf(" of %d", (int)m.list_size);
    printf(", type %d", m.type);
    if (m.type == TF_ATTR_STRING || m.type == TF_ATTR_SHAPE) printf(", size %d", (int)m.total_size);
  }
  code(status);
  printf("\n");
}

static void attributes(void) {
  static const int64_t dims[] = {2, -1};
  static const int64_t ints[] = {1, 2, 2, 1};
  static const TF_DataType types[] = {TF_FLOAT, TF_STRING};
  const int64_t* shapes[2] = {dims, NULL};
  int ranks[2] = {2, -1}, n;
  int64_t read[4], storage[4], *read_shapes[2];
  char text[16];
  unsigned char flag;
  float number;
  TF_DataType type, read_types[2];
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_OperationDescription* desc;
  TF_Operation *x, *pool, *queue, *value, *colocated, *lrn;
  TF_Tensor* tensor;
  TF_Buffer* buffer = TF_NewBuffer();
  desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", dims, 2);
  x = finish(desc, status);
  printf("op %s %s '%s' %d %d\n", TF_OperationName(x), TF_OperationOpType(x), TF_OperationDevice(x),
         TF_OperationNumInputs(x), TF_OperationNumOutputs(x));
  show_metadata(x, "shape", status);
  show_metadata(x, "dtype", status);
  show_metadata(x, "nothing", status);
  TF_OperationGetAttrShape(x, "shape", read, 2, status);
  OK(status);
  printf("shape %d %d\n", (int)read[0], (int)read[1]);
  TF_OperationGetAttrType(x, "dtype", &type, status);
  printf("dtype %d\n", type);
  TF_OperationGetAttrInt(x, "dtype", read, status);
  printf("no int: %d\n", code(status));

  desc = TF_NewOperation(graph, "Placeholder", "image");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", NULL, -1);
  value = finish(desc, status);
  show_metadata(value, "shape", status);
  desc = TF_NewOperation(graph, "MaxPool", "pool");
  TF_AddInput(desc, out(value, 0));
  TF_SetAttrIntList(desc, "ksize", ints, 4);
  TF_SetAttrIntList(desc, "strides", ints, 4);
  TF_SetAttrString(desc, "padding", "SAME", 4);
  pool = finish(desc, status);
  show_metadata(pool, "ksize", status);
  show_metadata(pool, "padding", status);
  TF_OperationGetAttrIntList(pool, "ksize", read, 4, status);
  printf("ksize %d %d %d %d\n", (int)read[0], (int)read[1], (int)read[2], (int)read[3]);
  TF_OperationGetAttrString(pool, "data_format", text, 16, status);
  printf("data_format %.4s\n", text);

  desc = TF_NewOperation(graph, "LRN", "lrn");
  TF_AddInput(desc, out(value, 0));
  TF_SetAttrFloat(desc, "alpha", 0.25f);
  lrn = finish(desc, status);
  TF_OperationGetAttrFloat(lrn, "alpha", &number, status);
  printf("alpha %g\n", number);
  TF_OperationGetAttrInt(lrn, "depth_radius", read, status);
  printf("depth_radius %d\n", (int)read[0]);

  desc = TF_NewOperation(graph, "FIFOQueueV2", "queue");
  TF_SetAttrTypeList(desc, "component_types", types, 2);
  TF_SetAttrShapeList(desc, "shapes", shapes, ranks, 2);
  queue = finish(desc, status);
  show_metadata(queue, "component_types", status);
  show_metadata(queue, "shapes", status);
  TF_OperationGetAttrTypeList(queue, "component_types", read_types, 2, status);
  printf("types %d %d\n", read_types[0], read_types[1]);
  TF_OperationGetAttrShapeList(queue, "shapes", read_shapes, ranks, 2, storage, 4, status);
  OK(status);
  printf("shapes %d %d: %d %d\n", ranks[0], ranks[1], (int)storage[0], (int)storage[1]);
  TF_OperationGetAttrShapeList(queue, "shapes", read_shapes, ranks, 2, storage, 1, status);
  printf("too little storage: %d\n", code(status));
  TF_OperationGetAttrValueProto(queue, "component_types", buffer, status);
  printf("AttrValue of %zu bytes\n", buffer->length);
  TF_OperationGetAttrTensorShapeProto(x, "shape", buffer, status);
  printf("buffer in use: %d\n", code(status));
  TF_DeleteBuffer(buffer);
  buffer = TF_NewBuffer();

  value = constant(graph, "c", float_scalar(4), status);
  TF_OperationGetAttrTensor(value, "value", &tensor, status);
  OK(status);
  printf("value %g\n", *(float*)TF_TensorData(tensor));
  TF_DeleteTensor(tensor);
  show_metadata(value, "value", status);
  desc = TF_NewOperation(graph, "MatMul", "product");
  TF_AddInput(desc, out(x, 0));
  TF_AddInput(desc, out(x, 0));
  TF_SetAttrBool(desc, "transpose_b", 1);
  TF_SetDevice(desc, "/device:CPU:0");
  TF_ColocateWith(desc, x);
  TF_AddControlInput(desc, value);
  colocated = finish(desc, status);
  TF_OperationGetAttrBool(colocated, "transpose_b", &flag, status);
  printf("transpose_b %d, on %s\n", flag, TF_OperationDevice(colocated));
  show_metadata(colocated, "_class", status);
  n = TF_OperationNumControlInputs(colocated);
  printf("controls %d %d %d\n", n, TF_OperationNumControlOutputs(value), TF_OperationNumControlOutputs(x));
  TF_OperationGetAttrTensorShapeProto(x, "shape", buffer, status);
  printf("TensorShapeProto of %zu bytes\n", buffer->length);
  TF_DeleteBuffer(buffer);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void questions(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation *a = placeholder(graph, "a", TF_INT32, status), *b = placeholder(graph, "b", TF_INT32, status);
  TF_Operation *sum, *split, *axis = constant(graph, "axis", int_scalar(0), status), *oper;
  TF_Output inputs[3] = {{a, 0}, {b, 0}, {a, 0}};
  TF_Input consumers[4], second = {NULL, 1};
  TF_OperationDescription* desc = TF_NewOperation(graph, "AddN", "sum");
  static const int64_t dims[] = {4, -1};
  int64_t read[2];
  size_t pos = 0;
  int i, n;
  TF_AddInputList(desc, inputs, 3);
  sum = finish(desc, status);
  desc = TF_NewOperation(graph, "Split", "split");
  TF_AddInput(desc, out(axis, 0));
  TF_AddInput(desc, out(sum, 0));
  TF_SetAttrInt(desc, "num_split", 2);
  split = finish(desc, status);
  printf("inputs %d, of the list %d\n", TF_OperationNumInputs(sum), TF_OperationInputListLength(sum, "inputs", status));
  printf("outputs %d, of the list %d\n", TF_OperationNumOutputs(split),
         TF_OperationOutputListLength(split, "output", status));
  TF_OperationOutputListLength(split, "nothing", status);
  printf("no such output: %d\n", code(status));
  second.oper = sum;
  printf("input 1 is %s of type %d\n", TF_OperationName(TF_OperationInput(second).oper), TF_OperationInputType(second));
  printf("type %d\n", TF_OperationOutputType(out(split, 1)));
  n = TF_OperationOutputConsumers(out(a, 0), consumers, 4);
  printf("consumers %d %d:", n, TF_OperationOutputNumConsumers(out(split, 0)));
  for (i = 0; i < n; ++i) printf(" %s", TF_OperationName(consumers[i].oper));
  printf("\nrank %d\n", TF_GraphGetTensorNumDims(graph, out(a, 0), status));
  TF_GraphSetTensorShape(graph, out(a, 0), dims, 2, status);
  OK(status);
  printf("rank %d\n", TF_GraphGetTensorNumDims(graph, out(a, 0), status));
  TF_GraphGetTensorShape(graph, out(a, 0), read, 2, status);
  printf("shape %d %d\n", (int)read[0], (int)read[1]);
  TF_GraphGetTensorShape(graph, out(a, 0), read, 1, status);
  printf("another rank: %d\n", code(status));
  printf("by name %d %d\n", TF_GraphOperationByName(graph, "split") == split,
         TF_GraphOperationByName(graph, "nothing") == NULL);
  while ((oper = TF_GraphNextOperation(graph, &pos)) != NULL) printf("%s ", TF_OperationName(oper));
  printf("\n");

  desc = TF_NewOperation(graph, "NoSuchOp", "wrong");
  printf("no such op: %d", TF_FinishOperation(desc, status) == NULL);
  printf(" %d\n", code(status));
  desc = TF_NewOperation(graph, "Placeholder", "wrong");
  TF_FinishOperation(desc, status);
  printf("no dtype: %d\n", code(status));
  desc = TF_NewOperation(graph, "Placeholder", "a");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_FinishOperation(desc, status);
  printf("name taken: %d\n", code(status));
  desc = TF_NewOperation(graph, "Neg", "wrong");
  TF_FinishOperation(desc, status);
  printf("no input: %d\n", code(status));
  desc = TF_NewOperation(graph, "AddV2", "wrong");
  TF_AddInput(desc, out(a, 0));
  TF_AddInput(desc, out(constant(graph, "real", float_scalar(1), status), 0));
  TF_FinishOperation(desc, status);
  printf("two types: %d\n", code(status));
  desc = TF_NewOperation(graph, "Neg", "wrong");
  TF_AddInput(desc, out(a, 0));
  TF_SetAttrInt(desc, "nothing", 1);
  TF_FinishOperation(desc, status);
  printf("no such attr: %d\n", code(status));
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void import_options(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph *graph = TF_NewGraph(), *other = TF_NewGraph();
  TF_Operation *x = placeholder(graph, "x", TF_FLOAT, status), *two = constant(graph, "two", float_scalar(2), status);
  TF_Operation *doubled = binary(graph, "Mul", "doubled", out(x, 0), out(two, 0), status), *seven, **opers, *oper;
  TF_Operation* negative = unary(graph, "Neg", "negative", out(doubled, 0), status);
  TF_Buffer *message = TF_NewBuffer(), junk = {"\xff\xff\xff", 3, NULL};
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefResults* results;
  TF_Output* outputs;
  TF_SessionOptions* session_options = TF_NewSessionOptions();
  TF_Session* session;
  size_t pos = 0;
  int n, *indexes;
  const char** names;
  (void)negative;
  TF_GraphToGraphDef(graph, message, status);
  OK(status);
  seven = constant(other, "seven", float_scalar(7), status);
  TF_ImportGraphDefOptionsSetPrefix(options, "imported");
  TF_ImportGraphDefOptionsAddInputMapping(options, "x", 0, out(seven, 0));
  TF_ImportGraphDefOptionsAddInputMapping(options, "nowhere", 1, out(seven, 0));
  TF_ImportGraphDefOptionsAddReturnOutput(options, "negative", 0);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "x", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "doubled");
  TF_ImportGraphDefOptionsAddControlDependency(options, seven);
  printf("asked %d %d\n", TF_ImportGraphDefOptionsNumReturnOutputs(options),
         TF_ImportGraphDefOptionsNumReturnOperations(options));
  results = TF_GraphImportGraphDefWithResults(other, message, options, status);
  OK(status);
  TF_ImportGraphDefResultsReturnOutputs(results, &n, &outputs);
  printf("outputs %d: %s:%d %s:%d\n", n, TF_OperationName(outputs[0].oper), outputs[0].index,
         TF_OperationName(outputs[1].oper), outputs[1].index);
  session = TF_NewSession(other, session_options, status);
  OK(status);
  printf("value %g\n", run_float(session, outputs[0], NULL, outputs[0], status));
  TF_ImportGraphDefResultsReturnOperations(results, &n, &opers);
  printf("operations %d: %s, after %d\n", n, TF_OperationName(opers[0]), TF_OperationNumControlInputs(opers[0]));
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &n, &names, &indexes);
  printf("missing %d: %s %d\n", n, names[0], indexes[0]);
  oper = TF_GraphOperationByName(other, "imported/two");
  printf("after %d\n", TF_OperationNumControlInputs(oper));
  TF_DeleteImportGraphDefResults(results);
  TF_DeleteImportGraphDefOptions(options);

  options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(graph, message, options, status);
  printf("names taken: %d\n", code(status));
  TF_ImportGraphDefOptionsSetPrefix(options, "imported");
  TF_ImportGraphDefOptionsSetUniquifyNames(options, 1);
  TF_GraphImportGraphDef(other, message, options, status);
  printf("numbered: %d\n", code(status));
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 1);
  TF_ImportGraphDefOptionsSetDefaultDevice(options, "/device:CPU:0");
  TF_GraphImportGraphDef(other, message, options, status);
  printf("numbered: %d\n", code(status));
  while ((oper = TF_GraphNextOperation(other, &pos)) != NULL) {
    printf("%s%s ", TF_OperationName(oper), TF_OperationDevice(oper));
  }
  TF_GraphImportGraphDef(other, &junk, options, status);
  printf("\njunk: %d\n", code(status));
  TF_ImportGraphDefOptionsAddReturnOutput(options, "nothing", 0);
  TF_GraphImportGraphDef(other, message, options, status);
  printf("no such output: %d\n", code(status));
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(message);
  TF_DeleteGraph(other); /* the session still has it */
  printf("value %g\n", run_float(session, out(seven, 0), NULL, out(seven, 0), status));
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(session_options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void gradients(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation *x = placeholder(graph, "x", TF_FLOAT, status), *other = placeholder(graph, "other", TF_FLOAT, status);
  TF_Operation *square = unary(graph, "Square", "square", out(x, 0), status),
               *weight = constant(graph, "weight", float_scalar(10), status),
               *tenfold = binary(graph, "Mul", "tenfold", out(weight, 0), out(x, 0), status);
  TF_Output ys[2] = {{square, 0}, {tenfold, 0}}, xs[1] = {{x, 0}}, dx[1] = {{weight, 0}}, dy[1], dy2[1];
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session;
  TF_AddGradients(graph, ys, 2, xs, 1, NULL, status, dy);
  OK(status);
  TF_AddGradientsWithPrefix(graph, "second", &ys[1], 1, xs, 1, NULL, status, dy2);
  OK(status);
  printf("in %d %d\n", strncmp(TF_OperationName(dy[0].oper), "gradients/", 10),
         strncmp(TF_OperationName(dy2[0].oper), "second/", 7));
  session = TF_NewSession(graph, options, status);
  printf("dy %g\n", run_float(session, xs[0], float_scalar(3), dy[0], status));
  printf("dy2 %g\n", run_float(session, xs[0], float_scalar(3), dy2[0], status));
  TF_AddGradients(graph, ys, 1, xs, 1, dx, status, dy);
  OK(status);
  printf("weighted %g\n", run_float(session, xs[0], float_scalar(3), dy[0], status));
  xs[0] = out(other, 0);
  TF_AddGradients(graph, ys, 1, xs, 1, NULL, status, dy);
  printf("not connected: %d\n", code(status));
  TF_AddGradientsWithPrefix(graph, "second", ys, 1, xs, 1, NULL, status, dy);
  printf("prefix taken: %d\n", code(status));
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void unfinished_loops(TF_Graph* graph, TF_Output* inputs, TF_Status* status) {
  TF_WhileParams loop = TF_NewWhile(graph, inputs, 2, status), other = TF_NewWhile(graph, inputs, 1, status);
  TF_Output results[2];
  OK(status);
  TF_FinishWhile(&loop, status, results);
  printf("not complete: %d\n", code(status));
  TF_AbortWhile(&other);
  TF_NewWhile(graph, inputs, 0, status);
  printf("no inputs: %d\n", code(status));
}

static void loops(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation *n = placeholder(graph, "n", TF_INT32, status), *one = constant(graph, "one", float_scalar(1), status);
  TF_Output inputs[2] = {{n, 0}, {one, 0}}, results[2];
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session;
  power_loop(graph, inputs[0], inputs[1], results, status);
  session = TF_NewSession(graph, options, status);
  printf("3^4 = %g\n", run_float(session, out(n, 0), int_scalar(4), results[1], status));
  unfinished_loops(graph, inputs, status);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void functions(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph *body = TF_NewGraph(), *graph = TF_NewGraph();
  TF_Operation *a = placeholder(body, "A", TF_FLOAT, status), *b = placeholder(body, "b", TF_FLOAT, status);
  TF_Operation *product = binary(body, "Mul", "product", out(a, 0), out(b, 0), status), *x, *call;
  TF_Output inputs[2] = {{a, 0}, {b, 0}}, outputs[1] = {{product, 0}};
  const char* names[] = {"area"};
  TF_Function *function, *copy, *found[2];
  TF_Buffer* message = TF_NewBuffer();
  TF_OperationDescription* desc;
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session;
  function = TF_GraphToFunction(body, "Area", 0, -1, NULL, 2, inputs, 1, outputs, names, NULL, "of a field", status);
  OK(status);
  printf("function %s\n", TF_FunctionName(function));
  TF_GraphCopyFunction(graph, function, NULL, status);
  OK(status);
  TF_GraphCopyFunction(graph, function, NULL, status);
  printf("functions %d %d\n", code(status), TF_GraphNumFunctions(graph));
  printf("got %d", TF_GraphGetFunctions(graph, found, 2, status));
  printf(" %s\n", TF_FunctionName(found[0]));
  TF_DeleteFunction(found[0]);
  TF_FunctionToFunctionDef(function, message, status);
  copy = TF_FunctionImportFunctionDef(message->data, message->length, status);
  OK(status);
  printf("copy %s\n", TF_FunctionName(copy));
  TF_DeleteBuffer(message);
  message = TF_NewBuffer();
  TF_FunctionSetAttrValueProto(copy, "_note", "\x12\x02hi", 4, status);
  OK(status);
  TF_FunctionGetAttrValueProto(copy, "_note", message, status);
  printf("attr of %zu bytes\n", message->length);
  TF_DeleteBuffer(message);
  message = TF_NewBuffer();
  TF_FunctionGetAttrValueProto(copy, "_other", message, status);
  printf("no such attr: %d\n", code(status));
  TF_DeleteFunction(copy);
  x = placeholder(graph, "x", TF_FLOAT, status);
  desc = TF_NewOperation(graph, "Area", "call");
  TF_AddInput(desc, out(x, 0));
  TF_AddInput(desc, out(x, 0));
  call = finish(desc, status);
  session = TF_NewSession(graph, options, status);
  printf("called %g\n", run_float(session, out(x, 0), float_scalar(5), out(call, 0), status));
  TF_DeleteSession(session, status);
  inputs[1] = inputs[0];
  TF_GraphToFunction(body, "Twice", 0, -1, NULL, 2, inputs, 1, outputs, NULL, NULL, NULL, status);
  printf("input twice: %d\n", code(status));
  inputs[0] = out(b, 0);
  call = a;
  copy = TF_GraphToFunction(body, "Less", 0, 1, (const TF_Operation* const*)&product, 1, inputs, 1, outputs, NULL,
                            NULL, NULL, status);
  printf("input missing: %d %d\n", copy == NULL, code(status));
  TF_DeleteSessionOptions(options);
  TF_DeleteFunction(function);
  TF_DeleteBuffer(message);
  TF_DeleteGraph(graph);
  TF_DeleteGraph(body);
  TF_DeleteStatus(status);
}

static void steps(void) {
  static const int64_t dims[] = {2};
  const char *words[] = {"one", "twenty-one"}, *decoded, *handle = NULL;
  char data[64];
  uint64_t* offsets = (uint64_t*)data;
  size_t at = 16, length;
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation *text = placeholder(graph, "text", TF_STRING, status), *a = placeholder(graph, "a", TF_FLOAT, status),
               *b = placeholder(graph, "b", TF_FLOAT, status);
  TF_Operation *sum = binary(graph, "Add", "sum", out(a, 0), out(b, 0), status),
               *product = binary(graph, "Mul", "product", out(sum, 0), out(b, 0), status),
               *same = unary(graph, "Identity", "same", out(text, 0), status), *variable, *start, *assign;
  TF_OperationDescription* desc;
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  TF_Tensor *tensor, *results[2], *fed[2];
  TF_Output feeds[2] = {{a, 0}, {b, 0}}, fetches[2] = {{sum, 0}, {product, 0}};
  TF_DeviceList* devices;
  TF_Buffer run_options = {"\x08\x03", 2, NULL}, *metadata = TF_NewBuffer(); /* trace_level: FULL_TRACE */
  int i;
  OK(status);
  for (i = 0; i < 2; ++i) {
    offsets[i] = at - 16;
    at += TF_StringEncode(words[i], strlen(words[i]), data + at, sizeof data - at, status);
  }
  tensor = run(session, out(text, 0), new_tensor(TF_STRING, dims, 1, data, at), out(same, 0), status);
  OK(status);
  length = TF_TensorByteSize(tensor);
  printf("strings in %zu bytes:", length);
  for (i = 0; i < 2; ++i) {
    const char* base = (const char*)TF_TensorData(tensor);
    size_t offset = ((const uint64_t*)base)[i], size;
    TF_StringDecode(base + 16 + offset, length - 16 - offset, &decoded, &size, status);
    OK(status);
    printf(" %.*s", (int)size, decoded);
  }
  printf("\n");
  TF_DeleteTensor(tensor);
  offsets[1] = 1000;
  tensor = run(session, out(text, 0), new_tensor(TF_STRING, dims, 1, data, at), out(same, 0), status);
  printf("malformed: %d %d\n", tensor == NULL, code(status));

  fed[0] = float_scalar(3);
  fed[1] = float_scalar(4);
  TF_SessionRun(session, &run_options, feeds, fed, 2, fetches, results, 2, NULL, 0, metadata, status);
  OK(status);
  printf("results %g %g, traced %d\n", *(float*)TF_TensorData(results[0]), *(float*)TF_TensorData(results[1]),
         metadata->length > 0);
  TF_DeleteTensor(results[0]);
  TF_DeleteTensor(results[1]);
  TF_SessionRun(session, NULL, feeds, fed, 1, fetches, results, 2, NULL, 0, NULL, status);
  printf("not fed: %d %d\n", code(status), results[0] == NULL);
  fetches[0].index = 7;
  TF_SessionRun(session, NULL, feeds, fed, 2, fetches, results, 2, NULL, 0, NULL, status);
  printf("no such output: %d\n", code(status) != TF_OK);
  fetches[0].index = 0;

  TF_SessionPRunSetup(session, feeds, 2, fetches, 2, NULL, 0, &handle, status);
  OK(status);
  TF_SessionPRun(session, handle, feeds, fed, 2, fetches, results, 1, NULL, 0, status);
  OK(status);
  printf("first piece %g\n", *(float*)TF_TensorData(results[0]));
  TF_DeleteTensor(results[0]);
  TF_SessionPRun(session, handle, feeds, fed, 1, fetches, results, 1, NULL, 0, status);
  printf("fed again: %d\n", code(status));
  TF_DeletePRunHandle(handle);
  TF_SessionPRunSetup(session, feeds, 2, fetches, 2, NULL, 0, &handle, status);
  OK(status);
  TF_SessionPRun(session, handle, feeds, fed, 2, fetches, results, 1, NULL, 0, status);
  OK(status);
  TF_DeleteTensor(results[0]);
  TF_SessionPRun(session, handle, NULL, NULL, 0, fetches + 1, results, 1, NULL, 0, status);
  OK(status);
  printf("second piece %g\n", *(float*)TF_TensorData(results[0]));
  TF_DeleteTensor(results[0]);
  TF_DeletePRunHandle(handle);
  TF_DeleteTensor(fed[0]);
  TF_DeleteTensor(fed[1]);

  desc = TF_NewOperation(graph, "VariableV2", "variable");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", NULL, 0);
  variable = finish(desc, status);
  printf("type %d\n", TF_OperationOutputType(out(variable, 0)));
  start = constant(graph, "start", float_scalar(5), status);
  assign = binary(graph, "Assign", "assign", out(variable, 0), out(start, 0), status);
  tensor = run(session, out(a, 0), NULL, out(variable, 0), status);
  printf("not initialized: %d\n", code(status));
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, (const TF_Operation* const*)&assign, 1, NULL, status);
  OK(status);
  printf("variable %g\n", run_float(session, out(a, 0), NULL, out(variable, 0), status));

  devices = TF_SessionListDevices(session, status);
  OK(status);
  printf("device %s %s\n", TF_DeviceListName(devices, 0, status), TF_DeviceListType(devices, 0, status));
  TF_DeviceListName(devices, 1000, status);
  printf("no such device: %d\n", code(status));
  TF_DeleteDeviceList(devices);
  printf("constant %d", TF_TryEvaluateConstant(graph, out(start, 0), &tensor, status));
  printf(" %g", *(float*)TF_TensorData(tensor));
  TF_DeleteTensor(tensor);
  printf(" %d\n", TF_TryEvaluateConstant(graph, out(sum, 0), &tensor, status));
  TF_CloseSession(session, status);
  OK(status);
  tensor = run(session, out(a, 0), NULL, out(variable, 0), status);
  printf("closed: %d\n", code(status));
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteBuffer(metadata);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

static void by_name(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Operation* x = placeholder(graph, "x", TF_FLOAT, status);
  TF_Buffer *message = TF_NewBuffer(), *ops;
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_DeprecatedSession* session = TF_NewDeprecatedSession(options, status);
  const char *inputs[] = {"x:0"}, *outputs[] = {"square:0"}, *wrong[] = {"nothing:0"};
  TF_Tensor *fed = float_scalar(6), *result = NULL;
  OK(status);
  unary(graph, "Square", "square", out(x, 0), status);
  TF_GraphToGraphDef(graph, message, status);
  TF_ExtendGraph(session, message->data, message->length, status);
  OK(status);
  TF_Run(session, NULL, inputs, &fed, 1, outputs, &result, 1, NULL, 0, NULL, status);
  OK(status);
  printf("by name %g\n", *(float*)TF_TensorData(result));
  TF_DeleteTensor(result);
  TF_Run(session, NULL, inputs, &fed, 1, wrong, &result, 1, NULL, 0, NULL, status);
  printf("no such tensor: %d\n", code(status));
  TF_DeleteTensor(fed);
  TF_CloseDeprecatedSession(session, status);
  TF_DeleteDeprecatedSession(session, status);
  TF_SetConfig(options, "\xff\xff", 2, status);
  printf("no ConfigProto: %d\n", code(status));
  TF_DeleteSessionOptions(options);

  TF_DeleteBuffer(message);
  message = TF_NewBuffer();
  TF_GraphGetOpDef(graph, "MatMul", message, status);
  printf("OpDef %d\n", code(status));
  TF_GraphGetOpDef(graph, "NoSuchOp", message, status);
  printf("no OpDef: %d\n", code(status));
  ops = TF_GetAllOpList();
  printf("all ops %d\n", ops->length > 10000);
  TF_DeleteBuffer(ops);
  ops = TF_GetAllRegisteredKernels(status);
  printf("all kernels %d\n", ops->length > 10000);
  TF_DeleteBuffer(ops);
  ops = TF_GetRegisteredKernelsForOp("MatMul", status);
  printf("kernels %d\n", ops->length > 0);
  TF_DeleteBuffer(ops);
  TF_LoadLibrary("/no/such/library.so", status);
  printf("no library: %d\n", code(status));
  TF_DeleteBuffer(message);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0); /* a crash hides nothing */
  values();
  attributes();
  questions();
  import_options();
  gradients();
  loops();
  functions();
  steps();
  by_name();
  return 0;
}
