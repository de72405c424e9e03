// SPDX-License-Identifier: Apache-2.0
#include "support/reference_walker.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace pliant::reference {

namespace {

using Tuple = std::vector<Count>;
using Key = Count;  ///< a tuple written as one number in mixed radix

struct NestLoop {
  int level = 0, dim = 0;
  Count bound = 1;
  Count step = 1;  ///< how far one iteration moves along the dim: bounds of the loops over it further in
  bool spatial = false;
};

struct Mac {
  Tuple index;   ///< by loop
  Tuple coords;  ///< by dim
  Key time = 0;
};

class Walk {
 public:
  Walk(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping)
      : layer_(layer), accelerator_(accelerator), mapping_(mapping), conventions_(accelerator.conventions) {
    levels_ = static_cast<int>(accelerator.levels.size()) - 1;
    for (int l = 0; l < levels_; ++l) {
      for (const Loop& loop : mapping.levels[l].temporal) add_loop(l, loop.dim, loop.bound, false);
      for (const SpatialLoop& loop : mapping.levels[l].spatial) add_loop(l, loop.dim, loop.bound, true);
    }
    std::vector<Count> tile(layer.dims.size(), 1);
    for (std::size_t i = loops_.size(); i-- > 0;) {
      loops_[i].step = tile[loops_[i].dim];
      tile[loops_[i].dim] *= loops_[i].bound;
    }
    Mac start{Tuple(loops_.size(), 0), Tuple(layer.dims.size(), 0)};
    run_loop(0, start);
    // Spatial loops stand for copies at the same time: order the MACs by their temporal indices.
    for (Mac& mac : macs_) mac.time = time_of(mac, levels_);
    std::stable_sort(macs_.begin(), macs_.end(), [](const Mac& a, const Mac& b) { return a.time < b.time; });
    for (const Tensor& tensor : layer.tensors) {
      extents_.emplace_back();
      for (const Rank& rank : tensor.ranks) {
        Count extent = 1;
        for (const Term& term : rank.terms) extent += term.coefficient * (layer.dims[term.dim].size - 1);
        extents_.back().push_back(extent);
      }
    }
  }

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

  Count tile_words(int level, int x) const {
    std::set<Tuple> elements;
    for (const Mac& mac : macs_)
      if (indices(mac, [&](std::size_t i) { return loops_[i].level < level; }) == 0)
        elements.insert(element(x, mac.coords));
    return conventions_.footprint == Conventions::Footprint::kDistinct ? static_cast<Count>(elements.size())
                                                                       : box_words(elements);
  }

 private:
  void add_loop(int level, int dim, Count bound, bool spatial) {
    if (bound > 1) loops_.push_back({level, dim, bound, 1, spatial});
  }

  void run_loop(std::size_t i, Mac& at) {
    if (i == loops_.size()) {
      macs_.push_back(at);
      return;
    }
    const NestLoop& loop = loops_[i];
    Count& coordinate = at.coords[loop.dim];
    const Count start = coordinate;
    for (at.index[i] = 0; at.index[i] < loop.bound && coordinate < layer_.dims[loop.dim].size; ++at.index[i]) {
      run_loop(i + 1, at);
      coordinate += loop.step;
    }
    at.index[i] = 0;
    coordinate = start;
  }

  bool is_memory(int level) const { return accelerator_.levels[level].is_memory(); }
  bool coupled(int x, int dim) const { return layer_.coupled(x) >> dim & 1U; }

  /// Indices of the loops that satisfy a condition.
  template <class Condition>
  Key indices(const Mac& mac, Condition wanted) const {
    Key key = 0;
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (wanted(i)) key = key * loops_[i].bound + mac.index[i];
    return key;
  }
  Key time_of(const Mac& mac, int level) const {
    return indices(mac, [&](std::size_t i) { return !loops_[i].spatial && loops_[i].level < level; });
  }
  Key instance_of(const Mac& mac, int level) const {
    return indices(mac, [&](std::size_t i) { return loops_[i].spatial && loops_[i].level < level; });
  }
  /// Most instances of a level that work in the same step.
  Count peak_instances(int level) const {
    std::map<Key, std::set<Key>> working;  // by step
    for (const Mac& mac : macs_) working[mac.time].insert(instance_of(mac, level));
    std::size_t most = 0;
    for (const auto& [time, instances] : working) most = std::max(most, instances.size());
    return static_cast<Count>(most);
  }
  Tuple element(int x, const Tuple& coords) const {
    Tuple at;
    for (const Rank& rank : layer_.tensors[x].ranks) {
      Count value = 0;
      for (const Term& term : rank.terms) value += term.coefficient * coords[term.dim];
      at.push_back(value);
    }
    return at;
  }

