// SPDX-License-Identifier: Apache-2.0
#include "support/fused_walker.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pliant::reference {

namespace {

using Element = std::vector<Count>;
using Round = std::map<std::string, Count>;  ///< where each loop is

struct Event {
  int layer = 0;
  Round at;
};

/// Something that takes room from its first use to its last.
struct Tile {
  std::size_t first = 0, last = 0;
  std::set<Element> elements;
  int bits_before = 0, bits_after = 0, change = -1;               ///< up to layer `change`, and after it
  std::map<Element, std::pair<std::size_t, std::size_t>> window;  ///< of a window: made, and read last
};

class Walk {
 public:
  Walk(const WalkedChain& chain, const Accelerator& machine, const WalkedPlan& plan)
      : chain_(chain), machine_(machine), plan_(plan) {}

  WalkedGroup walk() {
    const int layers = static_cast<int>(chain_.layers.size());
    group_.runs.resize(chain_.layers.size());
    group_.taken.assign(chain_.layers.size(), 0);
    group_.adds.assign(chain_.layers.size(), false);
    group_.sums_come_back.assign(chain_.layers.size(), false);
    for (int l = 0; l < layers; ++l) {
      static const std::vector<WalkedLoop> none;
      const auto& before = l > 0 ? plan_.stacks[static_cast<std::size_t>(l - 1)] : none;
      const auto& after = l + 1 < layers ? plan_.stacks[static_cast<std::size_t>(l)] : none;
      nests_.push_back(before.size() > after.size() ? before : after);
    }
    Round at;
    list(0, layers, 0, at);
    made_.resize(chain_.layers.size());
    for (std::size_t e = 0; e < events_.size() && group_.wrong.empty(); ++e) step(e);
    count_room();
    for (int l = 0; l < layers; ++l) price(l);
    return std::move(group_);
  }

 private:
  /// The layers [from, to) under the loops that are fixed already.
  void list(int from, int to, std::size_t depth, Round& at) {
    for (int l = from; l < to;) {
      const auto& nest = nests_[static_cast<std::size_t>(l)];
      if (nest.size() == depth) {
        events_.push_back({l++, at});
        continue;
      }
      int end = l + 1;
      while (end < to && nests_[static_cast<std::size_t>(end)].size() > depth &&
             nests_[static_cast<std::size_t>(end)][depth].axis == nest[depth].axis &&
             nests_[static_cast<std::size_t>(end)][depth].tile == nest[depth].tile)
        ++end;
      const Count trips = chain_.sizes.at(nest[depth].axis) / nest[depth].tile;
      for (Count i = 0; i < trips; ++i) {
        at[nest[depth].axis] = i;
        list(l, end, depth + 1, at);
      }
      at.erase(nest[depth].axis);
      l = end;
    }
  }

  using Range = std::pair<Count, Count>;
  std::vector<Range> region(const Event& event) const {
    std::vector<Range> ranges;
    for (const Dim& dim : layer(event.layer).dims) ranges.emplace_back(0, dim.size);
    for (const WalkedLoop& loop : nests_[static_cast<std::size_t>(event.layer)]) {
      if (chain_.same.contains(loop.axis)) continue;
      const WalkedPlace& place = chain_.places[static_cast<std::size_t>(event.layer)].at(loop.axis);
      const Count i = event.at.at(loop.axis), step = place.step * loop.tile;
      const Count size = layer(event.layer).dims[static_cast<std::size_t>(place.dim)].size;
      const auto reached = [&](Count rounds) {
        if (rounds == 0) return Count{0};
        if (rounds == chain_.sizes.at(loop.axis) / loop.tile) return size;
        return std::min(size, rounds * step + place.overlap - place.padding);
      };
      ranges[static_cast<std::size_t>(place.dim)] = {reached(i), reached(i + 1)};
    }
    return ranges;
  }

