// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/sweep_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace pliant {
namespace {

/// Asked anew each time: windows are resized.
std::size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

}  // namespace

std::string readable_seconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

void SweepProgressView::clear_bar() {
  if (bar_width_ > 0) out_ << "\r" << std::string(bar_width_, ' ') << "\r";
  bar_width_ = 0;
}

void SweepProgressView::note(const std::string& text) {
  if (style_ == Style::kJson) {
    out_ << nlohmann::json{{"event", "note"}, {"text", text}}.dump() << std::endl;
    return;
  }
  clear_bar();
  out_ << text << std::endl;
}

void SweepProgressView::finish() {
  clear_bar();
  out_.flush();
}

void SweepProgressView::show(const SweepProgress& p) {
  if (style_ == Style::kNone) return;
  const bool last = p.done == p.total;
  const double every = style_ == Style::kBar ? 0.1 : style_ == Style::kJson ? 0.5 : 5;
  if (shown_ >= 0 && p.seconds - shown_ < every && !last) return;
  if (last && shown_ >= 0 && style_ == Style::kLines) return;  // the summary says it
  shown_ = p.seconds;
  // The rate counts from the first report on: what was there before cost nothing.
  if (first_done_ < 0) {
    first_done_ = p.done;
    first_seconds_ = p.seconds;
  }
  const double elapsed = p.seconds - first_seconds_;
  const double rate = elapsed > 0.05 ? static_cast<double>(p.done - first_done_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(p.total - p.done) / rate : -1;
  if (style_ == Style::kJson) {
    nlohmann::ordered_json all = {{"event", "progress"},
                                  {"schema", 1},
                                  {"done", p.done},
                                  {"total", p.total},
                                  {"solved", p.solved},
                                  {"reused", p.reused},
                                  {"without_mapping", p.without_mapping},
                                  {"parts_done", p.parts_done},
                                  {"parts", p.parts},
                                  {"seconds", p.seconds},
                                  {"per_second", rate}};
    all["seconds_left"] = left >= 0 ? nlohmann::ordered_json(left) : nlohmann::ordered_json();
    if (p.best)
      all["best"] = {{"design_id", p.best->design_id},
                     {"workload", p.best->workload},
                     {"column", p.best->column},
                     {"value", p.best->value}};
    out_ << all.dump() << std::endl;
    return;
  }
  std::string text = fmt::format("{}/{} layers", p.done, p.total);
  if (rate > 0) text += fmt::format(", {:.3g}/s", rate);
  if (left >= 0 && !last) text += fmt::format(", {} left", readable_seconds(left));
  if (p.best)
    text += fmt::format(", best {} {:.4g} ({}: {})", p.best->column, p.best->value, p.best->workload, p.best->label);
  if (style_ == Style::kLines) {
    out_ << text << std::endl;
    return;
  }
  constexpr std::size_t kCells = 24;
  const std::size_t full =
      p.total > 0 ? static_cast<std::size_t>(p.done) * kCells / static_cast<std::size_t>(p.total) : kCells;
  std::string bar = fmt::format("[{}{}] {}", std::string(full, '#'), std::string(kCells - full, '.'), text);
  // A line that wraps could not be drawn over.
  bar.resize(std::min(bar.size(), terminal_columns() - 1));
  const std::size_t width = bar.size();
  out_ << "\r" << bar << std::string(bar_width_ > width ? bar_width_ - width : 0, ' ') << std::flush;
  bar_width_ = width;
}

}  // namespace pliant
