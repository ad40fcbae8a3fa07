// Errors, logging and locks.
#ifndef TIDEFLOW_KERNELS_STATUS_H_
#define TIDEFLOW_KERNELS_STATUS_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "tideflow/kernels/text.h"

#define TF_PREDICT_FALSE(x) (__builtin_expect(x, 0))
#define TF_PREDICT_TRUE(x) (__builtin_expect(!!(x), 1))
#define TF_MUST_USE_RESULT __attribute__((warn_unused_result))
#define TF_ATTRIBUTE_UNUSED __attribute__((unused))
#define TF_ATTRIBUTE_NORETURN __attribute__((noreturn))
#define TF_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))
#define TF_EXPORT __attribute__((visibility("default")))
#define TF_DISALLOW_COPY_AND_ASSIGN(TypeName) \
  TypeName(const TypeName&) = delete;         \
  void operator=(const TypeName&) = delete
#define TF_ARRAYSIZE(a) (sizeof(a) / sizeof(*(a)))

// What a static analysis of locks reads; compilers without it do not.
#define GUARDED_BY(x)
#define PT_GUARDED_BY(x)
#define EXCLUSIVE_LOCKS_REQUIRED(...)
#define SHARED_LOCKS_REQUIRED(...)
#define LOCKS_EXCLUDED(...)
#define NO_THREAD_SAFETY_ANALYSIS
#define TF_GUARDED_BY(x)
#define TF_PT_GUARDED_BY(x)
#define TF_EXCLUSIVE_LOCKS_REQUIRED(...)
#define TF_SHARED_LOCKS_REQUIRED(...)
#define TF_LOCKS_EXCLUDED(...)
#define TF_NO_THREAD_SAFETY_ANALYSIS

namespace tensorflow {

// ----------------------------------------------------------------------------------------------- errors

namespace error {
enum Code {
  OK = 0,
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
  UNAUTHENTICATED = 16
};
}  // namespace error

class Status {
 public:
  Status() : code_(error::OK) {}
  Status(error::Code code, StringPiece message) : code_(code), message_(message.ToString()) {}
  static Status OK() { return Status(); }
  bool ok() const { return code_ == error::OK; }
  error::Code code() const { return code_; }
  const string& error_message() const { return message_; }
  const string& message() const { return message_; }
  void Update(const Status& other) {
    if (ok()) *this = other;
  }
  void IgnoreError() const {}
  string ToString() const {
    static const char* const names[] = {"OK", "Cancelled", "Unknown", "Invalid argument", "Deadline exceeded",
                                        "Not found", "Already exists", "Permission denied",
                                        "Resource exhausted", "Failed precondition", "Aborted",
                                        "Out of range", "Unimplemented", "Internal", "Unavailable",
                                        "Data loss", "Unauthenticated"};
    return ok() ? "OK" : string(names[code_]) + ": " + message_;
  }
  bool operator==(const Status& other) const { return code_ == other.code_ && message_ == other.message_; }
  bool operator!=(const Status& other) const { return !(*this == other); }

