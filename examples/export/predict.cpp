// Loads a model that `tideflow export MODEL --to aot` wrote, and runs it on a row of ones; no Python.
//   predict MODEL.pt2 BATCH WIDTH
#include <cstdlib>
#include <iostream>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: predict MODEL.pt2 BATCH WIDTH\n";
    return 2;
  }
  c10::InferenceMode inference;
  torch::inductor::AOTIModelPackageLoader model(arguments[1]);
  std::vector<at::Tensor> inputs = {at::ones({std::atol(arguments[2]), std::atol(arguments[3])})};
  for (const at::Tensor& output : model.run(inputs)) {
    const at::Tensor numbers = output.to(at::kFloat).contiguous();
    for (int64_t i = 0; i < numbers.numel(); i++) {
      std::cout << numbers.data_ptr<float>()[i] << (i + 1 < numbers.numel() ? ' ' : '\n');
    }
  }
}
