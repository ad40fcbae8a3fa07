// The random generator of a kernel: its op's seeds, and draws that threads share.
#ifndef TIDEFLOW_KERNELS_SEEDED_RANDOM_H_
#define TIDEFLOW_KERNELS_SEEDED_RANDOM_H_

#include "tideflow/kernels/op_kernel.h"
#include "tideflow/kernels/random.h"

namespace tensorflow {

class GuardedPhiloxRandom {
 public:
  GuardedPhiloxRandom() {}
  GuardedPhiloxRandom(const GuardedPhiloxRandom&) = delete;

  // By the attributes `seed` and `seed2`; where both are 0, by the system.
  Status Init(OpKernelConstruction* context) {
    int64 seed, seed2;
    TF_RETURN_IF_ERROR(context->GetAttr("seed", &seed));
    TF_RETURN_IF_ERROR(context->GetAttr("seed2", &seed2));
    Init(seed, seed2);
    return Status::OK();
  }
  void Init(int64 seed, int64 seed2) {
    const bool given = seed != 0 || seed2 != 0;
    generator_ = random::PhiloxRandom(given ? static_cast<uint64>(seed) : random::New64(),
                                      given ? static_cast<uint64>(seed2) : random::New64());
  }
  void Init(random::PhiloxRandom::ResultType counter, random::PhiloxRandom::Key key) {
    generator_ = random::PhiloxRandom(counter, key);
  }

  // A generator for so many draws, which no other call gets.
  random::PhiloxRandom ReserveSamples128(int64 draws) {
    mutex_lock lock(mutex_);
    const random::PhiloxRandom reserved = generator_;
    generator_.Skip(static_cast<uint64>(draws));
    return reserved;
  }
  random::PhiloxRandom ReserveSamples32(int64 samples) { return ReserveSamples128((samples + 3) / 4); }
  random::PhiloxRandom ReserveRandomOutputs(int64 outputs, int multiplier) {
    return ReserveSamples128(outputs * multiplier);
  }

 private:
  mutex mutex_;
  random::PhiloxRandom generator_;
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_SEEDED_RANDOM_H_