  std::set<Element> elements(const Event& event, int tensor, const std::vector<Range>& ranges) const {
    const Layer& layer = this->layer(event.layer);
    const Tensor& of = layer.tensors[static_cast<std::size_t>(tensor)];
    Element which;  // of the layers that a node counts
    for (const auto& [axis, same] : chain_.same)
      if ((same[static_cast<std::size_t>(event.layer)] >> tensor & 1U) == 0) which.push_back(event.at.at(axis));
    std::vector<Count> point(layer.dims.size(), 0);
    std::set<Element> all;
    const DimSet used = layer.coupled(tensor);
    const auto visit = [&](auto&& self, std::size_t d) -> void {
      if (d == point.size()) {
        Element element;
        for (const Rank& rank : of.ranks) {
          Count index = 0;
          for (const Term& term : rank.terms) index += term.coefficient * point[static_cast<std::size_t>(term.dim)];
          element.push_back(index);
        }
        element.insert(element.end(), which.begin(), which.end());
        all.insert(std::move(element));
        return;
      }
      if ((used >> d & 1U) == 0) return self(self, d + 1);
      for (point[d] = ranges[d].first; point[d] < ranges[d].second; ++point[d]) self(self, d + 1);
    };
    visit(visit, 0);
    return all;
  }

  const Layer& layer(int l) const { return chain_.layers[static_cast<std::size_t>(l)]; }
  bool last_layer(int l) const { return l + 1 == static_cast<int>(chain_.layers.size()); }

  /// Where some loops are; those of windows stand for all their rounds.
  std::string key(const std::string& what, const std::vector<WalkedLoop>& loops, std::size_t depth, const Round& at,
                  int whole_windows_of) const {
    std::string text = what;
    for (std::size_t i = 0; i < depth; ++i) {
      const bool window =
          whole_windows_of >= 0 && chain_.places[static_cast<std::size_t>(whole_windows_of)].at(loops[i].axis).window;
      text += window ? " *" : " " + std::to_string(at.at(loops[i].axis));
    }
    return text;
  }

  Tile& use(const std::string& name, std::size_t event, const std::set<Element>& met) {
    const auto [at, is_new] = tiles_.try_emplace(name);
    if (is_new) at->second.first = event;
    at->second.last = std::max(at->second.last, event);
    at->second.elements.insert(met.begin(), met.end());
    return at->second;
  }

  void step(std::size_t e) {
    const Event& event = events_[e];
    const int l = event.layer, output = layer(l).output();
    const std::vector<Range> ranges = region(event);
    if (std::ranges::any_of(ranges, [](const Range& range) { return range.first == range.second; })) return;
    std::vector<Count> sizes;
    for (const Range& range : ranges) sizes.push_back(range.second - range.first);
    ++group_.runs[static_cast<std::size_t>(l)][sizes];
    const std::set<Element> read =
        l > 0 ? elements(event, chain_.reads[static_cast<std::size_t>(l - 1)], ranges) : std::set<Element>{};
    if (l > 0) read_tile(e, read);
    if (l > 0) carry_rows(e, read);
    for (const WalkedHold& hold : plan_.held)
      if (hold.layer == l && hold.tensor != output) fetch(e, hold, elements(event, hold.tensor, ranges));
    make(e, elements(event, output, ranges), sizes);
  }

  /// Where the layer's nest cuts rows of an online softmax; as long as the nest where it does not.
  std::size_t row_depth(int l) const {
    const auto& nest = nests_[static_cast<std::size_t>(l)];
    if (l == 0 || chain_.online.empty()) return nest.size();
    const auto at = std::ranges::find(nest, chain_.online[static_cast<std::size_t>(l - 1)], &WalkedLoop::axis);
    return static_cast<std::size_t>(at - nest.begin());
  }

