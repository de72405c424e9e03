// SPDX-License-Identifier: Apache-2.0
// What `map` shows while it searches: on a terminal one line that is drawn over, with the layer, its best so far and
// the gap that is left.
#pragma once

#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

#include "core/clock.h"
#include "dse/mappers/mapper.h"

namespace pliant {

class MapProgress {
 public:
  MapProgress(std::ostream& err, std::size_t layers, bool shown, const Clock& clock);
  /// Draws itself, ten times a second.
  MapProgress(std::ostream& err, std::size_t layers);
  ~MapProgress() { clear(); }
  MapProgress(const MapProgress&) = delete;
  MapProgress& operator=(const MapProgress&) = delete;

  void begin(const std::string& layer);
  void tell(const Progress& progress);
  void clear();  ///< before anything else is printed
  void draw();

 private:
  std::ostream& err_;
  const std::size_t layers_;
  const bool shown_;
  const Clock& clock_;
  std::mutex mutex_;
  std::size_t begun_ = 0, width_ = 0;
  std::string layer_;  ///< empty: between two layers
  double since_ = 0;
  Progress last_;
  std::jthread ticker_;  ///< last: it must end first
};

/// "3 of 53: block2_dw, 2 s, best 2.7826e+12, gap 3.2 %".
std::string progress_text(std::size_t number, std::size_t layers, const std::string& layer, double seconds,
                          const Progress& progress);

}  // namespace pliant
