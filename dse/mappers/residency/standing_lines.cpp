// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/residency/standing_lines.h"

#include <algorithm>
#include <cmath>

namespace pliant::residency {

namespace {

/// Of one slope. Beyond it the least bound of the branches that are left is what is proven.
constexpr int kMostBranches = 60;
/// Halvings of the price of a word.
constexpr int kPriceSteps = 10;
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

/// A price for every word of undecided weights in one memory, less what all its free words would cost: no choice that
/// fits is below that (a multiplier for the capacity). What fits at a price is worth trying.
double StandingLines::sharper(double slope, const Allowed& allowed, const Path& relaxed, std::optional<Path>& best) {
  const std::vector<Level>& levels = rows_.front().accelerator.levels;
  std::vector<double> free(levels.size(), kInfinity), wanted(levels.size(), 0);
  const auto words = [&](std::size_t w, Home home) {
    return static_cast<double>(weights_words(live(), rows_, live().weights[w], home));
  };
  const auto wanted_by = [&](const Path& path, std::size_t level) {
    double sum = 0;
    for (std::size_t w = 0; w < allowed.size(); ++w) {
      const Home home = path.steps[static_cast<std::size_t>(live().weights[w].step)].weights;
      if (allowed[w].size() > 1 && home == static_cast<Home>(level)) sum += words(w, home);
    }
    return sum;
  };
  std::size_t tight = levels.size();
  double excess = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (!levels[l].is_memory() || !levels[l].memory().capacity_words) continue;
    free[l] = static_cast<double>(*levels[l].memory().capacity_words);
    for (std::size_t w = 0; w < allowed.size(); ++w)
      if (allowed[w].size() == 1 && allowed[w].front() == static_cast<Home>(l))
        free[l] -= words(w, static_cast<Home>(l));
    wanted[l] = wanted_by(relaxed, l);
    if (wanted[l] - free[l] <= excess) continue;
    excess = wanted[l] - free[l];
    tight = l;
  }
  double bound = relaxed.least;
  if (tight == levels.size()) return bound;
  double low = 0, high = 4 * relaxed.least / std::max(1.0, wanted[tight]);
  std::vector<double> prices(levels.size(), 0);
  std::optional<Allowed> fitting;
  Allowed crowded = decided(allowed, relaxed);
  for (int k = 0; k < kPriceSteps && !stop_.stop_requested(); ++k) {
    prices[tight] = k == 0 ? high : (low + high) / 2;
    const std::optional<Path> path = lines_of(allowed).priced(slope, prices);
    if (!path) return bound;
    bound = std::max(bound, path->least - prices[tight] * free[tight]);
    if (wanted_by(*path, tight) > free[tight]) {
      low = prices[tight];
      if (k == 0) return bound;  // even at this price more is wanted than there is
      crowded = decided(allowed, *path);
    } else {
      high = prices[tight];
      fitting = decided(allowed, *path);
      offer(slope, *fitting, best);
    }
    if (best && bound >= best->least * kNoBetter) return bound;
  }
  if (!fitting) return bound;
  // What is still free holds some of the weights that were too dear by little.
  double left = free[tight];
  for (std::size_t w = 0; w < allowed.size(); ++w)
    if (allowed[w].size() > 1 && (*fitting)[w].front() == static_cast<Home>(tight))
      left -= words(w, static_cast<Home>(tight));
  for (std::size_t w = 0; w < allowed.size(); ++w) {
    if (crowded[w] == (*fitting)[w] || crowded[w].front() != static_cast<Home>(tight)) continue;
    if (words(w, static_cast<Home>(tight)) > left) continue;
    (*fitting)[w] = crowded[w];
    left -= words(w, static_cast<Home>(tight));
  }
  offer(slope, *fitting, best);
  return bound;
}

std::optional<Path> StandingLines::search(double slope) {
  std::multimap<double, Allowed> open;
  Allowed root;
  for (const StandingWeights& weights : live().weights) root.push_back(weights.homes);
  open.emplace(0, std::move(root));
  std::optional<Path> best;
  double proven = kInfinity;
  for (int branches = 0; !open.empty(); ++branches) {
    const auto [inherited, allowed] = *open.begin();
    if (best && inherited >= best->least * kNoBetter) break;
    if (branches >= kMostBranches || stop_.stop_requested()) {
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
