// The clock, files and their paths, as kernels find them: files of the local machine.
#ifndef TIDEFLOW_KERNELS_FILES_H_
#define TIDEFLOW_KERNELS_FILES_H_

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include "tideflow/kernels/status.h"

namespace tensorflow {

inline Status IOError(const string& what, int number) {
  error::Code code = error::UNKNOWN;
  switch (number) {
    case 0: return Status::OK();
    case ENOENT: case ENXIO: case ESRCH: code = error::NOT_FOUND; break;
    case EEXIST: code = error::ALREADY_EXISTS; break;
    case EPERM: case EACCES: case EROFS: code = error::PERMISSION_DENIED; break;
    case ENOTEMPTY: case EISDIR: case ENOTDIR: case EBADF: case EBUSY: code = error::FAILED_PRECONDITION; break;
    case ENOSPC: case EMFILE: case ENFILE: case EDQUOT: case ENOMEM: code = error::RESOURCE_EXHAUSTED; break;
    case EINVAL: case ENAMETOOLONG: case ELOOP: code = error::INVALID_ARGUMENT; break;
    default: break;
  }
  return Status(code, what + "; " + strerror(number));
}

// A file that is read from any place of it, by several threads.
class RandomAccessFile {
 public:
  RandomAccessFile(const string& name, int descriptor) : name_(name), descriptor_(descriptor) {}
  RandomAccessFile(const RandomAccessFile&) = delete;
  ~RandomAccessFile() { close(descriptor_); }
  Status Name(StringPiece* name) const {
    *name = name_;
    return Status::OK();
  }
  // Up to n bytes, by way of `scratch`; fewer, with an error of type OutOfRange, where the file ends before.
  Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const {
    size_t done = 0;
    Status status;
    while (done < n && status.ok()) {
      const ssize_t got = pread(descriptor_, scratch + done, n - done, static_cast<off_t>(offset + done));
      if (got > 0) done += static_cast<size_t>(got);
      else if (got == 0) status = errors::OutOfRange("Read less bytes than requested");
      else if (errno != EINTR && errno != EAGAIN) status = IOError(name_, errno);
    }
    *result = StringPiece(scratch, done);
    return status;
  }

 private:
  string name_;
  int descriptor_;
};

class WritableFile {
 public:
  WritableFile(const string& name, FILE* file) : name_(name), file_(file) {}
  WritableFile(const WritableFile&) = delete;
  ~WritableFile() { Close().IgnoreError(); }
  Status Append(StringPiece data) {
    if (!file_) return errors::FailedPrecondition("the file is closed: ", name_);
    return fwrite(data.data(), 1, data.size(), file_) == data.size() ? Status::OK() : IOError(name_, errno);
  }
  Status Flush() { return !file_ || fflush(file_) == 0 ? Status::OK() : IOError(name_, errno); }
  Status Sync() { return Flush(); }
  Status Close() {
    FILE* file = file_;
    file_ = nullptr;
    return !file || fclose(file) == 0 ? Status::OK() : IOError(name_, errno);
  }

 private:
  string name_;
  FILE* file_;
};

struct FileStatistics {
  int64 length = -1, mtime_nsec = 0;
  bool is_directory = false;
};

class Env {
 public:
  static Env* Default() {
    static Env env;
    return &env;
  }

  uint64 NowNanos() const {
    using namespace std::chrono;
    return static_cast<uint64>(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
  }
  uint64 NowMicros() const { return NowNanos() / 1000; }
  uint64 NowSeconds() const { return NowNanos() / 1000000000; }
  void SleepForMicroseconds(int64 duration) const { std::this_thread::sleep_for(std::chrono::microseconds(duration)); }

  Status NewRandomAccessFile(const string& name, std::unique_ptr<RandomAccessFile>* result) const {
    const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return IOError(name, errno);
    result->reset(new RandomAccessFile(name, descriptor));
    return Status::OK();
  }
  Status NewWritableFile(const string& name, std::unique_ptr<WritableFile>* result) const {
    return OpenToWrite(name, "we", result);
  }
  Status NewAppendableFile(const string& name, std::unique_ptr<WritableFile>* result) const {
    return OpenToWrite(name, "ae", result);
  }
  Status FileExists(const string& name) const {
    return access(name.c_str(), F_OK) == 0 ? Status::OK() : errors::NotFound(name, " not found");
  }
  Status Stat(const string& name, FileStatistics* found) const {
    struct stat status;
    if (stat(name.c_str(), &status) != 0) return IOError(name, errno);
    found->length = static_cast<int64>(status.st_size);
    found->mtime_nsec = static_cast<int64>(status.st_mtim.tv_sec) * 1000000000 + status.st_mtim.tv_nsec;
    found->is_directory = S_ISDIR(status.st_mode);
    return Status::OK();
  }
  Status IsDirectory(const string& name) const {
    FileStatistics found;
    TF_RETURN_IF_ERROR(Stat(name, &found));
    return found.is_directory ? Status::OK() : errors::FailedPrecondition("Not a directory");
  }
  Status GetFileSize(const string& name, uint64* size) const {
    FileStatistics found;
    TF_RETURN_IF_ERROR(Stat(name, &found));
    *size = static_cast<uint64>(found.length);
    return Status::OK();
  }
  Status GetChildren(const string& name, std::vector<string>* result) const {
    result->clear();
    DIR* directory = opendir(name.c_str());
    if (!directory) return IOError(name, errno);
    while (const dirent* entry = readdir(directory))
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) result->push_back(entry->d_name);
    closedir(directory);
    return Status::OK();
  }
  bool MatchPath(const string& path, const string& pattern) const {
    return fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
  }
  Status GetMatchingPaths(const string& pattern, std::vector<string>* results) const {
    results->clear();
    glob_t found;
    const int failed = glob(pattern.c_str(), 0, nullptr, &found);
    if (failed && failed != GLOB_NOMATCH) return errors::Internal("cannot look for ", pattern);
    for (size_t i = 0; !failed && i < found.gl_pathc; ++i) results->push_back(found.gl_pathv[i]);
    globfree(&found);
    return Status::OK();
  }
  Status CreateDir(const string& name) const { return Done(mkdir(name.c_str(), 0755), name); }
  Status RecursivelyCreateDir(const string& name) const {
    for (size_t end = 0; end != string::npos;) {
      end = name.find('/', end + 1);
      const Status made = CreateDir(name.substr(0, end));
      if (!made.ok() && !errors::IsAlreadyExists(made)) return made;
    }
    return Status::OK();
  }
  Status DeleteFile(const string& name) const { return Done(unlink(name.c_str()), name); }
  Status DeleteDir(const string& name) const { return Done(rmdir(name.c_str()), name); }
  Status RenameFile(const string& name, const string& to) const { return Done(rename(name.c_str(), to.c_str()), name); }

