// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/map_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>

#include "dse/answers/text_table.h"

namespace pliant {

std::string progress_text(std::size_t number, std::size_t layers, const std::string& layer, double seconds,
                          const Progress& progress) {
  std::string text = layers > 1 ? fmt::format("{} of {}: ", number, layers) : "";
  text += fmt::format("{}, {:.0f} s", layer, seconds);
  if (!(progress.best_value > 0) || !std::isfinite(progress.best_value)) return text;
  text += fmt::format(", best {:.5g}", progress.best_value);
  if (progress.lower_bound > 0)
    text += fmt::format(", gap {:.2g} %", 100 * (1 - progress.lower_bound / progress.best_value));
  return text;
}

MapProgress::MapProgress(std::ostream& err, std::size_t layers, bool shown, const Clock& clock)
    : err_(err), layers_(layers), shown_(shown), clock_(clock) {}

MapProgress::MapProgress(std::ostream& err, std::size_t layers) : MapProgress(err, layers, true, real_clock()) {
  ticker_ = std::jthread([this](const std::stop_token& over) {
    while (!over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      draw();
    }
  });
}

void MapProgress::begin(const std::string& layer) {
  const std::lock_guard lock(mutex_);
  ++begun_;
  layer_ = layer;
  since_ = clock_.wall_seconds();
  last_ = {};
}

void MapProgress::tell(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  last_ = progress;
}

void MapProgress::clear() {
  const std::lock_guard lock(mutex_);
  layer_.clear();
  if (width_ > 0) err_ << "\r" << std::string(width_, ' ') << "\r" << std::flush;
  width_ = 0;
}

void MapProgress::draw() {
  constexpr double kPatience = 0.3;  // seconds: what is done sooner needs no line
  const std::lock_guard lock(mutex_);
  const double seconds = clock_.wall_seconds() - since_;
  if (!shown_ || layer_.empty() || seconds < kPatience) return;
  const std::string text = progress_text(begun_, layers_, layer_, seconds, last_);
  const std::size_t width = text_width(text);
  err_ << "\r" << text << std::string(width_ > width ? width_ - width : 0, ' ') << std::flush;
  width_ = width;
}

}  // namespace pliant
