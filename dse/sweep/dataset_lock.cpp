// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/dataset_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "dse/results/atomic_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

DatasetLock::DatasetLock(const std::filesystem::path& dataset, const std::string& name, Mode mode) {
  if (is_address(dataset)) return;  // no locks there either; see below
  const std::filesystem::path file = dataset / fmt::format(".{}.lock", name);
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0)
    throw StorageError(fmt::format("{}: cannot create it: {}", file.string(), std::generic_category().message(errno)));
  while (::flock(fd_, LOCK_EX | (mode == Mode::kRefuse ? LOCK_NB : 0)) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    // A file system without locks: go on without; only two runs of one shard at once could do the same work twice.
    if (error == ENOLCK || error == ENOTSUP || error == EINVAL || error == ENOSYS) return;
    ::close(fd_);
    throw StorageError(
        error == EWOULDBLOCK
            ? fmt::format("{}: another process is running this sweep here (same shard)", dataset.string())
            : fmt::format("{}: cannot lock it: {}", file.string(), std::generic_category().message(error)));
  }
}

DatasetLock::~DatasetLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace pliant
