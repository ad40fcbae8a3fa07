// Ops of what TensorFlow's headers have beside tensors: random numbers, texts, hashes, containers, files.
#include <map>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/lib/core/bits.h"
#include "tensorflow/core/lib/core/blocking_counter.h"
#include "tensorflow/core/lib/core/coding.h"
#include "tensorflow/core/lib/core/raw_coding.h"
#include "tensorflow/core/lib/core/threadpool.h"
#include "tensorflow/core/lib/gtl/cleanup.h"
#include "tensorflow/core/lib/gtl/edit_distance.h"
#include "tensorflow/core/lib/gtl/flatmap.h"
#include "tensorflow/core/lib/gtl/flatset.h"
#include "tensorflow/core/lib/gtl/map_util.h"
#include "tensorflow/core/lib/gtl/stl_util.h"
#include "tensorflow/core/lib/gtl/top_n.h"
#include "tensorflow/core/lib/hash/hash.h"
#include "tensorflow/core/lib/io/inputbuffer.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/lib/random/distribution_sampler.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random.h"
#include "tensorflow/core/lib/random/random_distributions.h"
#include "tensorflow/core/lib/random/simple_philox.h"
#include "tensorflow/core/lib/strings/base64.h"
#include "tensorflow/core/lib/strings/numbers.h"
#include "tensorflow/core/lib/strings/str_util.h"
#include "tensorflow/core/lib/strings/strcat.h"
#include "tensorflow/core/lib/strings/stringprintf.h"
#include "tensorflow/core/platform/cpu_info.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/fingerprint.h"
#include "tensorflow/core/platform/mem.h"
#include "tensorflow/core/platform/prefetch.h"
#include "tensorflow/core/util/bcast.h"
#include "tensorflow/core/util/env_var.h"
#include "tensorflow/core/util/guarded_philox_random.h"
#include "tensorflow/core/util/overflow.h"

namespace parts {

using namespace tensorflow;

template <typename Items>
string Joined(const Items& items) {
  return str_util::Join(items, " ");
}

Status Answer(OpKernelContext* context, const std::vector<string>& lines) {
  Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(context->allocate_output(0, TensorShape({static_cast<int64>(lines.size())}), &output));
  for (size_t i = 0; i < lines.size(); ++i) output->flat<string>()(i) = lines[i];
  return Status::OK();
}

// ---------------------------------------------------------------------------------------------- random numbers

REGISTER_OP("Drawn")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("count: int >= 1")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Output("uniform: T")
    .Output("normal: T")
    .Output("truncated: T")
    .Output("small: int32")
    .Output("large: int64")
    .SetIsStateful()
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      int64 count;
      TF_RETURN_IF_ERROR(c->GetAttr("count", &count));
      for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->Vector(count));
      return Status::OK();
    });

template <typename T>
class DrawnOp : public OpKernel {
  typedef random::PhiloxRandom Philox;

 public:
  explicit DrawnOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, generator_.Init(context));
    OP_REQUIRES_OK(context, context->GetAttr("count", &count_));
  }

  void Compute(OpKernelContext* context) override {
    Fill<T>(context, 0, random::UniformDistribution<Philox, T>());
    Fill<T>(context, 1, random::NormalDistribution<Philox, T>());
    Tensor* truncated = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(2, TensorShape({count_}), &truncated));
    auto philox = generator_.ReserveRandomOutputs(count_, 256);
    random::SingleSampleAdapter<Philox> single(&philox);
    Draw<T>(&single, random::TruncatedNormalDistribution<random::SingleSampleAdapter<Philox>, T>(), truncated);
    Fill<int32>(context, 3, random::UniformDistribution<Philox, int32>(-7, 100));
    Fill<int64>(context, 4, random::UniformDistribution<Philox, int64>(-7, 1LL << 40));
  }

 private:
  template <typename E, typename Distribution>
  void Fill(OpKernelContext* context, int i, Distribution distribution) {
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(i, TensorShape({count_}), &output));
    auto philox = generator_.ReserveRandomOutputs(count_, 4);
    Draw<E>(&philox, distribution, output);
  }
  template <typename E, typename Generator, typename Distribution>
  void Draw(Generator* generator, Distribution distribution, Tensor* to) {
    auto values = to->flat<E>();
    for (int64 at = 0; at < count_;) {
      const auto drawn = distribution(generator);
      for (int k = 0; k < Distribution::kResultElementCount && at < count_; ++k) values(at++) = drawn[k];
    }
  }

  int64 count_;
  GuardedPhiloxRandom generator_;
};
#define REGISTER_DRAWN(T) \
  REGISTER_KERNEL_BUILDER(Name("Drawn").Device(DEVICE_CPU).TypeConstraint<T>("T"), DrawnOp<T>);