 private:
  static Status Done(int failed, const string& name) { return failed ? IOError(name, errno) : Status::OK(); }
  static Status OpenToWrite(const string& name, const char* mode, std::unique_ptr<WritableFile>* result) {
    FILE* file = fopen(name.c_str(), mode);
    if (!file) return IOError(name, errno);
    result->reset(new WritableFile(name, file));
    return Status::OK();
  }
};

inline Status ReadFileToString(Env* env, const string& name, string* data) {
  uint64 size;
  TF_RETURN_IF_ERROR(env->GetFileSize(name, &size));
  std::unique_ptr<RandomAccessFile> file;
  TF_RETURN_IF_ERROR(env->NewRandomAccessFile(name, &file));
  data->resize(size);
  StringPiece result;
  const Status status = file->Read(0, size, &result, &(*data)[0]);
  data->resize(result.size());
  return status;
}
inline Status WriteStringToFile(Env* env, const string& name, const StringPiece& data) {
  std::unique_ptr<WritableFile> file;
  TF_RETURN_IF_ERROR(env->NewWritableFile(name, &file));
  TF_RETURN_IF_ERROR(file->Append(data));
  return file->Close();
}

namespace io {

inline bool IsAbsolutePath(StringPiece path) { return !path.empty() && path.front() == '/'; }
template <typename... Parts>
string JoinPath(const Parts&... parts) {
  string joined;
  for (StringPiece part : std::initializer_list<StringPiece>{parts...}) {
    if (part.empty()) continue;
    if (!joined.empty() && IsAbsolutePath(part)) part.remove_prefix(1);
    if (!joined.empty() && joined.back() != '/') joined += '/';
    joined += part.ToString();
  }
  return joined;
}
inline StringPiece Dirname(StringPiece path) {
  const size_t slash = path.rfind('/');
  return slash == StringPiece::npos ? StringPiece(path.data(), 0) : path.substr(0, std::max<size_t>(slash, 1));
}
inline StringPiece Basename(StringPiece path) {
  const size_t slash = path.rfind('/');
  return slash == StringPiece::npos ? path : path.substr(slash + 1);
}
inline StringPiece Extension(StringPiece path) {
  const StringPiece name = Basename(path);
  const size_t dot = name.rfind('.');
  return dot == StringPiece::npos ? name.substr(name.size()) : name.substr(dot + 1);
}

// Lines and blocks of a file, one after another.
class InputBuffer {
 public:
  InputBuffer(RandomAccessFile* file, size_t buffer_bytes) : file_(file), buffer_(buffer_bytes, '\0') {}
  InputBuffer(const InputBuffer&) = delete;

  // A line without its end; an error of type OutOfRange after the last.
  Status ReadLine(string* result) {
    result->clear();
    while (true) {
      if (left_.empty()) {
        const Status status = Fill();
        if (left_.empty()) return errors::IsOutOfRange(status) && !result->empty() ? Status::OK() : status;
      }
      const size_t end = left_.find('\n');
      for (char c : left_.substr(0, end))
        if (c != '\r') *result += c;
      left_.remove_prefix(end == StringPiece::npos ? left_.size() : end + 1);
      if (end != StringPiece::npos) return Status::OK();
    }
  }
  Status ReadNBytes(int64 count, string* result) {
    result->clear();
    if (count < 0) return errors::InvalidArgument("Can't read a negative number of bytes: ", count);
    while (static_cast<int64>(result->size()) < count) {
      if (left_.empty()) {
        const Status status = Fill();
        if (left_.empty()) return status;
      }
      const StringPiece part = left_.substr(0, static_cast<size_t>(count) - result->size());
      result->append(part.data(), part.size());
      left_.remove_prefix(part.size());
    }
    return Status::OK();
  }
  Status SkipNBytes(int64 count) {
    string skipped;
    return ReadNBytes(count, &skipped);
  }
  Status Seek(int64 position) {
    if (position < 0) return errors::InvalidArgument("Seeking to a negative position: ", position);
    left_ = StringPiece();
    next_ = static_cast<uint64>(position);
    return Status::OK();
  }
  int64 Tell() const { return static_cast<int64>(next_ - left_.size()); }
  RandomAccessFile* file() const { return file_; }

 private:
  Status Fill() {
    const Status status = file_->Read(next_, buffer_.size(), &left_, &buffer_[0]);
    next_ += left_.size();
    return status;
  }

  RandomAccessFile* file_;
  string buffer_;
  StringPiece left_;  // of what was read and is still to be given out
  uint64 next_ = 0;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TIDEFLOW_KERNELS_FILES_H_
