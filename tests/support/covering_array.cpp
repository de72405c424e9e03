// SPDX-License-Identifier: Apache-2.0
#include "support/covering_array.h"

#include <algorithm>
#include <numeric>

#include "support/draw.h"

namespace pliant::tests {

namespace {

constexpr int kOpen = -1;
/// Rows that are drawn for each one that is kept.
constexpr int kCandidates = 8;

class Covering {
 public:
  Covering(const std::vector<int>& sizes, int strength, const MayStandTogether& together)
      : sizes_(sizes), strength_(strength) {
    first_of_.resize(sizes.size());
    for (std::size_t f = 0; f < sizes.size(); ++f) {
      first_of_[f] = values_;
      values_ += static_cast<std::size_t>(sizes[f]);
    }
    together_.assign(values_ * values_, true);
    for (int f = 0; f < factors(); ++f)
      for (int v = 0; v < sizes_[f]; ++v)
        for (int g = 0; g < f; ++g)
          for (int w = 0; w < sizes_[g]; ++w)
            together_[index(f, v) * values_ + index(g, w)] = together_[index(g, w) * values_ + index(f, v)] =
                together(f, v, g, w);
  }

  CoveringArray run() {
    list_tuples();
    Draw draw(1);
    for (std::size_t t = 0; t < tuples_.size(); ++t) {
      if (covered_[t]) continue;
      Row best;
      std::size_t best_new = 0;
      for (int candidate = 0; candidate < kCandidates; ++candidate) {
        Row row(sizes_.size(), kOpen);
        for (const auto& [factor, value] : tuples_[t]) row[static_cast<std::size_t>(factor)] = value;
        fill(row, draw);
        const std::size_t count = new_tuples(row);
        if (best.empty() || count > best_new) {
          best = row;
          best_new = count;
        }
      }
      cover(best);
      array_.rows.push_back(std::move(best));
    }
    return array_;
  }

 private:
  using Tuple = std::vector<std::pair<int, int>>;

  int factors() const { return static_cast<int>(sizes_.size()); }
  std::size_t index(int factor, int value) const {
    return first_of_[static_cast<std::size_t>(factor)] + static_cast<std::size_t>(value);
  }
  bool together(int f, int v, int g, int w) const { return together_[index(f, v) * values_ + index(g, w)]; }

  bool fits(const Row& row, int factor, int value) const {
    for (int g = 0; g < factors(); ++g)
      if (g != factor && row[g] != kOpen && !together(factor, value, g, row[g])) return false;
    return true;
  }

  /// Gives every open factor some value; false when that is impossible. The factor with the fewest values first.
  bool complete(Row& row) const {
    int next = kOpen;
    std::vector<int> fitting;
    for (int f = 0; f < factors(); ++f) {
      if (row[f] != kOpen) continue;
      std::vector<int> some;
      for (int v = 0; v < sizes_[f]; ++v)
        if (fits(row, f, v)) some.push_back(v);
      if (next == kOpen || some.size() < fitting.size()) {
        next = f;
        fitting = std::move(some);
      }
    }
    if (next == kOpen) return true;
    for (const int v : fitting) {
      row[next] = v;
      if (complete(row)) return true;
    }
    row[next] = kOpen;
    return false;
  }

  void each_tuple(const std::function<void(const std::vector<int>&)>& visit) const {
    std::vector<int> chosen(static_cast<std::size_t>(strength_));
    std::function<void(int, int)> choose = [&](int at, int from) {
      if (at == strength_) return visit(chosen);
      for (int f = from; f < factors(); ++f) {
        chosen[static_cast<std::size_t>(at)] = f;
        choose(at + 1, f + 1);
      }
    };
    choose(0, 0);
  }

