/* What the programs of the tests share: short names for long calls, and an end where something fails. */

#ifndef CHECK_H_
#define CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static void free_data(void* data, size_t length, void* arg) {
  (void)length;
  (void)arg;
  free(data);
}

/* A tensor that owns a copy of the values. */
static TF_Tensor* new_tensor(TF_DataType type, const int64_t* dims, int num_dims, const void* data, size_t length) {
  void* copy = malloc(length ? length : 1);
  if (length) memcpy(copy, data, length);
  return TF_NewTensor(type, dims, num_dims, copy, length, free_data, NULL);
}

static TF_Tensor* float_scalar(float value) { return new_tensor(TF_FLOAT, NULL, 0, &value, sizeof value); }

static TF_Tensor* int_scalar(int32_t value) { return new_tensor(TF_INT32, NULL, 0, &value, sizeof value); }

static void check_ok(const TF_Status* status, const char* file, int line) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s:%d: code %d: %s\n", file, line, TF_GetCode(status), TF_Message(status));
  exit(1);
}
#define OK(status) check_ok(status, __FILE__, __LINE__)

/* The code of a call, after which the status is good again: some of TensorFlow's functions do nothing if it is not. */
static int code(TF_Status* status) {
  int found = TF_GetCode(status);
  TF_SetStatus(status, TF_OK, "");
  return found;
}

static void check_true(int condition, const char* text, const char* file, int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
  exit(1);
}
#define CHECK(condition) check_true(condition, #condition, __FILE__, __LINE__)

static TF_Output out(TF_Operation* oper, int index) {
  TF_Output output = {oper, index};
  return output;
}

static TF_Operation* finish(TF_OperationDescription* desc, TF_Status* status) {
  TF_Operation* oper = TF_FinishOperation(desc, status);
  OK(status);
  return oper;
}

static TF_Operation* placeholder(TF_Graph* graph, const char* name, TF_DataType type, TF_Status* status) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  return finish(desc, status);
}

static TF_Operation* constant(TF_Graph* graph, const char* name, TF_Tensor* value, TF_Status* status) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "Const", name);
  TF_SetAttrTensor(desc, "value", value, status);
  OK(status);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  TF_DeleteTensor(value);
  return finish(desc, status);
}

static TF_Operation* binary(TF_Graph* graph, const char* type, const char* name, TF_Output a, TF_Output b,
                            TF_Status* status) {
  TF_OperationDescription* desc = TF_NewOperation(graph, type, name);
  TF_AddInput(desc, a);
  TF_AddInput(desc, b);
  return finish(desc, status);
}

static TF_Operation* unary(TF_Graph* graph, const char* type, const char* name, TF_Output a, TF_Status* status) {
  TF_OperationDescription* desc = TF_NewOperation(graph, type, name);
  TF_AddInput(desc, a);
  return finish(desc, status);
}

/* A loop that goes on while n is more than 0, counts it down, and multiplies the other input by 3 each time. */
static void power_loop(TF_Graph* graph, TF_Output n, TF_Output one, TF_Output* results, TF_Status* status) {
  TF_Output inputs[2] = {n, one};
  TF_WhileParams loop = TF_NewWhile(graph, inputs, 2, status);
  TF_Operation* value;
  OK(status);
  loop.name = "loop";
  value = constant(loop.cond_graph, "zero", int_scalar(0), status);
  loop.cond_output = out(binary(loop.cond_graph, "Greater", "more", loop.cond_inputs[0], out(value, 0), status), 0);
  value = constant(loop.body_graph, "one", int_scalar(1), status);
  loop.body_outputs[0] = out(binary(loop.body_graph, "Sub", "less", loop.body_inputs[0], out(value, 0), status), 0);
  value = constant(loop.body_graph, "three", float_scalar(3), status);
  loop.body_outputs[1] = out(binary(loop.body_graph, "Mul", "power", loop.body_inputs[1], out(value, 0), status), 0);
  TF_FinishWhile(&loop, status, results);
  OK(status);
}

/* Feeds one tensor, which is deleted, or none, and fetches one. */
static TF_Tensor* run(TF_Session* session, TF_Output feed, TF_Tensor* value, TF_Output fetch, TF_Status* status) {
  TF_Tensor* result = NULL;
  int fed = value != NULL;
  TF_SessionRun(session, NULL, &feed, &value, fed, &fetch, &result, 1, NULL, 0, NULL, status);
  if (fed) TF_DeleteTensor(value);
  return result;
}

static float run_float(TF_Session* session, TF_Output feed, TF_Tensor* value, TF_Output fetch, TF_Status* status) {
  TF_Tensor* result = run(session, feed, value, fetch, status);
  float number;
  OK(status);
  number = *(float*)TF_TensorData(result);
  TF_DeleteTensor(result);
  return number;
}

#endif
