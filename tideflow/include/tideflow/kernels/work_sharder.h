// Work in parts, for a kernel's threads. It is apart from threads.h: some projects bring a Shard of their own.
#ifndef TIDEFLOW_KERNELS_WORK_SHARDER_H_
#define TIDEFLOW_KERNELS_WORK_SHARDER_H_

#include "tideflow/kernels/threads.h"

namespace tensorflow {

inline void Shard(int max_parallelism, thread::ThreadPool* workers, int64 total, int64 cost_per_unit,
                  std::function<void(int64, int64)> work) {
  if (max_parallelism <= 1) {
    if (total > 0) work(0, total);
    return;
  }
  workers->ParallelFor(total, cost_per_unit, work);
}

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_WORK_SHARDER_H_
