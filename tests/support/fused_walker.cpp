// SPDX-License-Identifier: Apache-2.0
#include "support/fused_walker.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

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

  std::set<Element> elements(const Layer& layer, int tensor, const std::vector<Range>& ranges) const {
    const Tensor& of = layer.tensors[static_cast<std::size_t>(tensor)];
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
    if (l > 0) read_tile(e, elements(layer(l), chain_.reads[static_cast<std::size_t>(l - 1)], ranges));
    for (const WalkedHold& hold : plan_.held)
      if (hold.layer == l && hold.tensor != output) fetch(e, hold, elements(layer(l), hold.tensor, ranges));
    make(e, elements(layer(l), output, ranges), sizes);
  }

  /// From what the reader sees to what was made.
  bool inside(int link, Element& element) const {
    if (chain_.padded.empty()) return true;
    for (std::size_t r = 0; r < element.size(); ++r) {
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
    for (Element element : met) {
      if (!inside(l - 1, element)) continue;  // padding
      if (!tile.elements.contains(element)) return fail("a tile is read that is not there");
      if (made_[static_cast<std::size_t>(l - 1)][element] != macs_for_one(l - 1)) return fail("a sum is not whole");
      tile.window.at(element).second = e;
    }
  }

  /// What is held has its place from the first step of the loops that it is held over to their last.
  void stay(Tile& tile, std::size_t e, int l, std::size_t depth) const {
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
    for (const Element& element : met) sums[element] += macs;
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

  void price(int l) {
    const int output = layer(l).output();
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
};

}  // namespace

WalkedGroup walk_group(const WalkedChain& chain, const Accelerator& machine, const WalkedPlan& plan) {
  return Walk(chain, machine, plan).walk();
}

WalkedChain walked_gemms(std::vector<Layer> layers) {
  WalkedChain chain;
  chain.places.resize(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    const auto at = [&](const std::string& axis, const char* dim) {
      chain.places[l][axis] = {layer.find_dim(dim)};
      chain.sizes[axis] = layer.dims[static_cast<std::size_t>(layer.find_dim(dim))].size;
    };
    at("m", "M");
    if (l > 0) {
      at("n" + std::to_string(l), "K");
      chain.reads.push_back(layer.find_tensor("Inputs"));
    }
    if (l + 1 < layers.size()) at("n" + std::to_string(l + 1), "N");
  }
  chain.layers = std::move(layers);
  return chain;
}

WalkedChain walked_convs(std::vector<Layer> layers) {
  WalkedChain chain;
  chain.places.resize(layers.size());
  const auto size = [&](std::size_t l, const char* dim) {
    return layers[l].dims[static_cast<std::size_t>(layers[l].find_dim(dim))].size;
  };
  const auto set = [&](std::size_t l, const std::string& axis, const char* dim, WalkedPlace place) {
    place.dim = layers[l].find_dim(dim);
    chain.places[l][axis] = place;
  };
  std::string channels = "c1";
  std::map<std::string, std::string> axes;  // of p and q, as the layer before has them
  for (std::size_t l = 1; l < layers.size(); ++l) {
    chain.reads.push_back(layers[l].find_tensor("Inputs"));
    const bool depthwise_before = layers[l - 1].find_dim("M") < 0;
    if (!depthwise_before) channels = "c" + std::to_string(l);
    set(l - 1, channels, depthwise_before ? "C" : "M", {});
    set(l, channels, "C", {});
    chain.padded.push_back({{0, size(l, "C")}});
    chain.sizes[channels] = size(l, "C");
    for (const auto& [name, out, filter, rank] :
         {std::tuple{std::string("p"), "P", "R", 1}, std::tuple{std::string("q"), "Q", "S", 2}}) {
      const Tensor& inputs = layers[l].tensors[static_cast<std::size_t>(chain.reads.back())];
      const Count stride = inputs.ranks[static_cast<std::size_t>(rank)].terms.front().coefficient;
      const Count overlap = size(l, filter) - stride;
      const Count padding = stride * size(l, out) + overlap - size(l - 1, out),
                  before = padding < 0 ? 0 : (padding + 1) / 2;
      chain.padded.back().push_back({before, size(l - 1, out)});
      if (overlap < 0 || padding < 0) continue;  // rows that nobody reads
      // A filter of one element has no window: the axis is the one of the layer before.
      std::string& axis = axes[name];
      if (axis.empty() || size(l, filter) > 1) axis = name + std::to_string(l);
      set(l - 1, axis, out, {0, stride, overlap, before, overlap > 0 || padding > 0});
      set(l, axis, out, {});
      chain.sizes[axis] = size(l, out);
    }
  }
  chain.layers = std::move(layers);
  return chain;
}

}  // namespace pliant::reference