  void carry_rows(std::size_t e, const std::set<Element>& scores) {
    const Event& event = events_[e];
    const int l = event.layer;
    const std::size_t depth = row_depth(l);
    if (depth == nests_[static_cast<std::size_t>(l)].size()) return;
    const Layer& before = layer(l - 1);
    const std::size_t last = before.tensors[static_cast<std::size_t>(before.output())].ranks.size() - 1;
    std::set<Element> rows;
    for (Element row : scores) {
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(last));
      for (const Count number : {0, 1}) {
        row.push_back(number);
        rows.insert(row);
        row.pop_back();
      }
    }
    const std::string name = key("rows" + std::to_string(l), nests_[static_cast<std::size_t>(l)], depth, event.at, -1);
    Tile& tile = use(name, e, {});
    for (const Element& row : rows) carried_[l].first += tile.elements.contains(row) ? 1 : 0;
    carried_[l].second += static_cast<Count>(rows.size());
    tile.elements.insert(rows.begin(), rows.end());
    stay(tile, e, l, depth);
    tile.bits_before = tile.bits_after = machine_.partial_sum_bits(plan_.home, before);
  }

  /// From what the reader sees to what was made.
  bool inside(int link, Element& element) const {
    if (chain_.padded.empty()) return true;
    for (std::size_t r = 0; r < chain_.padded[static_cast<std::size_t>(link)].size(); ++r) {
      const WalkedRank& rank = chain_.padded[static_cast<std::size_t>(link)][r];
      element[r] -= rank.padding;
      if (element[r] < 0 || element[r] >= rank.size) return false;
    }
    return true;
  }

  void read_tile(std::size_t e, const std::set<Element>& met) {
    const Event& event = events_[e];
    const int l = event.layer;
    const auto& stack = plan_.stacks[static_cast<std::size_t>(l - 1)];
    const std::string name = key("T" + std::to_string(l), stack, stack.size(), event.at, l - 1);
    Tile& tile = use(name, e, {});
    stay(tile, e, l, stack.size());
    for (Element element : met) {
      if (!inside(l - 1, element)) continue;  // padding
      if (!tile.elements.contains(element)) return fail("a tile is read that is not there");
      if (made_[static_cast<std::size_t>(l - 1)][element] != macs_for_one(l - 1)) return fail("a sum is not whole");
      tile.window.at(element).second = e;
    }
  }

  /// Places are given for whole loops: what the layer uses under so many of its loops has its place from the first step
  /// of those inside to their last.
  void stay(Tile& tile, std::size_t e, int l, std::size_t depth) const {
    if (nests_[static_cast<std::size_t>(l)].size() <= depth) return;
    const auto inside = [&](std::size_t other) {
      for (std::size_t d = 0; d <= depth; ++d) {
        const WalkedLoop& loop = nests_[static_cast<std::size_t>(l)][d];
        for (int k = std::min(l, events_[other].layer); k <= std::max(l, events_[other].layer); ++k) {
          const auto& nest = nests_[static_cast<std::size_t>(k)];
          if (nest.size() <= d || nest[d].axis != loop.axis || nest[d].tile != loop.tile) return false;
        }
        if (d < depth && events_[other].at.at(loop.axis) != events_[e].at.at(loop.axis)) return false;
      }
      return true;
    };
    while (tile.first > 0 && inside(tile.first - 1)) --tile.first;
    while (tile.last + 1 < events_.size() && inside(tile.last + 1)) ++tile.last;
  }

  void fetch(std::size_t e, const WalkedHold& hold, const std::set<Element>& met) {
    const Event& event = events_[e];
    const std::string name = key("L" + std::to_string(hold.layer) + "x" + std::to_string(hold.tensor),
                                 nests_[static_cast<std::size_t>(hold.layer)], hold.depth, event.at, -1);
    const std::size_t before = tiles_.contains(name) ? tiles_.at(name).elements.size() : 0;
    Tile& tile = use(name, e, met);
    stay(tile, e, hold.layer, hold.depth);
    tile.bits_before = tile.bits_after = machine_.element_bits(plan_.home, layer(hold.layer), hold.tensor);
    loads_[{hold.layer, hold.tensor}] += static_cast<Count>(tile.elements.size() - before);
  }

  Count macs_for_one(int l) const {
    Count product = 1;
    const DimSet used = layer(l).coupled(layer(l).output());
    for (std::size_t d = 0; d < layer(l).dims.size(); ++d)
      if ((used >> d & 1U) == 0) product *= layer(l).dims[d].size;
    return product;
  }

