// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/part_writer.h"

#include <utility>

#include "core/clock.h"
#include "dse/results/part_file.h"

namespace pliant {
namespace {

/// Enough that the disk may be slow for a moment, few enough for memory to stay flat.
constexpr std::size_t kMostWaiting = 2;

}  // namespace

PartWriter::PartWriter(std::filesystem::path dataset) : dataset_(std::move(dataset)), thread_([this] { run(); }) {}

PartWriter::~PartWriter() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PartWriter::write(Provenance provenance, LayerRows layers, std::vector<DesignRow> designs) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return problem_ || waiting_.size() < kMostWaiting; });
  if (problem_) std::rethrow_exception(problem_);
  waiting_.push_back({std::move(provenance), std::move(layers), std::move(designs)});
  changed_.notify_all();
}

void PartWriter::finish() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (problem_) std::rethrow_exception(problem_);
}

void PartWriter::run() {
  while (true) {
    Part part;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
      if (waiting_.empty() || problem_) break;
      part = std::move(waiting_.front());
      waiting_.pop_front();
    }
    changed_.notify_all();
    try {
      write_part(dataset_, part.provenance, part.layers, part.designs);
      ++written_;
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        problem_ = std::current_exception();
      }
      changed_.notify_all();
      break;
    }
  }
  cpu_seconds_ = real_clock().cpu_seconds();
}

}  // namespace pliant