  Key element_key(int x, const Tuple& coords) const {
    Key key = 0;
    for (std::size_t r = 0; r < extents_[x].size(); ++r) {
      Count value = 0;
      for (const Term& term : layer_.tensors[x].ranks[r].terms) value += term.coefficient * coords[term.dim];
      key = key * extents_[x][r] + value;
    }
    return key;
  }

  static Count box_words(const std::set<Tuple>& elements) {
    Count words = 1;
    for (std::size_t r = 0; r < elements.begin()->size(); ++r) {
      Count low = (*elements.begin())[r], high = low;
      for (const Tuple& e : elements) {
        low = std::min(low, e[r]);
        high = std::max(high, e[r]);
      }
      words *= high - low + 1;
    }
    return words;
  }

  /// Does the dim move x through exactly one index expression, one with several terms?
  bool slides(int x, int dim) const {
    int uses = 0;
    bool several = false;
    for (const Rank& rank : layer_.tensors[x].ranks)
      for (const Term& term : rank.terms)
        if (term.dim == dim) {
          ++uses;
          several = rank.terms.size() > 1;
        }
    return uses == 1 && several;
  }

  bool boxes() const { return conventions_.footprint == Conventions::Footprint::kBoundingBox; }

  /// Is the dim by itself, with coefficient 1, the only index of x that mentions it? Then windows along it never
  /// overlap.
  bool plain(int x, int dim) const {
    int uses = 0;
    bool alone = true;
    for (const Rank& rank : layer_.tensors[x].ranks)
      for (const Term& term : rank.terms)
        if (term.dim == dim) {
          ++uses;
          alone &= rank.terms.size() == 1 && term.coefficient == 1;
        }
    return uses == 1 && alone;
  }

