// SPDX-License-Identifier: Apache-2.0
#include "dse/results/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "dse/results/object_storage.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, std::string_view doing) {
  const int error = errno;
  throw StorageError(fmt::format("{}: cannot {}: {}", file.string(), doing, std::generic_category().message(error)));
}

void flush(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) fail(path, "open it to flush it");
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems cannot flush a folder; renaming is then all there is.
  if (result != 0 && error != EINVAL && error != EROFS) {
    errno = error;
    fail(path, "flush it to the disk");
  }
}

}  // namespace

fs::path temporary_name(const fs::path& target) {
  static std::atomic<unsigned> next{0};
  return target.parent_path() / fmt::format(".{}.{}.{}.tmp", target.filename().string(), ::getpid(), next++);
}

void put_in_place(const fs::path& temporary, const fs::path& target) {
  try {
    flush(temporary, O_RDONLY);
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail(target, "put it in place");
    flush(target.parent_path().empty() ? fs::path(".") : target.parent_path(), O_RDONLY | O_DIRECTORY);
  } catch (const StorageError&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

std::string file_bytes(const fs::path& file) {
  if (is_address(file)) return object_storage::read(file);
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  // A folder opens and has no bytes.
  if (std::error_code error; !in || fs::is_directory(file, error)) {
    if (in) errno = EISDIR;
    fail(file, "read it");
  }
  if (in.peek() != std::ifstream::traits_type::eof()) bytes << in.rdbuf();
  if (in.bad() || !bytes) fail(file, "read it");
  return std::move(bytes).str();
}

void write_atomically(const fs::path& target, std::string_view text) {
  if (is_address(target)) return object_storage::write(target, text);
  const fs::path temporary = temporary_name(target);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail(temporary, "create it");
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(fd);
      ::unlink(temporary.c_str());
      errno = error;
      fail(temporary, "write it");
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::close(fd) != 0) {
    ::unlink(temporary.c_str());
    fail(temporary, "close it");
  }
  put_in_place(temporary, target);
}

void make_folder(const fs::path& folder) {
  if (is_address(folder)) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw StorageError(
        fmt::format("{}: cannot create this folder: {}", folder.string(), error ? error.message() : "it is a file"));
}

void remove_leftovers(const fs::path& folder) {
  if (is_address(folder)) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    // .NAME.PID.N.tmp
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(".tmp")) continue;
    const std::size_t last = name.rfind('.', name.size() - 5);
    const std::size_t before = last == std::string::npos || last == 0 ? last : name.rfind('.', last - 1);
    if (before == std::string::npos) continue;
    int pid = 0;
    const char* end = name.data() + last;
    if (std::from_chars(name.data() + before + 1, end, pid).ptr != end || pid <= 0) continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), error);
  }
}

}  // namespace pliant
