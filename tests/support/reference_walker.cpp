// SPDX-License-Identifier: Apache-2.0
#include "support/reference_walker.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "support/walked_costs.h"

namespace pliant::reference {

namespace {

class Walk : private WalkedCosts {
 public:
  Walk(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping)
      : WalkedCosts(layer, accelerator, mapping) {}

  Walked run() {
    Walked walked;
    walked.macs = static_cast<Count>(macs_.size());
    std::set<Key> steps;
    for (const Mac& mac : macs_) steps.insert(mac.time);
    walked.steps = static_cast<Count>(steps.size());
    for (int x = 0; x < static_cast<int>(layer_.tensors.size()); ++x) {
      int parent = -1;
      for (int l = 0; l <= levels_; ++l) {
        if (l < levels_ && !(is_memory(l) && (mapping_.levels[l].keeps >> x & 1U))) continue;
        if (parent >= 0) walked.words.push_back(pair_words(x, parent, l));
        parent = l;
      }
    }
    for (int l = 0; l < levels_; ++l) walked.peak.push_back(peak_instances(l));
    charge(walked);
    return walked;
  }

  using WalkedCosts::tile_words;

 private:
  /// Most instances of a level that work in the same step.
  Count peak_instances(int level) const {
    std::map<Key, std::set<Key>> working;  // by step
    for (const Mac& mac : macs_) working[mac.time].insert(instance_of(mac, level));
    std::size_t most = 0;
    for (const auto& [time, instances] : working) most = std::max(most, instances.size());
    return static_cast<Count>(most);
  }

  /// What the children that share one transfer have in common, besides the instance of the parent.
  Tuple group_of(const Mac& mac, int x, int parent, int child, const std::set<int>& uniting) const {
    Tuple key;
    std::map<int, Tuple> displaced;  // network, named by the first level inside it that is not a fanout
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const NestLoop& loop = loops_[i];
      if (!loop.spatial || loop.level < parent || loop.level >= child) continue;
      const Fanout& fanout = accelerator_.levels[loop.level].fanout();
      const bool shares = x == layer_.output() ? fanout.reduction : fanout.multicast;
      const bool separate_windows =
          conventions_.equal_windows == Conventions::EqualWindows::kSeparate && coupled(x, loop.dim);
      if (uniting.contains(loop.level) && !(boxes() && plain(x, loop.dim))) continue;
      if (!shares || separate_windows) {
        key.push_back(mac.index[i]);
        continue;
      }
      int network = loop.level;
      while (accelerator_.levels[network].is_fanout()) ++network;
      Tuple coords(layer_.dims.size(), 0);
      coords[loop.dim] = mac.index[i] * loop.step;
      const Tuple moved = element(x, coords);
      Tuple& sum = displaced[network];
      sum.resize(moved.size(), 0);
      for (std::size_t r = 0; r < moved.size(); ++r) sum[r] += moved[r];
    }
    for (const auto& [network, sum] : displaced) key.insert(key.end(), sum.begin(), sum.end());
    return key;
  }

  /// Which loops, when they advance, start a new run of transfers; and the loop that slides in one (quickflow).
  struct Control {
    std::vector<bool> starts_run;  ///< by loop
    int widened = -1;
  };

  /// The innermost temporal loop outside a level that moves a tensor's tile there; -1 = none.
  int kill_of(int x, int parent, int from) const {
    int kill = static_cast<int>(loops_.size()) - 1;
    for (; kill >= 0; --kill) {
      const NestLoop& loop = loops_[kill];
      if (loop.spatial || loop.level >= from) continue;
      if (within() && loop.level < parent) break;  // the rest counts in full
      if (coupled(x, loop.dim)) break;
    }
    return kill;
  }

