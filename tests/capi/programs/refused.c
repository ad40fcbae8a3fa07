/* What the C API says where a program makes a mistake. TensorFlow 1.15's library and Tideflow's must say the same. */

#include "check.h"

static TF_Status* status;
static TF_Graph* graph;
static TF_Operation *x, *number, *flag, *image;
static int count = 0;

/* A message up to the first summary of an op type: some op types take more types here. */
static void show(const char* what) {
  const char* text = TF_Message(status);
  const char* summary = strstr(text, "Op<");
  const char* place = strstr(text, "\n    made at");
  const char* end = text + strlen(text);
  if (place != NULL) end = place;
  if (summary != NULL && summary < end) end = summary;
  printf("%s: %d %.*s\n", what, TF_GetCode(status), (int)(end - text), text);
  TF_SetStatus(status, TF_OK, "");
}

static TF_OperationDescription* new_op(const char* type) {
  char name[20];
  snprintf(name, sizeof name, "o%d", count++);
  return TF_NewOperation(graph, type, name);
}

static TF_OperationDescription* with_input(const char* type, TF_Operation* input) {
  TF_OperationDescription* desc = new_op(type);
  TF_AddInput(desc, out(input, 0));
  return desc;
}

static void end(const char* what, TF_OperationDescription* desc) {
  TF_FinishOperation(desc, status);
  show(what);
}

static TF_OperationDescription* pool(const char* padding, int sizes) {
  static const int64_t ones[] = {1, 1, 1, 1};
  TF_OperationDescription* desc = with_input("AvgPool", image);
  TF_SetAttrIntList(desc, "ksize", ones, sizes);
  TF_SetAttrIntList(desc, "strides", ones, 4);
  TF_SetAttrString(desc, "padding", padding, strlen(padding));
  return desc;
}

static void inputs(void) {
  TF_Output one[1] = {out(x, 0)}, two[2] = {out(x, 0), out(number, 0)};
  TF_OperationDescription* desc = new_op("Neg");
  end("no input", desc);
  desc = with_input("Neg", x);
  TF_AddInput(desc, out(x, 0));
  end("an input too many", desc);
  desc = with_input("Add", x);
  TF_AddInput(desc, out(number, 0));
  end("two types", desc);
  desc = with_input("Add", x);
  TF_AddInput(desc, out(number, 0));
  TF_AddInput(desc, out(number, 0));
  end("two mistakes", desc);
  desc = new_op("Neg");
  TF_AddInputList(desc, one, 1);
  end("a list for one", desc);
  end("one for a list", with_input("AddN", x));
  desc = new_op("AddN");
  TF_AddInputList(desc, two, 2);
  end("two types in a list", desc);
  desc = new_op("AddN");
  TF_AddInputList(desc, one, 1);
  TF_SetAttrInt(desc, "N", 3);
  end("another number", desc);
  desc = new_op("AddN");
  TF_AddInputList(desc, NULL, 0);
  TF_SetAttrType(desc, "T", TF_FLOAT);
  end("no list", desc);
  desc = new_op("Neg");
  TF_AddInput(desc, out(x, 1));
  end("no such output", desc);
  desc = with_input("Switch", x);
  TF_AddInput(desc, out(x, 0));
  end("a type that the op type has", desc);
  desc = with_input("Assign", x);
  TF_AddInput(desc, out(x, 0));
  end("no reference", desc);
  desc = with_input("Reshape", x);
  TF_AddInput(desc, out(x, 0));
  end("a type that is not allowed", desc);
}

static void attributes(void) {
  TF_OperationDescription* desc = new_op("Placeholder");
  end("no attr", desc);
  desc = new_op("Placeholder");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrInt(desc, "other", 3);
  end("no such attr", desc);
  desc = new_op("Placeholder");
  TF_SetAttrInt(desc, "dtype", 1);
  end("another kind", desc);
  desc = new_op("Placeholder");
  TF_SetAttrType(desc, "dtype", (TF_DataType)99);
  end("no type", desc);
  desc = new_op("Placeholder");
  TF_SetAttrType(desc, "dtype", (TF_DataType)0);
  end("the invalid type", desc);
  desc = new_op("Placeholder");
  TF_SetAttrType(desc, "dtype", (TF_DataType)101);
  end("a reference", desc);
  desc = new_op("Placeholder");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrType(desc, "dtype", TF_INT32);
  end("set twice", desc);
  desc = with_input("Neg", x);
  TF_SetAttrType(desc, "T", TF_INT32);
  end("another type", desc);
  desc = with_input("Neg", x);
  TF_SetAttrPlaceholder(desc, "T", "S");
  end("a placeholder", desc);
  desc = with_input("LRN", image);
  TF_SetAttrInt(desc, "alpha", 2);
  end("an int for a float", desc);
  desc = with_input("Unpack", x);
  TF_SetAttrInt(desc, "num", -1);
  end("too small", desc);
  end("a list too short", pool("SAME", 3));
  end("not in the list", pool("OTHER", 4));
}

