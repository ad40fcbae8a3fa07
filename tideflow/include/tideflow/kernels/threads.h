// Threads that share the work of a kernel.
#ifndef TIDEFLOW_KERNELS_THREADS_H_
#define TIDEFLOW_KERNELS_THREADS_H_

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <thread>

#include "tideflow/kernels/status.h"

namespace tensorflow {
namespace thread {

class ThreadPool {
 public:
  explicit ThreadPool(int threads) : threads_(threads < 1 ? 1 : threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ~ThreadPool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int NumThreads() const { return threads_; }

  void Schedule(std::function<void()> work) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (static_cast<int>(workers_.size()) < threads_) workers_.emplace_back([this] { Work(); });
      queue_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

  // Calls work(begin, end) for parts of [0, total); a part costs about 10,000 cycles at least. The calling
  // thread takes parts like the others, so that work within work cannot wait for itself.
  void ParallelFor(int64 total, int64 cost_per_unit, const std::function<void(int64, int64)>& work) {
    const int64 least = std::max<int64>(1, 10000 / std::max<int64>(1, cost_per_unit));
    const int64 block = std::max(least, (total + 4 * threads_ - 1) / (4 * threads_));
    InBlocks(total, block, threads_, work);
  }

  void InBlocks(int64 total, int64 block, int threads, const std::function<void(int64, int64)>& work) {
    const int64 blocks = total > 0 ? (total + block - 1) / block : 0;
    if (blocks <= 1 || threads <= 1) {
      if (total > 0) work(0, total);
      return;
    }
    struct Shared {
      std::atomic<int64> next{0};
      int64 left;
      std::mutex mutex;
      std::condition_variable done;
      std::exception_ptr failure;
    };
    auto shared = std::make_shared<Shared>();
    shared->left = blocks;
    auto take = [shared, blocks, block, total, &work] {
      for (int64 i; (i = shared->next++) < blocks;) {
        std::exception_ptr failure;
        try {
          work(i * block, std::min(total, (i + 1) * block));
        } catch (...) {
          failure = std::current_exception();
        }
        std::lock_guard<std::mutex> lock(shared->mutex);
        if (failure) shared->failure = failure;
        if (--shared->left == 0) shared->done.notify_all();
      }
    };
    for (int64 i = 1; i < std::min<int64>(threads, blocks); ++i) Schedule(take);
    take();
    std::unique_lock<std::mutex> lock(shared->mutex);
    shared->done.wait(lock, [&] { return shared->left == 0; });
    if (shared->failure) std::rethrow_exception(shared->failure);
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  const int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> workers_;
  bool ended_ = false;
};

}  // namespace thread

namespace internal {

// The pool of the library's kernels. It is never destroyed: threads may still work when the process ends.
__attribute__((visibility("hidden"))) inline thread::ThreadPool* SharedPool() {
  static thread::ThreadPool* pool = [] {
    const char* asked = getenv("OMP_NUM_THREADS");
    const int threads = asked ? atoi(asked) : 0;
    return new thread::ThreadPool(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return pool;
}

}  // namespace internal

inline void Shard(int max_parallelism, thread::ThreadPool* workers, int64 total, int64 cost_per_unit,
                  std::function<void(int64, int64)> work) {
  if (max_parallelism <= 1) {
    if (total > 0) work(0, total);
    return;
  }
  workers->ParallelFor(total, cost_per_unit, work);
}

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_THREADS_H_