 private:
  error::Code code_;
  string message_;
};

inline std::ostream& operator<<(std::ostream& out, const Status& status) { return out << status.ToString(); }
inline Status OkStatus() { return Status(); }
typedef std::function<void(const Status&)> StatusCallback;

namespace errors {
#define TIDEFLOW_ERROR(Name, CODE)                                                          \
  template <typename... Args>                                                               \
  Status Name(const Args&... args) { return Status(error::CODE, strings::StrCat(args...)); } \
  inline bool Is##Name(const Status& status) { return status.code() == error::CODE; }
TIDEFLOW_ERROR(Cancelled, CANCELLED)
TIDEFLOW_ERROR(Unknown, UNKNOWN)
TIDEFLOW_ERROR(InvalidArgument, INVALID_ARGUMENT)
TIDEFLOW_ERROR(DeadlineExceeded, DEADLINE_EXCEEDED)
TIDEFLOW_ERROR(NotFound, NOT_FOUND)
TIDEFLOW_ERROR(AlreadyExists, ALREADY_EXISTS)
TIDEFLOW_ERROR(PermissionDenied, PERMISSION_DENIED)
TIDEFLOW_ERROR(ResourceExhausted, RESOURCE_EXHAUSTED)
TIDEFLOW_ERROR(FailedPrecondition, FAILED_PRECONDITION)
TIDEFLOW_ERROR(Aborted, ABORTED)
TIDEFLOW_ERROR(OutOfRange, OUT_OF_RANGE)
TIDEFLOW_ERROR(Unimplemented, UNIMPLEMENTED)
TIDEFLOW_ERROR(Internal, INTERNAL)
TIDEFLOW_ERROR(Unavailable, UNAVAILABLE)
TIDEFLOW_ERROR(DataLoss, DATA_LOSS)
TIDEFLOW_ERROR(Unauthenticated, UNAUTHENTICATED)
#undef TIDEFLOW_ERROR
template <typename... Args>
void AppendToMessage(Status* status, const Args&... args) {
  *status = Status(status->code(), strings::StrCat(status->error_message(), "\n\t", args...));
}
inline string FormatNodeNameForError(const string& name) { return "{{node " + name + "}}"; }
}  // namespace errors

#define TF_RETURN_IF_ERROR(...)                           \
  do {                                                    \
    const ::tensorflow::Status _status = (__VA_ARGS__);   \
    if (TF_PREDICT_FALSE(!_status.ok())) return _status;  \
  } while (0)
#define TF_RETURN_WITH_CONTEXT_IF_ERROR(expr, ...)                                                   \
  do {                                                                                               \
    const ::tensorflow::Status _status = (expr);                                                     \
    if (TF_PREDICT_FALSE(!_status.ok()))                                                             \
      return ::tensorflow::Status(_status.code(), ::tensorflow::strings::StrCat(                     \
                                                      _status.error_message(), "\n\t", __VA_ARGS__)); \
  } while (0)

// ---------------------------------------------------------------------------------------------- logging

// A failed CHECK ends TensorFlow's process; here it ends the step, with an InternalError.
struct CheckFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace internal {

class LogMessage {
 public:
  LogMessage(const char* file, int line, char severity) : severity_(severity) {
    text_ << file << ":" << line << "] ";
  }
  ~LogMessage() noexcept(false) {
    if (severity_ == 'F') throw CheckFailure(text_.str());
    fprintf(stderr, "%c %s\n", severity_, text_.str().c_str());
  }
  std::ostream& stream() { return text_; }

