/* Trains a line by gradient descent, then serves a SavedModel (examples/capi/save_model.py makes one).

     make capi
     python examples/capi/save_model.py out/half_plus_two
     gcc examples/capi/line.c $(PKG_CONFIG_PATH=build/capi/lib/pkgconfig pkg-config --cflags --libs tideflow) -o out/line
     out/line out/half_plus_two */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tideflow/c_api.h>

enum { POINTS = 16, STEPS = 200 };

static TF_Status* status;

static void check(void) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "error %d: %s\n", TF_GetCode(status), TF_Message(status));
  exit(1);
}

static TF_Tensor* floats(const float* values, const int64_t* dims, int num_dims, size_t count) {
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, num_dims, count * sizeof(float));
  memcpy(TF_TensorData(tensor), values, count * sizeof(float));
  return tensor;
}

/* Adds an operation of up to three inputs; those that are left out have no operation. */
static TF_Output add(TF_Graph* graph, const char* type, const char* name, TF_Output a, TF_Output b, TF_Output c) {
  TF_OperationDescription* desc = TF_NewOperation(graph, type, name);
  if (a.oper) TF_AddInput(desc, a);
  if (b.oper) TF_AddInput(desc, b);
  if (c.oper) TF_AddInput(desc, c);
  if (!strcmp(type, "Placeholder")) TF_SetAttrType(desc, "dtype", TF_FLOAT);
  if (!strcmp(type, "VariableV2")) {
    TF_SetAttrType(desc, "dtype", TF_FLOAT);
    TF_SetAttrShape(desc, "shape", NULL, 0);
  }
  TF_Output output = {TF_FinishOperation(desc, status), 0};
  check();
  return output;
}

static TF_Output constant(TF_Graph* graph, const char* name, TF_Tensor* value) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  TF_SetAttrTensor(desc, "value", value, status);
  check();
  TF_DeleteTensor(value);
  TF_Output output = {TF_FinishOperation(desc, status), 0};
  check();
  return output;
}

static void train(void) {
  const TF_Output none = {NULL, 0};
  TF_Graph* graph = TF_NewGraph();
  TF_Output x = add(graph, "Placeholder", "x", none, none, none);
  TF_Output y = add(graph, "Placeholder", "y", none, none, none);
  TF_Output slope = add(graph, "VariableV2", "slope", none, none, none);
  TF_Output offset = add(graph, "VariableV2", "offset", none, none, none);
  const float zero = 0, rate = 0.1f;
  const int32_t axis = 0;
  TF_Output start = constant(graph, "start", floats(&zero, NULL, 0, 1));
  TF_Output rates = constant(graph, "rate", floats(&rate, NULL, 0, 1));
  const int64_t one = 1;
  TF_Tensor* axes = TF_AllocateTensor(TF_INT32, &one, 1, sizeof axis);
  memcpy(TF_TensorData(axes), &axis, sizeof axis);
  TF_Output all = constant(graph, "axes", axes);
  TF_Output line = add(graph, "Add", "line", add(graph, "Mul", "scaled", slope, x, none), offset, none);
  TF_Output error = add(graph, "SquaredDifference", "error", line, y, none);
  TF_Output loss = add(graph, "Mean", "loss", error, all, none);

  TF_Output variables[2] = {slope, offset}, gradients[2];
  TF_AddGradients(graph, &loss, 1, variables, 2, NULL, status, gradients);
  check();
  const TF_Operation* begin[2] = {add(graph, "Assign", "begin_slope", slope, start, none).oper,
                                  add(graph, "Assign", "begin_offset", offset, start, none).oper};
  const TF_Operation* descend[2] = {add(graph, "ApplyGradientDescent", "d_slope", slope, rates, gradients[0]).oper,
                                    add(graph, "ApplyGradientDescent", "d_offset", offset, rates, gradients[1]).oper};

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  check();
  TF_DeleteSessionOptions(options);
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, begin, 2, NULL, status);
  check();

  float xs[POINTS], ys[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    xs[i] = (float)i / POINTS * 2 - 1;
    ys[i] = 3 * xs[i] + 2;
  }
  const int64_t points = POINTS;
  TF_Output feeds[2] = {x, y};
  TF_Tensor* fed[2] = {floats(xs, &points, 1, POINTS), floats(ys, &points, 1, POINTS)};
  for (int step = 0; step < STEPS; ++step) {
    TF_SessionRun(session, NULL, feeds, fed, 2, NULL, NULL, 0, descend, 2, NULL, status);
    check();
  }
  TF_Tensor* found[2];
  TF_SessionRun(session, NULL, NULL, NULL, 0, variables, found, 2, NULL, 0, NULL, status);
  check();
  printf("line: y = %.2f x + %.2f\n", *(float*)TF_TensorData(found[0]), *(float*)TF_TensorData(found[1]));
  for (int i = 0; i < 2; ++i) {
    TF_DeleteTensor(fed[i]);
    TF_DeleteTensor(found[i]);
  }
  TF_DeleteSession(session, status);
  check();
  TF_DeleteGraph(graph);
}

static void serve(const char* model) {
  const char* tags[] = {"serve"};
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_LoadSessionFromSavedModel(options, NULL, model, tags, 1, graph, NULL, status);
  check();
  TF_DeleteSessionOptions(options);
  TF_Output x = {TF_GraphOperationByName(graph, "x"), 0}, y = {TF_GraphOperationByName(graph, "y"), 0};
  const float values[3] = {1, 2, 3};
  const int64_t count = 3;
  TF_Tensor *fed = floats(values, &count, 1, 3), *found = NULL;
  TF_SessionRun(session, NULL, &x, &fed, 1, &y, &found, 1, NULL, 0, NULL, status);
  check();
  const float* results = (const float*)TF_TensorData(found);
  printf("model: %g %g %g\n", results[0], results[1], results[2]);
  TF_DeleteTensor(fed);
  TF_DeleteTensor(found);
  TF_DeleteSession(session, status);
  check();
  TF_DeleteGraph(graph);
}

int main(int argc, char** argv) {
  status = TF_NewStatus();
  train();
  if (argc > 1) serve(argv[1]);
  TF_DeleteStatus(status);
  return 0;
}
