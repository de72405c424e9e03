// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/standing_lines.h"

#include <algorithm>
#include <cmath>

namespace pliant::residency {

namespace {

/// Of one slope. Beyond it the least bound of the branches that are left is what is proven.
constexpr int kMostBranches = 60;
/// Changes of the prices of words.
constexpr int kPriceSteps = 24;
constexpr double kNoBetter = 1 - 1e-12;

}  // namespace

StandingLines::StandingLines(const Workload& workload, const std::vector<Task>& rows, VariantLines& variants,
                             Count inferences, std::stop_token stop)
    : workload_(workload), rows_(rows), variants_(variants), inferences_(inferences), stop_(std::move(stop)) {
  Allowed all;
  for (const StandingWeights& weights : live_tensors(workload, rows).weights) all.push_back(weights.homes);
  undecided_ = &lines_of(all);
}

ResidencyLines& StandingLines::lines_of(const Allowed& allowed) {
  auto& lines = lines_[allowed];
  if (!lines)
    lines = std::make_unique<ResidencyLines>(workload_, rows_, true, variants_, WeightPlaces{inferences_, allowed});
  return *lines;
}

StandingLines::Allowed StandingLines::decided(const Allowed& allowed, const Path& path) const {
  Allowed places = allowed;
  for (std::size_t w = 0; w < places.size(); ++w)
    places[w] = {path.steps[static_cast<std::size_t>(live().weights[w].step)].weights};
  return places;
}

void StandingLines::offer(double slope, const Allowed& places, std::optional<Path>& best) {
  const Path* path = lines_of(places).at(slope);
  if (path != nullptr && (!best || path->least < best->least)) best = *path;
}

/// Prices for words taken of a memory while a step runs, less what its capacity costs at them: no choice that fits is
/// below the least sum, for it takes no more than the capacity in any step. Prices rise where a path takes too much
/// (a subgradient method); what fits at some prices is worth trying.
double StandingLines::sharper(double slope, const Allowed& allowed, const Path& relaxed, std::optional<Path>& best) {
  const std::vector<Level>& levels = rows_.front().accelerator.levels;
  const auto words = [&](std::size_t w, Home home) {
    return static_cast<double>(weights_words(live(), rows_, live().weights[w], home));
  };
  ResidencyLines& lines = lines_of(allowed);
  ResidencyLines::WordPrices prices(live().steps.size(), std::vector<double>(levels.size(), 0));
  double bound = relaxed.least, pace = 1, priced_bound = relaxed.least;
  std::optional<Path> path = relaxed;
  for (int k = 0; k < kPriceSteps && !stop_.stop_requested(); ++k) {
    // What each step takes too much on this path, undecided weights that stay included.
    std::vector<double> standing(levels.size(), 0);
    for (std::size_t w = 0; w < allowed.size(); ++w)
      if (const Home home = path->steps[static_cast<std::size_t>(live().weights[w].step)].weights;
          allowed[w].size() > 1 && home != kOutside)
        standing[static_cast<std::size_t>(home)] += words(w, home);
    double squares = 0;
    std::vector<double> least_left(levels.size(), kInfinity);
    std::vector<std::vector<double>> excess(prices.size(), std::vector<double>(levels.size(), 0));
    for (std::size_t s = 0; s < prices.size(); ++s) {
      if (path->steps[s].variant < 0) continue;
      const std::vector<double> taken =
          lines.priced_words(static_cast<int>(s), path->steps[s].variant, path->steps[s].weights);
      for (std::size_t l = 0; l < levels.size(); ++l) {
        if (!levels[l].is_memory() || !levels[l].memory().capacity_words) continue;
        const double left = static_cast<double>(*levels[l].memory().capacity_words) - taken[l];
        least_left[l] = std::min(least_left[l], left);
        excess[s][l] = standing[l] - left;
        if (excess[s][l] > 0 || prices[s][l] > 0) squares += excess[s][l] * excess[s][l];
      }
    }
    if (k % 4 == 0) offer(slope, trimmed(allowed, *path, least_left), best);
    if (squares == 0 || (best && bound >= best->least * kNoBetter)) break;
    const double reach = best ? best->least : 1.05 * relaxed.least;
    const double step = pace * (reach - priced_bound) / squares;
    for (std::size_t s = 0; s < prices.size(); ++s)
      for (std::size_t l = 0; l < levels.size(); ++l) prices[s][l] = std::max(0.0, prices[s][l] + step * excess[s][l]);
    path = lines.priced(slope, prices);
    if (!path) break;
    priced_bound = path->least;
    for (const auto& of_step : prices)
      for (std::size_t l = 0; l < levels.size(); ++l)
        if (of_step[l] > 0) priced_bound -= of_step[l] * static_cast<double>(*levels[l].memory().capacity_words);
    if (priced_bound > bound) {
      bound = priced_bound;
    } else {
      pace *= 0.8;
    }
  }
  return bound;
}

/// Every weight where the path has it, as long as there is room; the others outside.
StandingLines::Allowed StandingLines::trimmed(const Allowed& allowed, const Path& path,
                                              std::vector<double> room) const {
  Allowed places = decided(allowed, path);
  for (std::size_t w = 0; w < places.size(); ++w) {
    if (allowed[w].size() == 1 || places[w].front() == kOutside) continue;
    const Home home = places[w].front();
    double& left = room[static_cast<std::size_t>(home)];
    const auto needs = static_cast<double>(weights_words(live(), rows_, live().weights[w], home));
    if (needs <= left) {
      left -= needs;
    } else if (allowed[w].front() == kOutside) {
      places[w] = {kOutside};
    }
  }
  return places;
}

std::optional<Path> StandingLines::search(double slope) {
  std::multimap<double, Allowed> open;
  Allowed root;
  for (const StandingWeights& weights : live().weights) root.push_back(weights.homes);
  open.emplace(0, std::move(root));
  std::optional<Path> best;
  offer(slope, Allowed(live().weights.size(), {kOutside}), best);
  double proven = kInfinity;
  for (int branches = 0; !open.empty(); ++branches) {
    const auto [inherited, allowed] = *open.begin();
    if (best && inherited >= best->least * kNoBetter) break;
    // The first bound is asked for in any case.
    if (branches > 0 && (branches >= kMostBranches || stop_.stop_requested())) {
      proven = inherited;
      break;
    }
    open.erase(open.begin());
    ResidencyLines& lines = lines_of(allowed);
    const Path* relaxed = lines.at(slope);
    if (relaxed == nullptr) {
      if (branches == 0) stuck_row_ = lines.stuck_row();
      continue;
    }
    offer(slope, decided(allowed, *relaxed), best);
    double bound = std::max(inherited, relaxed->least);
    if (best && bound >= best->least * kNoBetter) continue;
    bound = std::max(bound, sharper(slope, allowed, *relaxed, best));
    if (best && bound >= best->least * kNoBetter) continue;
    // The largest weights that stay although others want their room: they do, or they do not.
    std::optional<std::size_t> largest;
    Home home = kOutside;
    Count most = 0;
    for (std::size_t w = 0; w < allowed.size(); ++w) {
      const Home stays = relaxed->steps[static_cast<std::size_t>(live().weights[w].step)].weights;
      if (allowed[w].size() < 2 || stays == kOutside) continue;
      if (const Count words = weights_words(live(), rows_, live().weights[w], stays); words > most) {
        largest = w;
        home = stays;
        most = words;
      }
    }
    if (!largest) continue;  // nothing is undecided that stays: what was offered is this branch's best
    Allowed stay = allowed, leave = allowed;
    stay[*largest] = {home};
    std::erase(leave[*largest], home);
    open.emplace(bound, std::move(stay));
    open.emplace(bound, std::move(leave));
  }
  if (best) best->least = std::min(best->least, proven);
  return best;
}

const Path* StandingLines::at(double slope) {
  auto known = known_.find(slope);
  if (known == known_.end()) known = known_.emplace(slope, search(slope)).first;
  return known->second ? &*known->second : nullptr;
}

}  // namespace pliant::residency
