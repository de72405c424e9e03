// SPDX-License-Identifier: Apache-2.0
// Solved tasks on disk, found by content: what makes a rerun short and a kill harmless.
//
// A folder of append-only files, one per process that ever wrote there, so that processes need no agreement. A record
// is `LENGTH CHECKSUM KEY BYTES` and a line end; one that is cut short or damaged is skipped, and the reader finds the
// next. In memory there is only where each record lies: 48 bytes a task; and the newest of those that were found fast,
// until there are enough of them for the disk or a moment has passed. A kill costs that moment. The very newest wait to
// become records: several together take little longer than one, for which neither code nor room is in the caches.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dse/results/task_result.h"

namespace pliant {

/// Half of a SHA-256.
struct TaskKey {
  std::array<std::uint64_t, 2> words{};
  static std::optional<TaskKey> parse(std::string_view hex);  ///< at least 32 digits; the first 32 count
  std::string text() const;                                   ///< 32 hexadecimal digits
  bool operator==(const TaskKey&) const = default;
};

struct TaskKeyHash {
  std::size_t operator()(const TaskKey& key) const { return key.words[0]; }
};

/// Safe to use from several threads.
class TaskStore {
 public:
  /// Reads what is there. With `writable`, the first put() creates a file of this process.
  TaskStore(std::filesystem::path folder, bool writable);
  ~TaskStore();
  TaskStore(const TaskStore&) = delete;
  TaskStore& operator=(const TaskStore&) = delete;

  bool contains(const TaskKey& key) const;
  /// nullopt when unknown, or when the record no longer reads back.
  std::optional<TaskResult> get(const TaskKey& key) const;
  /// Appends, soon; StorageError when the disk refuses. A key that is there stays as it is.
  void put(const TaskKey& key, std::shared_ptr<const TaskResult> result);
  void forget(const TaskKey& key);  ///< a record that no longer reads back makes room for a new one
  void flush();                     ///< to the disk

  std::size_t size() const;
  double cpu_seconds() const { return cpu_seconds_; }             ///< for records, also those on their way to the disk
  std::uint64_t damaged() const { return damaged_; }              ///< records skipped while reading
  std::uint64_t other_formats() const { return other_formats_; }  ///< files of other versions, which are not read

 private:
  struct RecordPlace {
    std::uint32_t file = 0;
    std::uint32_t length = 0;
    std::uint64_t offset = 0;  ///< of the whole record
  };
  void scan(const std::filesystem::path& file);
  void open_own();
  const TaskResult* newest(const TaskKey& key) const;
  void pack_newest();
  void write_pending();

  std::filesystem::path folder_;
  bool writable_;
  mutable std::mutex mutex_;
  std::unordered_map<TaskKey, RecordPlace, TaskKeyHash> places_;
  std::vector<int> descriptors_;                                               ///< by RecordPlace::file
  int own_ = -1;                                                               ///< index of the own file
  std::uint64_t own_size_ = 0;                                                 ///< on disk
  std::string pending_;                                                        ///< records that follow
  std::vector<std::pair<TaskKey, std::shared_ptr<const TaskResult>>> newest_;  ///< not records yet
  std::string record_;  ///< one of them, packed. A search leaves many small pieces of memory behind, which the next
                        ///< request for a large one would join: so the room is kept.
  std::chrono::steady_clock::time_point wrote_{};
  std::uint64_t damaged_ = 0, other_formats_ = 0;
  std::atomic<double> cpu_seconds_{0};
};

}  // namespace pliant
