// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace pliant {

/// A lock file of a dataset, held until destruction or the end of the process, however it ends.
class DatasetLock {
 public:
  enum class Mode { kWait, kRefuse };
  /// kRefuse: StorageError when another process holds it.
  DatasetLock(const std::filesystem::path& dataset, const std::string& name, Mode mode);
  ~DatasetLock();
  DatasetLock(const DatasetLock&) = delete;
  DatasetLock& operator=(const DatasetLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace pliant