REGISTER_DRAWN(Eigen::half);
REGISTER_DRAWN(bfloat16);
REGISTER_DRAWN(float);
REGISTER_DRAWN(double);

// Rows of a matrix, picked by weight: indices, and how often each row came.
REGISTER_OP("PickRows")
    .Input("rows: float")
    .Input("weights: float")
    .Attr("count: int")
    .Attr("seed: int")
    .Output("picked: float")
    .Output("texts: string");

class PickRowsOp : public OpKernel {
 public:
  explicit PickRowsOp(OpKernelConstruction* context) : OpKernel(context), simple_(&philox_) {
    int64 seed;
    OP_REQUIRES_OK(context, context->GetAttr("count", &count_));
    OP_REQUIRES_OK(context, context->GetAttr("seed", &seed));
    philox_ = random::PhiloxRandom(seed, 5);
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& rows = context->input(0);
    const auto weights = context->input(1).flat<float>();
    random::DistributionSampler sampler(gtl::ArraySlice<float>(weights.data(), weights.size()));
    mutex_lock lock(mutex_);
    std::map<int, int> often;
    std::vector<Tensor> picked;
    for (int i = 0; i < count_; ++i) {
      const int row = sampler.Sample(&simple_);
      ++often[row];
      picked.push_back(tensor::DeepCopy(rows.Slice(row, row + 1)));
    }
    Tensor all;
    OP_REQUIRES_OK(context, tensor::Concat(picked, &all));
    context->set_output(0, all);
    std::vector<string> lines;
    for (const auto& pair : often) lines.push_back(strings::StrCat(pair.first, ": ", pair.second));
    lines.push_back(strings::StrCat(simple_.Rand32(), " ", simple_.Rand64(), " ", simple_.RandFloat(), " ",
                                    simple_.RandDouble()));
    lines.push_back(strings::StrCat(simple_.Uniform(8), " ", simple_.Uniform(1000000007), " ",
                                    simple_.Uniform64(1000000000000000003ULL), " ", simple_.OneIn(2), " ",
                                    simple_.Skewed(20)));
    philox_.Skip((1ULL << 63) + 12345);
    philox_.Skip((1ULL << 63) + 12345);
    const auto far = philox_();
    lines.push_back(strings::StrCat(far[0], " ", far[1], " ", far[2], " ", far[3]));
    lines.push_back(random::New64() != random::New64() ? "other bits" : "the same bits");
    Tensor* texts = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({static_cast<int64>(lines.size())}), &texts));
    for (size_t i = 0; i < lines.size(); ++i) texts->flat<string>()(i) = lines[i];
  }

 private:
  int count_;
  mutex mutex_;
  random::PhiloxRandom philox_;
  random::SimplePhilox simple_;
};
REGISTER_KERNEL_BUILDER(Name("PickRows").Device(DEVICE_CPU), PickRowsOp);

// ------------------------------------------------------------------------------------------------------- texts

REGISTER_OP("TextParts").Input("text: string").Output("lines: string");

class TextPartsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const string text = context->input(0).scalar<string>()();
    std::vector<string> lines;
    StringPiece rest = text, word;
    string words;
    while (true) {
      str_util::RemoveLeadingWhitespace(&rest);
      if (!str_util::ConsumeNonWhitespace(&rest, &word)) break;
      strings::StrAppend(&words, "<", word, ">");
    }
    lines.push_back(words);
    lines.push_back(Joined(str_util::Split(text, " ,")));
    lines.push_back(Joined(str_util::Split(text, ',', str_util::SkipEmpty())));
    lines.push_back(strings::StrCat(str_util::Split(text, ",", str_util::SkipWhitespace()).size()));
    lines.push_back(str_util::Join(str_util::Split(text, ' '), "|", [](string* to, const string& part) {
      strings::StrAppend(to, part.size());
    }));
    StringPiece trimmed = text;
    const size_t removed = str_util::RemoveWhitespaceContext(&trimmed);
    string stripped = text;
    str_util::StripTrailingWhitespace(&stripped);
    lines.push_back(strings::StrCat(removed, " '", trimmed, "' '", stripped, "'"));
    uint64 number = 0;
    const bool has_number = str_util::ConsumeLeadingDigits(&trimmed, &number);
    const bool has_prefix = str_util::ConsumePrefix(&trimmed, "ab"), has_suffix = str_util::ConsumeSuffix(&trimmed, "z");
    lines.push_back(strings::StrCat(has_number, number, has_prefix, has_suffix, trimmed));
    lines.push_back(str_util::CEscape(text));
    const std::vector<double> reals = {1.0 / 3, 1e10, 5, -0.1};
    lines.push_back(strings::StrCat(Joined(reals), " ", reals[0], " ", 1.0f / 3, " ", 0.1f));
    lines.push_back(str_util::StringReplace(text, "a", "bcd", true) + str_util::StringReplace(text, ",", "", false));
    lines.push_back(strings::StrCat(str_util::StrContains(text, ", "), StringPiece(text).find('b'),
                                    StringPiece(text).find("zz") == StringPiece::npos, StringPiece(text) < "b"));
    string formatted = strings::Printf("%03d %s", 7, text.c_str());
    strings::Appendf(&formatted, " %.2f", 2.5);
    lines.push_back(formatted);
    lines.push_back(strings::StrCat(strings::Hex(255), " ", strings::Hex(10, strings::kZeroPad4), " ",
                                    strings::FpToString(1234567)));
    for (int64 big : {7LL, 1023LL, -12345LL, 1234567890LL}) lines.push_back(strings::HumanReadableNum(big));
    uint64 hex = 0;
    float parsed = 0;
    const bool is_hex = strings::HexStringToUint64("fF10", &hex);
    const bool is_float = strings::SafeStringToNumeric("2.5", &parsed);
    lines.push_back(strings::StrCat(is_hex, hex, is_float, parsed, strings::HexStringToUint64("xy", &hex)));
    OP_REQUIRES_OK(context, Answer(context, lines));
  }
};
REGISTER_KERNEL_BUILDER(Name("TextParts").Device(DEVICE_CPU), TextPartsOp);

// ---------------------------------------------------------------------------------------- hashes and containers

REGISTER_OP("HashParts").Input("text: string").Output("lines: string");

class HashPartsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const string text = context->input(0).scalar<string>()();
    std::vector<string> lines;
    lines.push_back(strings::StrCat(Hash64(text), " ", Hash64(text.data(), text.size(), 3), " ",
                                    Hash32(text.data(), text.size(), 3)));
    lines.push_back(strings::StrCat(Hash64Combine(1, 2), " ", Hash64CombineUnordered(1, 2), " ",
                                    hash<StringPiece>()(text) == Hash64(text)));
    lines.push_back(strings::StrCat(Fingerprint64(text), " ", FingerprintCat64(Fingerprint64(text), 7)));
    string encoded, decoded;
    OP_REQUIRES_OK(context, Base64Encode(text, &encoded));
    OP_REQUIRES_OK(context, Base64Decode(encoded, &decoded));
    lines.push_back(strings::StrCat(encoded, " ", decoded == text));
    OP_REQUIRES_OK(context, Base64Encode(text, true, &encoded));
    OP_REQUIRES_OK(context, Base64Decode(encoded, &decoded));
    lines.push_back(strings::StrCat(encoded, " ", decoded == text, " ", Base64Decode("a+", &decoded).ok()));
    string bytes;
    core::PutVarint64(&bytes, text.size() * 1000);
    core::PutFixed32(&bytes, 0x01020304);
    StringPiece left = bytes;
    uint64 size = 0;
    const bool read = core::GetVarint64(&left, &size);
    lines.push_back(strings::StrCat(bytes.size(), read, size, core::DecodeFixed32(left.data()),
                                    core::GetVarint64(&left, &size), core::VarintLength(1 << 20)));
    lines.push_back(strings::StrCat(Log2Floor(9), Log2Ceiling(9), Log2Floor64(1LL << 40), Log2Ceiling64(8), " ",
                                    NextPowerOfTwo(9), " ", Log2Floor(0)));

    std::map<string, int> counts;
    gtl::FlatMap<string, int> flat;
    gtl::FlatSet<char> seen;
    for (char c : text) ++counts[string(1, c)], ++flat[string(1, c)], seen.insert(c);
    int released = 0;
    {
      auto once = gtl::MakeCleanup([&released] { ++released; });
      auto never = gtl::MakeCleanup([&released] { ++released; });
      never.release();
    }
    lines.push_back(strings::StrCat(seen.size(), " ", gtl::FindWithDefault(counts, "a", -1), " ",
                                    gtl::FindOrNull(flat, "nothing") == nullptr, " ",
                                    gtl::InsertOrUpdate(&counts, "a", 100), gtl::InsertIfNotPresent(&counts, "a", 5),
                                    gtl::LookupOrInsert(&counts, "new", 4), counts["a"], " ", released));
    gtl::TopN<int> top(3);
    int dropped = 0;
    for (char c : text) top.push(c, &dropped);
    std::unique_ptr<std::vector<int>> largest(top.Extract());
    lines.push_back(strings::StrCat(Joined(*largest), " ", dropped, " ", top.empty()));
    std::vector<char> all(text.begin(), text.end());
    gtl::STLSortAndRemoveDuplicates(&all);
    const string other = "abac";
    lines.push_back(strings::StrCat(string(all.begin(), all.end()), " ",
                                    gtl::LevenshteinDistance<char>(
                                        gtl::ArraySlice<char>(text.data(), text.size()),
                                        gtl::ArraySlice<char>(other.data(), other.size()), std::equal_to<char>())));
    std::vector<int*> owned = {new int(1), new int(2)};
    gtl::STLDeleteElements(&owned);
    void* block = port::AlignedMalloc(100, 64);
    lines.push_back(strings::StrCat(owned.empty(), reinterpret_cast<uintptr_t>(block) % 64,
                                    port::NumSchedulableCPUs() > 0));
    port::prefetch<port::PREFETCH_HINT_T0>(block);
    port::AlignedFree(block);
    bool flag;
    int64 amount;
    OP_REQUIRES_OK(context, ReadBoolFromEnvVar("NOBODY_SETS_THIS", true, &flag));
    OP_REQUIRES_OK(context, ReadInt64FromEnvVar("NOBODY_SETS_THIS", 12, &amount));
    lines.push_back(strings::StrCat(flag, amount, " ", MultiplyWithoutOverflow(1LL << 40, 1LL << 40), " ",
                                    MultiplyWithoutOverflow(6, 7)));
    OP_REQUIRES_OK(context, Answer(context, lines));
  }
};
REGISTER_KERNEL_BUILDER(Name("HashParts").Device(DEVICE_CPU), HashPartsOp);

// ----------------------------------------------------------------------------------------------- broadcasting

REGISTER_OP("Broadcasting").Input("x: float").Input("y: float").Output("lines: string").Output("sum: float");

class BroadcastingOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &y = context->input(1);
    BCast both(BCast::FromShape(x.shape()), BCast::FromShape(y.shape()));
    OP_REQUIRES(context, both.IsValid(),
                errors::InvalidArgument("Incompatible shapes: ", x.shape().DebugString(), " vs. ",
                                        y.shape().DebugString()));
    OP_REQUIRES_OK(context, Answer(context, {Joined(both.x_reshape()), Joined(both.x_bcast()),
                                             Joined(both.y_reshape()), Joined(both.y_bcast()),
                                             Joined(both.result_shape()), Joined(both.output_shape()),
                                             Joined(both.grad_x_reduce_idx()), Joined(both.grad_y_reduce_idx())}));
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(1, BCast::ToShape(both.output_shape()), &sum));
    if (both.result_shape().size() != 2) return sum->flat<float>().setZero(), void();
    sum->shaped<float, 2>(both.result_shape()) =
        x.shaped<float, 2>(both.x_reshape()).broadcast(BCast::ToIndexArray<2>(both.x_bcast())) +
        y.shaped<float, 2>(both.y_reshape()).broadcast(BCast::ToIndexArray<2>(both.y_bcast()));
  }
};
REGISTER_KERNEL_BUILDER(Name("Broadcasting").Device(DEVICE_CPU), BroadcastingOp);

