// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "dse/answers/shipped_configs.h"

namespace pliant {
namespace {

bool is_terminal(const std::ostream& err) { return &err == &std::cerr && ::isatty(STDERR_FILENO) != 0; }

SweepProgressView::Style style_of(const Arguments& arguments, bool draws) {
  const bool asked = arguments.command() == "pliant sweep" && arguments.has("progress");
  if (!asked) return draws ? SweepProgressView::Style::kBar : SweepProgressView::Style::kLines;
  const std::string word = *arguments.text("progress");
  if (word == "bar") return SweepProgressView::Style::kBar;
  if (word == "lines") return SweepProgressView::Style::kLines;
  if (word == "json") return SweepProgressView::Style::kJson;
  if (word == "none") return SweepProgressView::Style::kNone;
  throw arguments.unknown("--progress", "progress", word, {"bar", "lines", "json", "none"});
}

}  // namespace

Terminal::Terminal(const Arguments& arguments, std::ostream& out_stream, std::ostream& err_stream)
    : Face(out_stream, err_stream, Library(shipped_configs().value_or("configs"))),
      draws_(is_terminal(err_stream)),
      sweep_(style_of(arguments, draws_), err_stream) {}

std::stop_token Terminal::begin_work(std::string_view last_words, double patience_seconds) {
  signals_.emplace(last_words, patience_seconds);
  return signals_->token();
}

void Terminal::end_work() { signals_.reset(); }

void Terminal::begin_layer(const std::string& layer, std::size_t layers) {
  if (!draws_) return;
  if (!layer_) layer_.emplace(err, layers);
  layer_->begin(layer);
}

void Terminal::show(const Progress& progress) {
  if (layer_) layer_->tell(progress);
}

void Terminal::show(const SweepProgress& progress) { sweep_.show(progress); }

void Terminal::show(const PhaseProgress& progress) { sweep_.show(progress); }

void Terminal::note(const std::string& text) { sweep_.note(text); }

void Terminal::working(const std::function<std::string()>& text) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (draws_ ? std::chrono::milliseconds(200) : std::chrono::seconds(5))) return;
  last_ = now;
  err << (draws_ ? "\r\x1b[K" : "") << text() << (draws_ ? "" : "\n") << std::flush;
  drawn_ = draws_;
}

void Terminal::clear() {
  if (layer_) layer_->clear();
  sweep_.finish();
  const std::lock_guard lock(mutex_);
  if (drawn_) err << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace pliant
