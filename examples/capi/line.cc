// Trains a line by gradient descent, then serves a SavedModel, in C++: what must be deleted is owned.
//
//   make capi
//   python examples/capi/save_model.py out/half_plus_two
//   export PKG_CONFIG_PATH=build/capi/lib/pkgconfig
//   g++ -std=c++17 examples/capi/line.cc $(pkg-config --cflags --libs tideflow) -o out/line
//   out/line out/half_plus_two

#include <tideflow/c_api.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

class Status {
 public:
  operator TF_Status*() const { return status_.get(); }
  void check() const {
    if (TF_GetCode(status_.get()) != TF_OK) throw std::runtime_error(TF_Message(status_.get()));
  }

 private:
  std::unique_ptr<TF_Status, void (*)(TF_Status*)> status_{TF_NewStatus(), TF_DeleteStatus};
};

using Tensor = std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)>;

template <typename T>
Tensor tensor(TF_DataType type, const std::vector<int64_t>& dims, const std::vector<T>& values) {
  const size_t bytes = values.size() * sizeof(T);
  Tensor made(TF_AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), bytes), TF_DeleteTensor);
  std::memcpy(TF_TensorData(made.get()), values.data(), bytes);
  return made;
}

class Graph {
 public:
  operator TF_Graph*() const { return graph_.get(); }

  TF_Output operator()(const char* type, const std::string& name, const std::vector<TF_Output>& inputs = {},
                       const std::function<void(TF_OperationDescription*)>& attributes = {}) {
    TF_OperationDescription* desc = TF_NewOperation(graph_.get(), type, name.c_str());
    for (const TF_Output& input : inputs) TF_AddInput(desc, input);
    if (attributes) attributes(desc);
    TF_Operation* made = TF_FinishOperation(desc, status_);
    status_.check();
    return {made, 0};
  }

  TF_Output constant(const std::string& name, const Tensor& value) {
    return (*this)("Const", name, {}, [&](TF_OperationDescription* desc) {
      TF_SetAttrType(desc, "dtype", TF_TensorType(value.get()));
      TF_SetAttrTensor(desc, "value", value.get(), status_);
    });
  }

  std::vector<TF_Output> gradients(TF_Output y, std::vector<TF_Output> xs) {
    std::vector<TF_Output> made(xs.size());
    TF_AddGradients(graph_.get(), &y, 1, xs.data(), static_cast<int>(xs.size()), nullptr, status_, made.data());
    status_.check();
    return made;
  }

 private:
  Status status_;
  std::unique_ptr<TF_Graph, void (*)(TF_Graph*)> graph_{TF_NewGraph(), TF_DeleteGraph};
};

class Session {
 public:
  explicit Session(const Graph& graph) {
    session_ = TF_NewSession(graph, options_.get(), status_);
    status_.check();
  }
  Session(const Graph& graph, const char* saved_model) {
    const char* tags[] = {"serve"};
    session_ = TF_LoadSessionFromSavedModel(options_.get(), nullptr, saved_model, tags, 1, graph, nullptr, status_);
    status_.check();
  }
  Session(const Session&) = delete;
  ~Session() { TF_DeleteSession(session_, status_); }

  struct Feed {
    TF_Output output;
    const Tensor& value;
  };

  std::vector<Tensor> run(const std::vector<Feed>& feeds, const std::vector<TF_Output>& fetches,
                          const std::vector<const TF_Operation*>& targets = {}) {
    std::vector<TF_Output> inputs;
    std::vector<TF_Tensor*> values, results(fetches.size());
    for (const Feed& feed : feeds) inputs.push_back(feed.output), values.push_back(feed.value.get());
    TF_SessionRun(session_, nullptr, inputs.data(), values.data(), static_cast<int>(inputs.size()), fetches.data(),
                  results.data(), static_cast<int>(fetches.size()), targets.data(), static_cast<int>(targets.size()),
                  nullptr, status_);
    status_.check();
    std::vector<Tensor> owned;
    for (TF_Tensor* result : results) owned.emplace_back(result, TF_DeleteTensor);
    return owned;
  }

 private:
  Status status_;
  std::unique_ptr<TF_SessionOptions, void (*)(TF_SessionOptions*)> options_{TF_NewSessionOptions(),
                                                                            TF_DeleteSessionOptions};
  TF_Session* session_;
};

float number(const Tensor& tensor, int index = 0) {
  return static_cast<const float*>(TF_TensorData(tensor.get()))[index];
}

void train() {
  Graph graph;
  const auto real = [](TF_OperationDescription* desc) { TF_SetAttrType(desc, "dtype", TF_FLOAT); };
  const auto scalar = [&](TF_OperationDescription* desc) {
    real(desc);
    TF_SetAttrShape(desc, "shape", nullptr, 0);
  };
  const TF_Output x = graph("Placeholder", "x", {}, real), y = graph("Placeholder", "y", {}, real);
  const TF_Output slope = graph("VariableV2", "slope", {}, scalar), offset = graph("VariableV2", "offset", {}, scalar);
  const TF_Output line = graph("Add", "line", {graph("Mul", "scaled", {slope, x}), offset});
  const TF_Output axes = graph.constant("axes", tensor<int32_t>(TF_INT32, {1}, {0}));
  const TF_Output loss = graph("Mean", "loss", {graph("SquaredDifference", "error", {line, y}), axes});
  const TF_Output zero = graph.constant("zero", tensor<float>(TF_FLOAT, {}, {0}));
  const TF_Output rate = graph.constant("rate", tensor<float>(TF_FLOAT, {}, {0.1f}));
  const std::vector<TF_Output> gradients = graph.gradients(loss, {slope, offset});
  const std::vector<const TF_Operation*> begin = {graph("Assign", "begin_slope", {slope, zero}).oper,
                                                  graph("Assign", "begin_offset", {offset, zero}).oper};
  const std::vector<const TF_Operation*> descend = {
      graph("ApplyGradientDescent", "d_slope", {slope, rate, gradients[0]}).oper,
      graph("ApplyGradientDescent", "d_offset", {offset, rate, gradients[1]}).oper};

  std::vector<float> xs, ys;
  for (int i = 0; i < 16; ++i) xs.push_back(static_cast<float>(i) / 8 - 1), ys.push_back(3 * xs.back() + 2);
  const Tensor fed_x = tensor(TF_FLOAT, {16}, xs), fed_y = tensor(TF_FLOAT, {16}, ys);
  Session session(graph);
  session.run({}, {}, begin);
  for (int step = 0; step < 200; ++step) session.run({{x, fed_x}, {y, fed_y}}, {}, descend);
  const std::vector<Tensor> found = session.run({}, {slope, offset});
  std::printf("line: y = %.2f x + %.2f\n", number(found[0]), number(found[1]));
}

void serve(const char* model) {
  Graph graph;
  Session session(graph, model);
  const TF_Output x = {TF_GraphOperationByName(graph, "x"), 0}, y = {TF_GraphOperationByName(graph, "y"), 0};
  const std::vector<Tensor> found = session.run({{x, tensor<float>(TF_FLOAT, {3}, {1, 2, 3})}}, {y});
  std::printf("model: %g %g %g\n", number(found[0], 0), number(found[0], 1), number(found[0], 2));
}

int main(int argc, char** argv) try {
  train();
  if (argc > 1) serve(argv[1]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