// ------------------------------------------------------------------------------------------------------- files

// Numbers the lines of a vocabulary, which is read when the kernel is made, and writes what it was asked.
REGISTER_OP("NumberWords")
    .Input("words: string")
    .Attr("vocabulary: string")
    .Attr("log: string")
    .Output("numbers: int64")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return Status::OK();
    });

class NumberWordsOp : public OpKernel {
 public:
  explicit NumberWordsOp(OpKernelConstruction* context) : OpKernel(context) {
    string vocabulary;
    OP_REQUIRES_OK(context, context->GetAttr("vocabulary", &vocabulary));
    OP_REQUIRES_OK(context, context->GetAttr("log", &log_));
    std::unique_ptr<RandomAccessFile> file;
    OP_REQUIRES_OK(context, context->env()->NewRandomAccessFile(vocabulary, &file));
    io::InputBuffer buffer(file.get(), 5);
    string line;
    Status status = buffer.ReadLine(&line);
    for (; status.ok(); status = buffer.ReadLine(&line)) gtl::InsertIfNotPresent(&numbers_, line, numbers_.size());
    OP_REQUIRES(context, errors::IsOutOfRange(status), status);
  }

  void Compute(OpKernelContext* context) override {
    const auto words = context->input(0).flat<string>();
    Tensor* numbers = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &numbers));
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    BlockingCounter left(words.size());
    for (int64 i = 0; i < words.size(); ++i) {
      workers.workers->Schedule([this, i, &words, &left, numbers] {
        numbers->flat<int64>()(i) = gtl::FindWithDefault(numbers_, words(i), -1);
        left.DecrementCount();
      });
    }
    left.Wait();
    Env* env = context->env();
    const std::vector<string> asked(words.data(), words.data() + words.size());
    OP_REQUIRES_OK(context, WriteStringToFile(env, log_, Joined(asked)));
    string again;
    uint64 size = 0;
    OP_REQUIRES_OK(context, ReadFileToString(env, log_, &again));
    OP_REQUIRES_OK(context, env->GetFileSize(log_, &size));
    OP_REQUIRES(context, size == again.size(), errors::Internal("two sizes"));
    const string joined = io::JoinPath(io::Dirname(log_), io::Basename(log_));
    OP_REQUIRES(context, joined == log_ && io::Extension("a.b/c.txt") == "txt", errors::Internal("parts of ", log_));
    std::unique_ptr<WritableFile> more;
    OP_REQUIRES_OK(context, env->NewAppendableFile(log_, &more));
    OP_REQUIRES_OK(context, more->Append("\n"));
    OP_REQUIRES_OK(context, more->Close());
    OP_REQUIRES_OK(context, env->FileExists(log_));
    OP_REQUIRES(context, !env->IsDirectory(log_).ok(), errors::Internal("no directory"));
  }

 private:
  std::unordered_map<string, int64> numbers_;
  string log_;
};
REGISTER_KERNEL_BUILDER(Name("NumberWords").Device(DEVICE_CPU), NumberWordsOp);

// ------------------------------------------------------------------------------------------------ what is shown

REGISTER_OP("Described").Attr("T: type").Input("x: T").Output("texts: string");

class DescribedOp : public OpKernel {
 public:
  explicit DescribedOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* texts = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({4}), &texts));
    auto to = texts->flat<string>();
    to(0) = x.DebugString();
    to(1) = x.DebugString(1);
    to(2) = x.SummarizeValue(-1);
    to(3) = x.SummarizeValue(5);
  }
};
REGISTER_KERNEL_BUILDER(Name("Described").Device(DEVICE_CPU), DescribedOp);

REGISTER_OP("LastOfAll").Input("x: float").Output("last: float");

class LastOfAllOp : public OpKernel {
 public:
  explicit LastOfAllOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const auto x = context->input(0).matrix<float>();
    Tensor* last = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape(), &last));
    last->scalar<float>()(0) = x(x.size() - 1);  // one index counts all elements, whatever their dimensions
  }
};
REGISTER_KERNEL_BUILDER(Name("LastOfAll").Device(DEVICE_CPU), LastOfAllOp);

}  // namespace parts
