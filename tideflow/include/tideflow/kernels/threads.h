// Threads that share the work of a kernel.
#ifndef TIDEFLOW_KERNELS_THREADS_H_
#define TIDEFLOW_KERNELS_THREADS_H_

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <thread>

#include "tideflow/kernels/status.h"
#include "tideflow/kernels/views.h"

namespace tensorflow {
namespace internal {

// A call that other threads finish: that of an asynchronous kernel. An exception in what they do for it ends the
// call, and not the process.
class PendingCall {
 public:
  void Finish(std::exception_ptr failure = nullptr) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!finished_) failure_ = failure;
    finished_ = true;
    changed_.notify_all();
  }

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return finished_; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::exception_ptr failure_;
};

// The call for which this thread works, if any.
__attribute__((visibility("hidden"))) inline std::shared_ptr<PendingCall>& CurrentCall() {
  static thread_local std::shared_ptr<PendingCall> call;
  return call;
}

class WithCurrentCall {
 public:
  explicit WithCurrentCall(std::shared_ptr<PendingCall> call) : before_(std::move(call)) { before_.swap(CurrentCall()); }
  ~WithCurrentCall() { before_.swap(CurrentCall()); }
  WithCurrentCall(const WithCurrentCall&) = delete;

 private:
  std::shared_ptr<PendingCall> before_;
};

}  // namespace internal

namespace thread {

class ThreadPool {
 public:
  explicit ThreadPool(int threads) : threads_(threads < 1 ? 1 : threads), state_(new State) {}
  ThreadPool(const ThreadPool&) = delete;
  ~ThreadPool() {
    State* state = state_;
    if (state->process != getpid()) return;  // the threads are another process's
    {
      std::lock_guard<std::mutex> lock(state->mutex);
      state->ended = true;
    }
    state->changed.notify_all();
    for (std::thread& worker : state->workers) worker.join();
    delete state;
  }

  int NumThreads() const { return threads_; }

  void Schedule(std::function<void()> work) {
    State* state = CurrentState();
    {
      std::lock_guard<std::mutex> lock(state->mutex);
      if (static_cast<int>(state->workers.size()) < threads_) state->workers.emplace_back([state] { state->Serve(); });
      state->queue.push_back(Work{std::move(work), internal::CurrentCall()});
    }
    state->changed.notify_one();
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
  struct Work {
    std::function<void()> function;
    std::shared_ptr<internal::PendingCall> call;

    void Do() const {
      internal::WithCurrentCall current(call);
      try {
        function();
      } catch (...) {
        if (!call) throw;
        call->Finish(std::current_exception());
      }
    }
  };

  struct State {
    void Serve() {
      std::unique_lock<std::mutex> lock(mutex);
      while (true) {
        changed.wait(lock, [this] { return ended || !queue.empty(); });
        if (queue.empty()) return;
        {
          const Work work = std::move(queue.front());
          queue.pop_front();
          lock.unlock();
          work.Do();
        }
        lock.lock();
      }
    }

    const pid_t process = getpid();
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Work> queue;
    std::vector<std::thread> workers;
    bool ended = false;
  };

  // A process that was forked has none of its parent's threads: it begins anew, and leaves what it inherited alone.
  State* CurrentState() {
    State* state = state_;
    if (state->process == getpid()) return state;
    State* fresh = new State;
    if (state_.compare_exchange_strong(state, fresh)) return fresh;
    delete fresh;
    return state;
  }

  const int threads_;
  std::atomic<State*> state_;
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

}  // namespace tensorflow

inline void Eigen::ThreadPoolDevice::parallelFor(Index count, const TensorOpCost& cost,
                                                 std::function<void(Index, Index)> work) const {
  const double cycles = cost.compute_cycles() + (cost.bytes_loaded() + cost.bytes_stored()) / 4;
  tensorflow::internal::SharedPool()->ParallelFor(count, static_cast<tensorflow::int64>(cycles), work);
}

#endif  // TIDEFLOW_KERNELS_THREADS_H_