  void make(std::size_t e, const std::set<Element>& met, const std::vector<Count>& sizes) {
    const Event& event = events_[e];
    const int l = event.layer, output = layer(l).output();
    const auto held = std::ranges::find_if(
        plan_.held, [&](const WalkedHold& hold) { return hold.layer == l && hold.tensor == output; });
    std::map<Element, Count>& sums = made_[static_cast<std::size_t>(l)];
    Count older = 0;
    for (const Element& element : met) older += sums.contains(element) ? 1 : 0;
    older_[l] += older;
    if (!last_layer(l)) {
      const auto& stack = plan_.stacks[static_cast<std::size_t>(l)];
      Tile& tile = use(key("T" + std::to_string(l + 1), stack, stack.size(), event.at, l), e, met);
      stay(tile, e, l, stack.size());
      const int read = chain_.reads[static_cast<std::size_t>(l)];
      tile.bits_before = machine_.partial_sum_bits(plan_.home, layer(l));
      tile.bits_after = std::max(machine_.element_bits(plan_.home, layer(l), output),
                                 machine_.element_bits(plan_.home, layer(l + 1), read));
      tile.change = l;
      for (const Element& element : met) tile.window.try_emplace(element, e, e);
    } else if (held != plan_.held.end()) {
      const std::string name = key("out", nests_[static_cast<std::size_t>(l)], held->depth, event.at, -1);
      for (const Element& element : met) {
        const bool here = tiles_.contains(name) && tiles_.at(name).elements.contains(element);
        stores_ += here ? 0 : 1;
        back_ += !here && sums.contains(element) ? 1 : 0;
      }
      Tile& tile = use(name, e, met);
      stay(tile, e, l, held->depth);
      tile.bits_before = tile.bits_after = machine_.partial_sum_bits(plan_.home, layer(l));
    } else if (plan_.result_in < 0) {
      back_ += older;
      if (older > 0) group_.sums_come_back[static_cast<std::size_t>(l)] = true;
    }
    Count macs = 1;
    const DimSet used = layer(l).coupled(output);
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if ((used >> d & 1U) == 0) macs *= sizes[d];
    const bool in_parts = row_depth(l) < nests_[static_cast<std::size_t>(l)].size();
    if (in_parts) corrected_[l] += older;
    for (const Element& element : met) {
      sums[element] += macs;
      if (in_parts && sums[element] == macs_for_one(l)) ++corrected_[l];
    }
    if (in_parts && (back_ > 0 || group_.sums_come_back[static_cast<std::size_t>(l)]))
      fail("results leave before all parts of their rows have corrected them");
  }

  void fail(const std::string& why) {
    if (group_.wrong.empty()) group_.wrong = why;
  }

  /// Words of a tile while an event happens. Of a window those elements count that were made and are still read.
  Count words_at(const Tile& tile, bool window, std::size_t e) const {
    const Count word = machine_.levels[static_cast<std::size_t>(plan_.home)].memory().word_bits;
    Count elements = static_cast<Count>(tile.elements.size());
    if (window)
      elements = std::ranges::count_if(
          tile.window, [&](const auto& one) { return one.second.first <= e && e <= one.second.second; });
    const int bits = events_[e].layer <= tile.change ? tile.bits_before : tile.bits_after;
    return (elements * bits + word - 1) / word;
  }

  void count_room() {
    for (std::size_t e = 0; e < events_.size(); ++e) {
      Count sum = 0;
      for (const auto& [name, tile] : tiles_)
        if (tile.first <= e && e <= tile.last) sum += words_at(tile, name.find('*') != std::string::npos, e);
      Count& taken = group_.taken[static_cast<std::size_t>(events_[e].layer)];
      taken = std::max(taken, sum);
    }
  }

