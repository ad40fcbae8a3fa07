/* Forks while another thread runs steps: the child finds no lock taken, is told that the session stayed with its parent,
   and makes one of its own. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tideflow/c_api.h>
#include <unistd.h>

static TF_Output x, y;
static TF_Session* session;
static volatile int is_over = 0;

/* The code of a step that squares a number. */
static TF_Code squared(TF_Session* from, float value, float* result) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor *fed = TF_AllocateTensor(TF_FLOAT, NULL, 0, sizeof value), *found = NULL;
  memcpy(TF_TensorData(fed), &value, sizeof value);
  TF_SessionRun(from, NULL, &x, &fed, 1, &y, &found, 1, NULL, 0, NULL, status);
  const TF_Code code = TF_GetCode(status);
  if (code == TF_OK) {
    memcpy(result, TF_TensorData(found), sizeof *result);
    TF_DeleteTensor(found);
  }
  TF_DeleteTensor(fed);
  TF_DeleteStatus(status);
  return code;
}

static void* work(void* unused) {
  float result;
  while (!is_over) squared(session, 2, &result);
  return unused;
}

static void in_the_child(TF_Graph* graph, const TF_SessionOptions* options) {
  TF_Status* status = TF_NewStatus();
  float result = 0;
  alarm(60);
  const TF_Code old = squared(session, 4, &result);
  TF_Session* own = TF_NewSession(graph, options, status);
  const TF_Code new = TF_GetCode(status) == TF_OK ? squared(own, 5, &result) : TF_GetCode(status);
  _exit(old == TF_FAILED_PRECONDITION && new == TF_OK && result == 25 ? 0 : 1);
}

int main(void) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  x = (TF_Output){TF_FinishOperation(desc, status), 0};
  desc = TF_NewOperation(graph, "Square", "y");
  TF_AddInput(desc, x);
  y = (TF_Output){TF_FinishOperation(desc, status), 0};
  TF_SessionOptions* options = TF_NewSessionOptions();
  session = TF_NewSession(graph, options, status);
  float result = 0;
  if (squared(session, 3, &result) != TF_OK) return 1;

  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 5; ++i) {
    usleep(20000);
    const pid_t child = fork();
    if (child == 0) in_the_child(graph, options);
    int how = 0;
    waitpid(child, &how, 0);
    printf("child %d: %s\n", i, how == 0 ? "well" : WIFSIGNALED(how) ? "stuck" : "wrong");
  }
  is_over = 1;
  pthread_join(thread, NULL);
  const TF_Code code = squared(session, 6, &result);
  printf("parent: %d %g\n", code, result);
  return 0;
}
