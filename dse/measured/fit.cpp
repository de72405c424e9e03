// SPDX-License-Identifier: Apache-2.0
#include "dse/measured/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/input/diagnostics.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

/// Searches with the figures found so far; more change the third digit.
constexpr int kRounds = 2;

class Fit {
 public:
  Fit(const Judge& judge, std::vector<Measurement> rows, const std::vector<FittedFigure>& figures,
      PredictionFigures start)
      : judge_(judge), rows_(std::move(rows)), figures_(figures), best_(std::move(start)) {}

  PredictionFigures run() {
    for (int round = 0; round < kRounds; ++round) {
      found_ = judge_.predictions(rows_, best_);
      if (std::ranges::any_of(found_, [](const KernelPrediction& one) { return one.predicted.seconds <= 0; })) break;
      parts_.clear();
      for (std::size_t r = 0; r < rows_.size(); ++r) parts_.push_back(judge_.parts(rows_[r], found_[r].mappings));
      double before = error(best_);
      for (int step = 0; step < 20; ++step) {
        for (const FittedFigure& figure : figures_) improve(figure);
        const double now = error(best_);
        if (now > before * (1 - 1e-4)) break;
        before = now;
      }
    }
    return best_;
  }

 private:
  double error(const PredictionFigures& prediction) const {
    double sum = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r)
      sum += std::abs(judge_.of_parts(rows_[r], parts_[r], prediction).seconds / rows_[r].seconds - 1);
    return sum / static_cast<double>(rows_.size());
  }

  static double& value(PredictionFigures& prediction, const FittedFigure& figure) {
    return figure.level < 0 ? prediction.overhead_s : prediction.achievable[static_cast<std::size_t>(figure.level)];
  }

  /// The best of a grid over the whole range, then of finer ones around it: errors have more than one low point.
  void improve(const FittedFigure& figure) {
    double from = figure.level < 0 ? 0 : 0.05, to = figure.level < 0 ? 20e-6 : 1;
    double least = error(best_);
    for (int finer = 0; finer < 3; ++finer) {
      const double step = (to - from) / 16;
      PredictionFigures tried = best_;
      for (int i = 0; i <= 16; ++i) {
        value(tried, figure) = from + step * i;
        if (const double now = error(tried); now < least) least = now, best_ = tried;
      }
      const double middle = value(best_, figure);
      from = std::max(from, middle - step), to = std::min(to, middle + step);
    }
  }

  const Judge& judge_;
  std::vector<Measurement> rows_;
  const std::vector<FittedFigure>& figures_;
  PredictionFigures best_;
  std::vector<KernelPrediction> found_;
  std::vector<KernelParts> parts_;
};

/// Steele, Lea and Flood's generator: equal on every machine.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

}  // namespace

std::vector<FittedFigure> parse_figures(std::string_view text, const Accelerator& accelerator) {
  std::vector<std::string> known{"overhead", "achievable"};
  for (const Level& level : accelerator.levels)
    if (!level.is_fanout()) known.push_back("achievable." + level.name);
  std::vector<FittedFigure> figures;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string word(text.substr(from, to - from));
    from = to + 1;
    if (std::ranges::find(known, word) == known.end())
      throw InputError(Diagnostic{"", 0, 0, "--fit", fmt::format("unknown figure `{}`", shorten(word, 40)),
                                  "one or more of " + join(known), nearest(word, known)});
    FittedFigure figure{word, -1};
    if (word == "achievable") figure = {"achievable." + accelerator.levels.front().name, 0};
    if (word.starts_with("achievable.")) figure.level = accelerator.find_level(word.substr(word.find('.') + 1));
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<bool> one_half(std::size_t rows, std::uint64_t seed) {
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[next_random(seed) % i]);
  std::vector<bool> half(rows, false);
  for (std::size_t i = 0; i < rows; i += 2) half[order[i]] = true;
  return half;
}

PredictionFigures fit(const Judge& judge, const std::vector<Measurement>& rows, const std::vector<bool>& used,
                      const std::vector<FittedFigure>& figures, PredictionFigures start) {
  start.achievable.resize(judge.accelerator().levels.size(), 1);
  std::vector<Measurement> half;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (used[r] && rows[r].aligned) half.push_back(rows[r]);
  return half.empty() ? start : Fit(judge, std::move(half), figures, std::move(start)).run();
}

}  // namespace pliant
