// SPDX-License-Identifier: Apache-2.0
// The command line as a face: Ctrl-C stops the work; on a terminal progress is a line that is drawn over.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>

#include "dse/answers/arguments.h"
#include "dse/answers/face.h"
#include "dse/cli/map_progress.h"
#include "dse/cli/stop_signals.h"
#include "dse/cli/sweep_progress.h"

namespace pliant {

class Terminal : public Face {
 public:
  /// InputError when --progress is no style. It draws only where `err` is the standard error output and a terminal.
  Terminal(const Arguments& arguments, std::ostream& out, std::ostream& err);

  std::stop_token begin_work(std::string_view last_words, double patience_seconds) override;
  void end_work() override;
  void begin_layer(const std::string& layer, std::size_t layers) override;
  void show(const Progress& progress) override;
  void show(const SweepProgress& progress) override;
  void show(const PhaseProgress& progress) override;
  void working(const std::function<std::string()>& text) override;
  void note(const std::string& text) override;
  void clear() override;

 private:
  const bool draws_;
  std::optional<StopSignals> signals_;
  std::optional<MapProgress> layer_;
  SweepProgressView sweep_;
  std::mutex mutex_;    ///< guards what follows
  bool drawn_ = false;  ///< a line of working()
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace pliant