  /// One thing after the other, each in the time of the busier of its memories.
  void move(Count elements, int from, int to, int l, int tensor, bool sums = false) {
    double cycles = 0, leak = 0;
    Count copies = 1;
    for (const Level& level : machine_.levels) {
      if (level.is_fanout()) copies *= level.fanout().units();
      if (level.is_memory()) leak += static_cast<double>(copies) * level.memory().leak_pj_per_cycle;
    }
    for (const auto& [at, writes] : {std::pair{from, false}, std::pair{to, true}}) {
      if (at < 0) continue;
      const Memory& memory = machine_.levels[static_cast<std::size_t>(at)].memory();
      const double words =
          static_cast<double>(elements) *
          (sums ? machine_.partial_sum_bits(at, layer(l)) : machine_.element_bits(at, layer(l), tensor)) /
          memory.word_bits;
      group_.energy_pj += words * (writes ? memory.write_pj : memory.read_pj);
      if (memory.bus_words_per_cycle) cycles = std::max(cycles, words / *memory.bus_words_per_cycle);
    }
    cycles = std::ceil(cycles - 1e-9);  // a port is done at the end of a cycle
    group_.cycles += cycles;
    group_.energy_pj += cycles * leak;
  }

  /// Read and written in one memory.
  void update(Count read, Count written, int at, int bits) {
    double leak = 0;
    Count copies = 1;
    for (const Level& level : machine_.levels) {
      if (level.is_fanout()) copies *= level.fanout().units();
      if (level.is_memory()) leak += static_cast<double>(copies) * level.memory().leak_pj_per_cycle;
    }
    const Memory& memory = machine_.levels[static_cast<std::size_t>(at)].memory();
    const double in = static_cast<double>(read * bits) / memory.word_bits,
                 out = static_cast<double>(written * bits) / memory.word_bits;
    const double cycles = memory.bus_words_per_cycle ? std::ceil((in + out) / *memory.bus_words_per_cycle - 1e-9) : 0.0;
    group_.energy_pj += in * memory.read_pj + out * memory.write_pj + cycles * leak;
    group_.cycles += cycles;
  }

  void price(int l) {
    const int output = layer(l).output();
    if (carried_.contains(l)) {
      const int where = last_layer(l) && plan_.result_in >= 0 ? plan_.result_in : plan_.home;
      update(carried_[l].first, carried_[l].second, plan_.home, machine_.partial_sum_bits(plan_.home, layer(l - 1)));
      update(corrected_[l], corrected_[l], where, machine_.partial_sum_bits(where, layer(l)));
    }
    for (const auto& [what, elements] : loads_)
      if (what.first == l) move(elements, 0, plan_.home, l, what.second);
    const bool on_chip_elsewhere = last_layer(l) && plan_.result_in >= 0;
    if (older_[l] > 0) move(older_[l], on_chip_elsewhere ? plan_.result_in : plan_.home, -1, l, output, true);
    group_.adds[static_cast<std::size_t>(l)] = older_[l] > 0;
    if (!last_layer(l)) return;
    if (stores_ > 0) move(stores_, plan_.home, 0, l, output, back_ > 0);
    if (back_ > 0) move(back_, 0, plan_.home, l, output, true);
  }

  const WalkedChain& chain_;
  const Accelerator& machine_;
  const WalkedPlan& plan_;
  WalkedGroup group_;
  std::vector<std::vector<WalkedLoop>> nests_;
  std::vector<Event> events_;
  std::map<std::string, Tile> tiles_;
  std::vector<std::map<Element, Count>> made_;  ///< by layer: MACs in each sum
  std::map<std::pair<int, int>, Count> loads_;
  std::map<int, Count> older_;
  Count stores_ = 0, back_ = 0;
  std::map<int, std::pair<Count, Count>> carried_;  ///< by layer: read and written for the rows of a softmax
  std::map<int, Count> corrected_;
};

}  // namespace

WalkedGroup walk_group(const WalkedChain& chain, const Accelerator& machine, const WalkedPlan& plan) {
  return Walk(chain, machine, plan).walk();
}

}  // namespace pliant::reference