 private:
  char severity_;
  std::ostringstream text_;
};

struct Voidify {  // binds less than << and more than ?:
  void operator&(std::ostream&) {}
};

inline int VerbosityOfProcess() {
  static const char* const text = getenv("TF_CPP_MIN_VLOG_LEVEL");
  static const int level = text ? atoi(text) : 0;
  return level;
}

}  // namespace internal

#define TIDEFLOW_LOG_INFO ::tensorflow::internal::LogMessage(__FILE__, __LINE__, 'I').stream()
#define TIDEFLOW_LOG_WARNING ::tensorflow::internal::LogMessage(__FILE__, __LINE__, 'W').stream()
#define TIDEFLOW_LOG_ERROR ::tensorflow::internal::LogMessage(__FILE__, __LINE__, 'E').stream()
#define TIDEFLOW_LOG_FATAL ::tensorflow::internal::LogMessage(__FILE__, __LINE__, 'F').stream()
#define LOG(severity) TIDEFLOW_LOG_##severity
#define LOG_IF(severity, condition) \
  !(condition) ? (void)0 : ::tensorflow::internal::Voidify() & LOG(severity)
#define VLOG_IS_ON(level) ((level) <= ::tensorflow::internal::VerbosityOfProcess())
#define VLOG(level) LOG_IF(INFO, VLOG_IS_ON(level))
#define CHECK(condition) \
  LOG_IF(FATAL, TF_PREDICT_FALSE(!(condition))) << "Check failed: " #condition " "
#define TIDEFLOW_CHECK_OP(a, op, b)                                                                     \
  LOG_IF(FATAL, TF_PREDICT_FALSE(!((a)op(b)))) << "Check failed: " #a " " #op " " #b " (" << (a) << " vs. " \
                                               << (b) << ") "
#define CHECK_EQ(a, b) TIDEFLOW_CHECK_OP(a, ==, b)
#define CHECK_NE(a, b) TIDEFLOW_CHECK_OP(a, !=, b)
#define CHECK_LT(a, b) TIDEFLOW_CHECK_OP(a, <, b)
#define CHECK_LE(a, b) TIDEFLOW_CHECK_OP(a, <=, b)
#define CHECK_GT(a, b) TIDEFLOW_CHECK_OP(a, >, b)
#define CHECK_GE(a, b) TIDEFLOW_CHECK_OP(a, >=, b)
#define CHECK_NOTNULL(pointer) (pointer)
#define TF_CHECK_OK(status) CHECK_EQ(::tensorflow::Status::OK(), (status))
#ifdef NDEBUG
#define TIDEFLOW_IN_DEBUG false&&
#else
#define TIDEFLOW_IN_DEBUG
#endif
#define DCHECK(condition) LOG_IF(FATAL, TIDEFLOW_IN_DEBUG !(condition)) << "Check failed: " #condition " "
#define DCHECK_NOTNULL(pointer) (pointer)
#define TF_DCHECK_OK(status) DCHECK((status).ok())
#define DVLOG(level) LOG_IF(INFO, TIDEFLOW_IN_DEBUG VLOG_IS_ON(level))
#define DCHECK_EQ(a, b) DCHECK((a) == (b))
#define DCHECK_NE(a, b) DCHECK((a) != (b))
#define DCHECK_LT(a, b) DCHECK((a) < (b))
#define DCHECK_LE(a, b) DCHECK((a) <= (b))
#define DCHECK_GT(a, b) DCHECK((a) > (b))
#define DCHECK_GE(a, b) DCHECK((a) >= (b))

// ------------------------------------------------------------------------------------------------ locks

class mutex : public std::mutex {
 public:
  mutex() {}
  explicit mutex(int) {}  // LINKER_INITIALIZED
  // One thread at a time also where several could read.
  void lock_shared() { lock(); }
  bool try_lock_shared() { return try_lock(); }
  void unlock_shared() { unlock(); }
};
enum LinkerInitialized { LINKER_INITIALIZED };

class mutex_lock : public std::unique_lock<std::mutex> {
 public:
  explicit mutex_lock(::tensorflow::mutex& lock) : std::unique_lock<std::mutex>(lock) {}
  mutex_lock(::tensorflow::mutex& lock, std::try_to_lock_t how) : std::unique_lock<std::mutex>(lock, how) {}
};
typedef mutex_lock tf_shared_lock;

class condition_variable : public std::condition_variable {};
enum ConditionResult { kCond_Timeout, kCond_MaybeNotified };
inline ConditionResult WaitForMilliseconds(mutex_lock* lock, condition_variable* changed, int64 milliseconds) {
  const std::cv_status ended = changed->wait_for(*lock, std::chrono::milliseconds(milliseconds));
  return ended == std::cv_status::timeout ? kCond_Timeout : kCond_MaybeNotified;
}

class Notification {
 public:
  void Notify() {
    std::lock_guard<std::mutex> lock(mutex_);
    notified_ = true;
    changed_.notify_all();
  }
  void WaitForNotification() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return notified_; });
  }
  bool HasBeenNotified() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return notified_;
  }

 private:
  friend bool WaitForNotificationWithTimeout(Notification* event, int64 microseconds) {
    std::unique_lock<std::mutex> lock(event->mutex_);
    return event->changed_.wait_for(lock, std::chrono::microseconds(microseconds), [event] { return event->notified_; });
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool notified_ = false;
};

// Waits until as many parts of a work as it was made for have said that they are done.
class BlockingCounter {
 public:
  explicit BlockingCounter(int count) : left_(count) {}
  void DecrementCount() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--left_ == 0) changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int left_;
};

}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_STATUS_H_