  /// Those that can stand in some row, the factors with many values first.
  void list_tuples() {
    each_tuple([&](const std::vector<int>& chosen) {
      std::size_t& first = blocks_[key(chosen)];
      first = slots_.size();
      std::size_t count = 1;
      for (const int f : chosen) count *= static_cast<std::size_t>(sizes_[f]);
      slots_.resize(first + count, kNone);
      for (std::size_t slot = 0; slot < count; ++slot) {
        Tuple tuple;
        std::size_t rest = slot;
        for (std::size_t i = chosen.size(); i-- > 0;) {
          const auto size = static_cast<std::size_t>(sizes_[chosen[i]]);
          tuple.insert(tuple.begin(), {chosen[i], static_cast<int>(rest % size)});
          rest /= size;
        }
        Row row(sizes_.size(), kOpen);
        bool possible = true;
        for (const auto& [factor, value] : tuple) {
          possible = possible && fits(row, factor, value);
          row[static_cast<std::size_t>(factor)] = value;
        }
        if (!possible || !complete(row)) {
          ++array_.impossible;
          continue;
        }
        slots_[first + slot] = tuples_.size();
        tuples_.push_back(std::move(tuple));
      }
    });
    array_.tuples = tuples_.size();
    covered_.assign(tuples_.size(), false);
  }

  std::size_t key(const std::vector<int>& chosen) const {
    std::size_t all = 0;
    for (const int f : chosen) all = all * sizes_.size() + static_cast<std::size_t>(f);
    if (blocks_.size() <= all) blocks_.resize(all + 1);
    return all;
  }
  std::size_t tuple_of(const std::vector<int>& chosen, const Row& row) const {
    std::size_t slot = 0;
    for (const int f : chosen) slot = slot * static_cast<std::size_t>(sizes_[f]) + static_cast<std::size_t>(row[f]);
    return slots_[blocks_[key(chosen)] + slot];
  }

  /// Tuples of the factor with what the row has already that nothing has covered.
  std::size_t gain(Row& row, int factor, int value) const {
    std::size_t count = 0;
    row[factor] = value;
    std::vector<int> chosen(static_cast<std::size_t>(strength_));
    std::function<void(std::size_t, int)> choose = [&](std::size_t at, int from) {
      if (at == chosen.size()) {
        const std::size_t tuple = tuple_of(chosen, row);
        count += tuple != kNone && !covered_[tuple] ? 1 : 0;
        return;
      }
      // The factor itself must be among them; the others stand in order.
      const bool has = std::find(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(at), factor) !=
                       chosen.begin() + static_cast<std::ptrdiff_t>(at);
      for (int f = from; f < factors(); ++f) {
        if (row[f] == kOpen) continue;
        if (!has && f > factor) break;
        if (!has && at + 1 == chosen.size() && f != factor) continue;
        chosen[at] = f;
        choose(at + 1, f + 1);
      }
    };
    choose(0, 0);
    row[factor] = kOpen;
    return count;
  }

  void fill(Row& row, Draw& draw) const {
    std::vector<int> order(sizes_.size());
    std::iota(order.begin(), order.end(), 0);
    draw.shuffle(order);
    for (const int f : order) {
      if (row[f] != kOpen) continue;
      std::vector<int> values(static_cast<std::size_t>(sizes_[f]));
      std::iota(values.begin(), values.end(), 0);
      draw.shuffle(values);
      std::vector<std::pair<std::size_t, int>> ranked;
      for (const int v : values)
        if (fits(row, f, v)) ranked.emplace_back(gain(row, f, v), v);
      std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
      for (const auto& [unused, v] : ranked) {
        row[f] = v;
        Row whole = row;
        if (complete(whole)) break;
        row[f] = kOpen;
      }
    }
  }

  std::size_t new_tuples(const Row& row) const {
    std::size_t count = 0;
    each_tuple([&](const std::vector<int>& chosen) {
      const std::size_t tuple = tuple_of(chosen, row);
      count += tuple != kNone && !covered_[tuple] ? 1 : 0;
    });
    return count;
  }
  void cover(const Row& row) {
    each_tuple([&](const std::vector<int>& chosen) {
      if (const std::size_t tuple = tuple_of(chosen, row); tuple != kNone) covered_[tuple] = true;
    });
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const std::vector<int>& sizes_;
  int strength_;
  std::size_t values_ = 0;
  std::vector<std::size_t> first_of_;
  std::vector<bool> together_;
  mutable std::vector<std::size_t> blocks_;  ///< by factors: where their tuples begin
  std::vector<std::size_t> slots_;           ///< the number of a tuple; kNone = impossible
  std::vector<Tuple> tuples_;
  std::vector<bool> covered_;
  CoveringArray array_;
};

}  // namespace

CoveringArray covering_array(const std::vector<int>& sizes, int strength, const MayStandTogether& together) {
  return Covering(sizes, strength, together).run();
}

}  // namespace pliant::tests