  /// Steps of every tile that a child is given, one after the other.
  std::vector<Count> steps_of_tiles(int x, int parent, int child) const {
    const int kill = kill_of(x, parent, child);
    std::map<Key, std::set<Key>> tiles;
    for (const Mac& mac : macs_)
      tiles[indices(mac, [&](std::size_t i) { return static_cast<int>(i) <= kill && !loops_[i].spatial; })].insert(
          indices(mac, [&](std::size_t i) { return !loops_[i].spatial; }));
    std::vector<Count> steps;
    for (const auto& [tile, within_tile] : tiles) steps.push_back(static_cast<Count>(within_tile.size()));
    return steps;
  }

  bool within() const { return conventions_.stationarity == Conventions::Stationarity::kWithinLevel; }

  Control control(int x, int parent, int child) const {
    Control control{std::vector<bool>(loops_.size(), false), -1};
    const bool to_compute = child == levels_;
    int from = child;
    if (to_compute) {
      int innermost = levels_ - 1;
      while (!is_memory(innermost)) --innermost;
      bool every_step = conventions_.compute_reuse == Conventions::ComputeReuse::kNone || parent == innermost;
      for (const NestLoop& loop : loops_)
        every_step |= loop.level == innermost && !loop.spatial && coupled(x, loop.dim);
      for (std::size_t i = 0; i < loops_.size(); ++i)
        control.starts_run[i] = !loops_[i].spatial && (every_step || loops_[i].level == innermost);
      if (every_step) return control;
      from = innermost;
    }
    const int kill = kill_of(x, parent, from);
    for (int i = 0; i <= kill; ++i) control.starts_run[i] = !loops_[i].spatial;
    if (kill < 0 || to_compute || !slides(x, loops_[kill].dim)) return control;
    if (within() && loops_[kill].level < parent) return control;
    if (conventions_.halo == Conventions::Halo::kOneLoop) {
      control.starts_run[kill] = false;
      control.widened = kill;
      return control;
    }
    for (int i = kill; i >= 0 && (loops_[i].spatial || loops_[i].dim == loops_[kill].dim); --i) {
      if (loops_[i].spatial && loops_[i].dim == loops_[kill].dim) break;
      control.starts_run[i] = false;
    }
    return control;
  }

  /// Moves sets: receivers (an instance or a group) are emptied when a run starts and take each element once.
  template <class Receiver, class Run, class Coordinates>
  Count transfers(int x, Receiver receiver_of, Run run_of, Coordinates coords_of) const {
    struct State {
      Key run = -1;
      std::set<Key> has;
    };
    std::map<Key, State> receivers;
    Count words = 0;
    for (const Mac& mac : macs_) {
      State& state = receivers[receiver_of(mac)];
      if (const Key run = run_of(mac); state.run != run) {
        state.has.clear();
        state.run = run;
      }
      words += state.has.insert(element_key(x, coords_of(mac))).second ? 1 : 0;
    }
    return words;
  }

  /// All choices of fanouts that count overlapping windows of their children as one, among those that can.
  std::vector<std::set<int>> uniting_choices(int x, int parent, int child) const {
    std::vector<std::set<int>> choices{{}};
    for (int l = parent + 1; l < child; ++l) {
      if (is_memory(l)) continue;
      const Fanout& fanout = accelerator_.levels[l].fanout();
      if (!fanout.partial_multicast || !(x == layer_.output() ? fanout.reduction : fanout.multicast)) continue;
      for (std::size_t n = choices.size(); n-- > 0;) {
        choices.push_back(choices[n]);
        choices.back().insert(l);
      }
    }
    return choices;
  }