static void questions(void) {
  int64_t dims[2] = {0, 0}, three[3] = {1, 2, 3};
  float real;
  TF_DataType type;
  TF_Tensor* value;
  TF_Graph* other = TF_NewGraph();
  TF_OperationGetAttrInt(x, "dtype", dims, status);
  show("no int");
  TF_OperationGetAttrFloat(x, "shape", &real, status);
  show("no float");
  TF_OperationGetAttrType(x, "shape", &type, status);
  show("no type");
  TF_OperationGetAttrString(x, "dtype", dims, 1, status);
  show("no string");
  TF_OperationGetAttrIntList(x, "dtype", dims, 2, status);
  show("no list");
  TF_OperationGetAttrTensor(x, "dtype", &value, status);
  show("no tensor");
  TF_OperationGetAttrInt(x, "nothing", dims, status);
  show("no attr");
  TF_OperationInputListLength(x, "input", status);
  show("no input");
  TF_OperationOutputListLength(x, "input", status);
  show("no output");
  TF_GraphGetTensorShape(graph, out(number, 0), dims, 2, status);
  show("no rank");
  TF_GraphSetTensorShape(graph, out(x, 0), three, 3, status);
  show("another rank");
  TF_GraphGetTensorNumDims(other, out(x, 0), status);
  show("another graph");
  value = float_scalar(1);
  TF_TensorBitcastFrom(value, TF_DOUBLE, value, NULL, 0, status);
  show("another size");
  TF_TensorBitcastFrom(value, TF_STRING, value, NULL, 0, status);
  show("no size");
  TF_DeleteTensor(value);
  TF_DeleteGraph(other);
}

static void mapped(const char* what, const char* name, int index, const char* prefix) {
  TF_Graph* target = TF_NewGraph();
  TF_Buffer* graph_def = TF_NewBuffer();
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefResults* results;
  int i, unused = 0, *indexes = NULL;
  const char** names = NULL;
  TF_GraphToGraphDef(graph, graph_def, status);
  OK(status);
  if (prefix != NULL) TF_ImportGraphDefOptionsSetPrefix(options, prefix);
  if (index < 0) {
    TF_ImportGraphDefOptionsRemapControlDependency(options, name, placeholder(target, "z", TF_FLOAT, status));
  } else {
    TF_ImportGraphDefOptionsAddInputMapping(options, name, index,
                                            out(placeholder(target, "z", TF_FLOAT, status), 0));
  }
  results = TF_GraphImportGraphDefWithResults(target, graph_def, options, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &unused, &names, &indexes);
    for (i = 0; i < unused; ++i) printf("unused %s:%d, ", names[i], indexes[i]);
    TF_DeleteImportGraphDefResults(results);
  }
  show(what);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(graph_def);
  TF_DeleteGraph(target);
}

static void gradients(void) {
  TF_Output y = out(unary(graph, "Square", "y", out(x, 0), status), 0), of = out(x, 0), made;
  TF_Output size = out(unary(graph, "Shape", "size", out(x, 0), status), 0);
  TF_AddGradients(graph, &size, 1, &of, 1, NULL, status, &made);
  printf("%s, ", made.oper == NULL ? "none" : "one");
  show("no gradient");
  TF_AddGradientsWithPrefix(graph, "y", &y, 1, &of, 1, NULL, status, &made);
  show("a prefix that is taken");
}

int main(void) {
  static const int64_t two[] = {2, -1}, four[] = {1, 4, 4, 1};
  TF_OperationDescription* desc;
  status = TF_NewStatus();
  graph = TF_NewGraph();
  desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", two, 2);
  x = finish(desc, status);
  number = placeholder(graph, "number", TF_INT32, status);
  flag = placeholder(graph, "flag", TF_BOOL, status);
  desc = TF_NewOperation(graph, "Placeholder", "image");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", four, 4);
  image = finish(desc, status);
  inputs();
  attributes();
  questions();
  mapped("an output that is not there", "x", 1, NULL);
  mapped("a node that is not there", "nothing", 0, NULL);
  mapped("a control input that is not there", "nothing", -1, NULL);
  mapped("no prefix", "x", 0, "a b");
  gradients();
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