  /// What the children that share one transfer have in common, besides the instance of the parent.
  Tuple group_of(const Mac& mac, int x, int parent, int child, const std::set<int>& uniting) const {
    Tuple key;
    std::map<int, Tuple> displaced;  // network, named by the first level inside it that is no fanout
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

  Control control(int x, int parent, int child) const {
    Control control{std::vector<bool>(loops_.size(), false), -1};
    const bool to_compute = child == levels_;
    const bool within = conventions_.stationarity == Conventions::Stationarity::kWithinLevel;
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
    int kill = static_cast<int>(loops_.size()) - 1;
    for (; kill >= 0; --kill) {
      const NestLoop& loop = loops_[kill];
      if (loop.spatial || loop.level >= from) continue;
      if (within && loop.level < parent) break;  // the rest counts in full
      if (coupled(x, loop.dim)) break;
    }
    for (int i = 0; i <= kill; ++i) control.starts_run[i] = !loops_[i].spatial;
    if (kill < 0 || to_compute || !slides(x, loops_[kill].dim)) return control;
    if (within && loops_[kill].level < parent) return control;
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
    Words words{x, parent, child, 0, 0, 0, 0};
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

  double words_of(int level, int bits) const {
    return static_cast<double>(bits) / accelerator_.levels[static_cast<std::size_t>(level)].memory().word_bits;
  }

  /// May several instances of a memory have parts of the same sum? Where loops are unrolled outside it that do not move
  /// outputs, or move them by more than one index.
  bool shared_outside(int level) const {
    const Tensor& output = layer_.tensors[static_cast<std::size_t>(layer_.output())];
    for (int l = 0; l < level; ++l)
      for (const SpatialLoop& loop : mapping_.levels[static_cast<std::size_t>(l)].spatial) {
        int plain = 0, other = 0;
        for (const Rank& rank : output.ranks)
          for (const Term& term : rank.terms)
            if (term.dim == loop.dim) ++(rank.terms.size() == 1 ? plain : other);
        if (loop.bound > 1 && (plain != 1 || other != 0)) return true;
      }
    return false;
  }

  /// Reads, writes, energy and cycles from the words that were moved.
  void charge(Walked& walked) const {
    walked.reads.assign(levels_, 0);
    walked.reads_of.fill(walked.reads);
    walked.writes = walked.reads;
    walked.writes_of = walked.reads_of;
    const auto access = [&](const Words& w, int level, double reads, double writes) {
      const auto role = static_cast<std::size_t>(layer_.tensors[w.tensor].role);
      walked.reads[level] += reads;
      walked.reads_of[role][level] += reads;
      walked.writes[level] += writes;
      walked.writes_of[role][level] += writes;
    };
    const Compute& compute = accelerator_.levels.back().compute();
    walked.energy_pj = static_cast<double>(walked.macs) * compute.mac_pj;
    std::map<int, double> output_fills;  // by level
    for (const Words& w : walked.words) {
      const Memory& parent = accelerator_.levels[w.parent].memory();
      const Memory* child = w.child < levels_ ? &accelerator_.levels[w.child].memory() : nullptr;
      double parent_reads = static_cast<double>(w.served), updates = 0, fills = static_cast<double>(w.delivered),
             drains = 0;
      if (w.tensor == layer_.output()) {
        updates = static_cast<double>(w.served);
        parent_reads -= static_cast<double>(w.first_parent);
        fills -= static_cast<double>(w.first_child);
        switch (conventions_.drain) {
          case Conventions::Drain::kCounted: drains = static_cast<double>(w.delivered); break;
          case Conventions::Drain::kFree: break;
          case Conventions::Drain::kParentWrites:
            drains =
                (updates + output_fills[w.parent]) * static_cast<double>(w.delivered) / static_cast<double>(w.served);
            break;
        }
        output_fills[w.child] = fills;
      }
      const double wide = words_of(w.parent, accelerator_.held_bits(w.parent, layer_, w.tensor));
      parent_reads *= wide;
      updates *= wide;
      if (w.tensor == layer_.output() && !shared_outside(w.parent))
        updates -= static_cast<double>(w.first_parent) *
                   (wide - words_of(w.parent, accelerator_.element_bits(w.parent, layer_, w.tensor)));
      access(w, w.parent, parent_reads, updates);
      walked.energy_pj += parent_reads * parent.read_pj + updates * parent.update_pj;
      if (child == nullptr) continue;
      const double child_wide = words_of(w.child, accelerator_.held_bits(w.child, layer_, w.tensor));
      fills *= child_wide;
      drains *= child_wide;
      if (w.tensor == layer_.output() && conventions_.drain == Conventions::Drain::kCounted && !shared_outside(w.child))
        drains -= static_cast<double>(w.first_child) *
                  (child_wide - words_of(w.child, accelerator_.element_bits(w.child, layer_, w.tensor)));
      access(w, w.child, drains, fills);
      walked.energy_pj += drains * child->read_pj + fills * child->write_pj;
    }
    walked.cycles = static_cast<double>(walked.steps) * compute.cycles_per_mac;
    double leakage = compute.leak_pj_per_cycle, built = 1;
    for (int l = 0; l < levels_; ++l)
      if (!is_memory(l)) leakage *= static_cast<double>(accelerator_.levels[l].fanout().units());
    for (int l = 0; l < levels_; ++l) {
      if (!is_memory(l)) {
        built *= static_cast<double>(accelerator_.levels[l].fanout().units());
        continue;
      }
      const Memory& memory = accelerator_.levels[l].memory();
      leakage += memory.leak_pj_per_cycle * built;
      const auto used = static_cast<double>(walked.peak[l]);
      const auto wait = [&](const std::optional<double>& rate, double words) {
        if (rate) walked.cycles = std::max(walked.cycles, std::ceil(words / (*rate * used)));
      };
      wait(memory.read_words_per_cycle, walked.reads[l]);
      wait(memory.write_words_per_cycle, walked.writes[l]);
      wait(memory.bus_words_per_cycle, walked.reads[l] + walked.writes[l]);
      for (std::size_t r = 0; r < kRoles; ++r) {
        wait(memory.bandwidth_of[r].read, walked.reads_of[r][l]);
        wait(memory.bandwidth_of[r].write, walked.writes_of[r][l]);
        wait(memory.bandwidth_of[r].bus, walked.reads_of[r][l] + walked.writes_of[r][l]);
      }
    }
    walked.energy_pj += leakage * walked.cycles;
  }

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Mapping& mapping_;
  const Conventions& conventions_;
  int levels_ = 0;
  std::vector<NestLoop> loops_;  ///< outermost first; loops of bound 1 do not exist
  std::vector<Mac> macs_;        ///< in order of time
  std::vector<Tuple> extents_;   ///< by tensor and rank: one more than the largest index
};

}  // namespace

Walked walk(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  return Walk(layer, accelerator, mapping).run();
}

Count tile_words(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping, int level, int tensor) {
  return Walk(layer, accelerator, mapping).tile_words(level, tensor);
}

}  // namespace pliant::reference
