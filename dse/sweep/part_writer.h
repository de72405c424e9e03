// SPDX-License-Identifier: Apache-2.0
// Writes finished parts in a thread of its own, in order, so that no search waits for the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "dse/results/layer_rows.h"
#include "dse/results/rows.h"

namespace pliant {

class PartWriter {
 public:
  explicit PartWriter(std::filesystem::path dataset);
  /// Parts that are not written yet are given up, unless finish() came before.
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  /// Waits while too many parts are on their way. Throws what went wrong with an earlier one.
  void write(Provenance provenance, LayerRows layers, std::vector<DesignRow> designs);
  /// Waits until all is written. Throws what went wrong.
  void finish();

  std::int64_t written() const { return written_; }
  /// Of the writing thread; complete after finish().
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  struct Part {
    Provenance provenance;
    LayerRows layers;
    std::vector<DesignRow> designs;
  };
  void run();

  const std::filesystem::path dataset_;
  std::mutex mutex_;  ///< guards the next three
  std::deque<Part> waiting_;
  std::exception_ptr problem_;
  bool over_ = false;
  std::condition_variable changed_;
  std::atomic<std::int64_t> written_{0};
  std::atomic<double> cpu_seconds_{0};
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace pliant
