// What a kernel asks the machine for: processors, aligned memory, environment variables, products that fit.
#ifndef TIDEFLOW_KERNELS_MACHINE_H_
#define TIDEFLOW_KERNELS_MACHINE_H_

#include <cstdlib>
#include <thread>

#include "tideflow/kernels/numbers.h"

// What tools that look for errors of memory are told; there is none here.
#define TF_ANNOTATE_MEMORY_IS_INITIALIZED(data, size) static_cast<void>(0)
#define TF_ANNOTATE_BENIGN_RACE(data, words) static_cast<void>(0)

namespace tensorflow {
namespace port {

inline int NumSchedulableCPUs() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }
inline void* AlignedMalloc(size_t size, int alignment) {
  void* block = nullptr;
  const size_t least = std::max(static_cast<size_t>(alignment), sizeof(void*));
  return posix_memalign(&block, least, size) == 0 ? block : nullptr;
}
inline void AlignedFree(void* block) { free(block); }
inline void* Malloc(size_t size) { return malloc(size); }
inline void* Realloc(void* block, size_t size) { return realloc(block, size); }
inline void Free(void* block) { free(block); }

enum PrefetchHint { PREFETCH_HINT_T0 = 3, PREFETCH_HINT_T1 = 2, PREFETCH_HINT_T2 = 1, PREFETCH_HINT_NTA = 0 };
template <PrefetchHint hint>
void prefetch(const void* data) { __builtin_prefetch(data, 0, hint); }

}  // namespace port

// The product of two numbers that are not negative, or -1 where it is too large.
inline int64 MultiplyWithoutOverflow(const int64 a, const int64 b) {
  int64 product;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

inline Status ReadStringFromEnvVar(StringPiece name, StringPiece otherwise, string* value) {
  const char* given = getenv(name.ToString().c_str());
  *value = given ? given : otherwise.ToString();
  return Status::OK();
}
inline Status ReadInt64FromEnvVar(StringPiece name, int64 otherwise, int64* value) {
  const char* given = getenv(name.ToString().c_str());
  *value = otherwise;
  if (!given || strings::safe_strto64(given, value)) return Status::OK();
  return errors::InvalidArgument("Failed to parse the env-var ${", name, "} into int64: ", given,
                                 ". Use the default value: ", otherwise);
}
inline Status ReadBoolFromEnvVar(StringPiece name, bool otherwise, bool* value) {
  const char* given = getenv(name.ToString().c_str());
  *value = otherwise;
  if (!given) return Status::OK();
  const string word = str_util::Lowercase(given);
  if (word != "0" && word != "1" && word != "false" && word != "true")
    return errors::InvalidArgument("Failed to parse the env-var ${", name, "} into bool: ", given,
                                   ". Use the default value: ", otherwise);
  *value = word == "1" || word == "true";
  return Status::OK();
}

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_MACHINE_H_
