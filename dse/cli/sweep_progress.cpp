// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/sweep_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "dse/answers/json_schema.h"
#include "dse/answers/progress_text.h"

namespace pliant {
namespace {

/// Asked each time, because windows are resized.
std::size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

}  // namespace

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
                                  {"schema", kJsonSchema},
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
    const auto object = [](const SweepProgress::Best& best) {
      return nlohmann::ordered_json{
          {"design_id", best.design_id}, {"workload", best.workload}, {"column", best.column}, {"value", best.value}};
    };
    if (!p.best.empty()) all["best"] = object(p.best.front());
    for (const SweepProgress::Best& best : p.best) all["all_best"].push_back(object(best));
    out_ << all.dump() << std::endl;
    return;
  }
  std::string text = fmt::format("{}/{} layers", p.done, p.total);
  if (rate > 0) text += fmt::format(", {:.3g}/s", rate);
  if (left >= 0 && !last) text += fmt::format(", {} left", readable_seconds(left));
  if (!p.best.empty()) text += ", " + best_text(p.best.front());
  if (style_ == Style::kLines) {
    out_ << text << std::endl;
    return;
  }
  draw_bar(p.total > 0 ? static_cast<double>(p.done) / static_cast<double>(p.total) : 1, text);
}

void SweepProgressView::draw_bar(double share, const std::string& text) {
  constexpr std::size_t kCells = 24;
  const auto full = static_cast<std::size_t>(share * kCells);
  std::string bar = fmt::format("[{}{}] {}", std::string(full, '#'), std::string(kCells - full, '.'), text);
  // A line that wraps could not be drawn over.
  bar.resize(std::min(bar.size(), terminal_columns() - 1));
  const std::size_t width = bar.size();
  out_ << "\r" << bar << std::string(bar_width_ > width ? bar_width_ - width : 0, ' ') << std::flush;
  bar_width_ = width;
}

void SweepProgressView::show(const PhaseProgress& p) {
  if (style_ == Style::kNone) return;
  const auto now = std::chrono::steady_clock::now();
  const double every = style_ == Style::kBar ? 0.1 : style_ == Style::kJson ? 0.5 : 5;
  const bool is_new = phase_ != p.what;
  // A short phase is not worth a line: its first report only starts the clock.
  if (is_new) phase_ = p.what;
  if (is_new && style_ == Style::kLines) phase_shown_ = now - std::chrono::seconds(4);
  if (!(is_new && style_ == Style::kBar) && std::chrono::duration<double>(now - phase_shown_).count() < every) return;
  phase_shown_ = now;
  if (style_ == Style::kJson) {
    out_ << nlohmann::ordered_json{{"event", "phase"},
                                   {"schema", kJsonSchema},
                                   {"what", p.what},
                                   {"done", p.done},
                                   {"total", p.total}}
                .dump()
         << std::endl;
    return;
  }
  const double share = p.total > 0 ? static_cast<double>(p.done) / static_cast<double>(p.total) : 1;
  const std::string text = fmt::format("{}: {} of {} ({:.0f} %)", p.what, p.done, p.total, 100 * share);
  if (style_ == Style::kBar)
    draw_bar(share, text);
  else
    out_ << text << std::endl;
}

}  // namespace pliant