  /// Does the parent see the windows of several children as one?
  bool unites(int x, const std::set<int>& uniting) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const NestLoop& loop) {
      if (!loop.spatial || !uniting.contains(loop.level)) return false;
      for (const Rank& rank : layer_.tensors[x].ranks)
        if (rank.terms.size() > 1)
          for (const Term& term : rank.terms)
            if (term.dim == loop.dim) return true;
      return false;
    });
  }

  /// QuickFlow's window: the tiles that one loop visits laid side by side, whatever lies between them.
  Tuple widen(const Mac& mac, int widened, int child) const {
    const int dim = loops_[widened].dim;
    Tuple coords = mac.coords;
    Count inside = 0, tile = 1;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i].dim != dim || loops_[i].level < child) continue;
      inside += mac.index[i] * loops_[i].step;
      tile *= loops_[i].bound;
    }
    coords[dim] = mac.index[widened] * tile + inside;
    return coords;
  }

  Words pair_words(int x, int parent, int child) const {
    Words fewest;
    for (const std::set<int>& uniting : uniting_choices(x, parent, child)) {
      const Words words = pair_words(x, parent, child, uniting);
      if (uniting.empty() || words.served < fewest.served) fewest = words;
    }
    return fewest;
  }

  Words pair_words(int x, int parent, int child, const std::set<int>& uniting) const {
    Words words{x, parent, child};
    const Control control = this->control(x, parent, child);
    std::map<Tuple, Key> group_names;
    std::vector<Key> groups;  // by MAC
    for (const Mac& mac : macs_) {
      Tuple key = group_of(mac, x, parent, child, uniting);
      key.push_back(instance_of(mac, parent));
      groups.push_back(group_names.emplace(std::move(key), static_cast<Key>(group_names.size())).first->second);
    }
    const auto run = [&](const Mac& mac) { return indices(mac, [&](std::size_t i) { return control.starts_run[i]; }); };
    const auto no_run = [](const Mac&) { return Key{0}; };
    const auto as_is = [](const Mac& mac) -> const Tuple& { return mac.coords; };
    const auto group = [&](const Mac& mac) { return groups[static_cast<std::size_t>(&mac - macs_.data())]; };
    const auto at_child = [&](const Mac& mac) { return instance_of(mac, child); };
    const auto at_parent = [&](const Mac& mac) { return instance_of(mac, parent); };
    if (conventions_.halo == Conventions::Halo::kDisplacement && child < levels_) {
      std::set<Key> children;
      for (const Mac& mac : macs_) children.insert(at_child(mac));
      const Key first = group(macs_.front());
      words.served = static_cast<Count>(group_names.size()) *
                     displacement_walk(x, child, [&](const Mac& mac) { return group(mac) == first; });
      words.delivered = static_cast<Count>(children.size()) *
                        displacement_walk(x, child, [&](const Mac& mac) { return at_child(mac) == 0; });
    } else if (conventions_.stationarity == Conventions::Stationarity::kWithinLevel) {
      // Runs that the model takes to be one need not follow one another in time: give each its own receiver.
      const auto with_run = [&](const auto& receiver) {
        return [&](const Mac& mac) { return receiver(mac) * static_cast<Key>(macs_.size()) + run(mac); };
      };
      const auto seen = [&](bool side_by_side) {
        return [&, side_by_side](const Mac& mac) {
          return side_by_side ? widen(mac, control.widened, child) : mac.coords;
        };
      };
      words.served = transfers(x, with_run(group), no_run, seen(control.widened >= 0 && !unites(x, uniting)));
      words.delivered = transfers(x, with_run(at_child), no_run, seen(control.widened >= 0));
    } else {
      words.served = transfers(x, group, run, as_is);
      words.delivered = transfers(x, at_child, run, as_is);
    }
    words.steps_of_tiles = steps_of_tiles(x, parent, child);
    for (int l = parent + 1; l < child; ++l)
      if (!is_memory(l)) words.passed.emplace_back(l, passing(words, l, run));
    if (x != layer_.output()) return words;
    if (conventions_.first_time == Conventions::FirstTime::kPerSweep) {
      // One sweep over the coupled loops: the others stand still.
      Count sweeps = 1;
      for (std::size_t i = 0; i < loops_.size(); ++i)
        if (control.starts_run[i] && !coupled(x, loops_[i].dim)) sweeps *= loops_[i].bound;
      words.first_parent = words.served / sweeps;
      words.first_child = words.delivered / sweeps;
    } else if (boxes()) {
      words.first_parent = std::min(words.served, boxed_share(x, parent));
      words.first_child = child == levels_ ? 0 : std::min(words.delivered, boxed_share(x, child));
    } else {
      words.first_parent = transfers(x, at_parent, no_run, as_is);
      words.first_child = child == levels_ ? 0 : transfers(x, at_child, no_run, as_is);
    }
    return words;
  }

  /// Words that pass a fanout on their way to the children. Under conventions that do not move sets all factors are
  /// perfect, and so every word has as many takers as there are copies.
  template <class Run>
  double passing(const Words& words, int fanout, Run run) const {
    const auto merged = [&](const NestLoop& loop) {
      if (!loop.spatial || loop.level <= fanout || loop.level >= words.child || coupled(words.tensor, loop.dim))
        return false;
      const Fanout& inner = accelerator_.levels[loop.level].fanout();
      return words.tensor == layer_.output() ? inner.reduction : inner.multicast;
    };
    const bool sets = conventions_.halo != Conventions::Halo::kDisplacement &&
                      conventions_.stationarity != Conventions::Stationarity::kWithinLevel;
    if (!sets) {
      auto passed = static_cast<double>(words.delivered);
      for (const NestLoop& loop : loops_)
        if (merged(loop)) passed /= static_cast<double>(loop.bound);
      return passed;
    }
    const auto takers = [&](const Mac& mac) {
      return indices(
          mac, [&](std::size_t i) { return loops_[i].spatial && loops_[i].level < words.child && !merged(loops_[i]); });
    };
    return static_cast<double>(
        transfers(words.tensor, takers, run, [](const Mac& mac) -> const Tuple& { return mac.coords; }));
  }

  /// Timeloop: an instance's part of the tensor's box is divided at every network by the boxes of its children's tiles.
  Count boxed_share(int x, int level) const {
    Count words = tile_words(0, x), copies = 1;
    for (int l = 0; l < level; ++l) {
      if (is_memory(l)) continue;
      const int outermost = l;
      while (!is_memory(l)) ++l;
      words = words * tile_words(l, x) / tile_words(outermost, x);
    }
    for (const NestLoop& loop : loops_)
      if (loop.spatial && loop.level < level) copies *= loop.bound;
    return words * copies;
  }

  /// Timeloop, every iteration walked: words of one child (or of several taken as one), by its memory of the last
  /// displacement.
  template <class Condition>
  Count displacement_walk(int x, int child, Condition belongs) const {
    std::vector<std::pair<Key, Tuple>> visits;  // time, corner of the tile
    std::set<Tuple> tile;
    for (const Mac& mac : macs_) {
      if (!belongs(mac)) continue;
      const Key time = time_of(mac, child);
      if (visits.empty() || visits.back().first != time) visits.emplace_back(time, element(x, mac.coords));
      if (visits.size() == 1) tile.insert(element(x, mac.coords));
    }
    Tuple extent(tile.begin()->size(), 0);
    for (std::size_t r = 0; r < extent.size(); ++r)
      for (const Tuple& e : tile) extent[r] = std::max(extent[r], e[r] - visits.front().second[r] + 1);
    const Count whole = box_words(tile);
    Count words = whole;
    Tuple remembered;
    for (std::size_t v = 1; v < visits.size(); ++v) {
      Tuple moved(extent.size(), 0);
      int along = -1, ranks = 0;
      for (std::size_t r = 0; r < extent.size(); ++r) {
        moved[r] = visits[v].second[r] - visits[v - 1].second[r];
        if (moved[r] == 0) continue;
        along = static_cast<int>(r);
        ++ranks;
      }
      if (ranks == 0) continue;
      if (!remembered.empty() && remembered != moved) {
        words += whole;
        remembered.clear();
        continue;
      }
      remembered = moved;
      words += ranks > 1 ? whole : whole / extent[along] * std::min(std::abs(moved[along]), extent[along]);
    }
    return words;
  }
};

}  // namespace

Walked walk(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  return Walk(layer, accelerator, mapping).run();
}

Count tile_words(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping, int level, int tensor) {
  return Walk(layer, accelerator, mapping).tile_words(level, tensor);
}

}  // namespace pliant::reference
