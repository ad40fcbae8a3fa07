/* Everything that needs no Python: valgrind sees that all of it is released. */

#include "check.h"

int main(void) {
  static const int64_t dims[] = {2, 3};
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  char encoded[16];
  TF_Status* status = TF_NewStatus();
  TF_Buffer *empty = TF_NewBuffer(), *buffer = TF_NewBufferFromString("bytes", 5);
  TF_Tensor *tensor = new_tensor(TF_FLOAT, dims, 2, numbers, sizeof numbers),
            *other = TF_AllocateTensor(TF_INT32, dims, 2, sizeof numbers);
  TF_ImportGraphDefOptions* imports = TF_NewImportGraphDefOptions();
  TF_SessionOptions* options = TF_NewSessionOptions();
  CHECK(new_tensor(TF_FLOAT, dims, 2, numbers, 4) == NULL);
  TF_TensorBitcastFrom(tensor, TF_INT32, other, dims, 2, status);
  OK(status);
  TF_DeleteTensor(tensor);
  CHECK(((int*)TF_TensorData(other))[5] == 0x40c00000);
  TF_DeleteTensor(other);
  TF_StringEncode("text", 4, encoded, 2, status);
  CHECK(TF_GetCode(status) == TF_INVALID_ARGUMENT && strlen(TF_Message(status)) > 0);
  CHECK(TF_StringEncode("text", 4, encoded, sizeof encoded, status) == 5);
  TF_ImportGraphDefOptionsSetPrefix(imports, "scope/");
  TF_ImportGraphDefOptionsAddReturnOutput(imports, "x", 0);
  TF_SetTarget(options, "");
  TF_DeleteSessionOptions(options);
  TF_DeleteImportGraphDefOptions(imports);
  TF_DeleteBuffer(empty);
  TF_DeleteBuffer(buffer);
  TF_DeleteTensor(NULL);
  TF_DeleteStatus(status);
  printf("done\n");
  return 0;
}
