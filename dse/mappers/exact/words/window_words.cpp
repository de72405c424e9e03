// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/window_words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "core/affine.h"
#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/network_rounds.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

namespace {

/// Tiles of one group that are looked at one by one.
constexpr double kMostMembers = 4096;

}  // namespace

WindowWords::WindowWords(const ChargePlace& place, const KeeperPair& pair, const Problem::AffineRank& rank)
    : place_(place),
      p_(place.resolved.problem),
      spatial_(place.spatial),
      pair_(pair),
      rank_(rank),
      level_(place.level()),
      serving_(std::max(pair.parent, place.level())),
      dim_set_(dims_of(rank)),
      networks_inside_(networks_between(p_, serving_, pair.child)) {
  for (const int d : members(dim_set_)) dims_.push_back(d);
  if (pair.parent < level_) networks_beyond_ = networks_between(p_, pair.parent, level_);
  slides_ = place.slide >= 0 && contains(dim_set_, place.slide);
  divided_ = slides_ && !sure<"L5.20">(!place.resolved.slide_may_be_divided(place.memory, place.slide));
  walks_ = displacement_walks(p_, rank);
  // Where every loop that moves a window moves it along one rank, slides it, and is a term of its own.
  if (walks_ && place.resolved.perfect && (p_.affine_dims[place.tensor] & ~p_.sliding[place.tensor]) == 0) {
    if (slides_ && RememberedSlide::can_follow(p_, rank))
      remembered_.emplace(place.resolved, spatial_, place.memory, place.slide, rank);
    walks_ = slides_ && !remembered_;
  }
  Sizes whole{};
  for (const int d : dims_) whole[d] = p_.size[d];
  values_ = extent(p_, rank, whole, true);
  find_ranks_together();
}

RankTable WindowWords::table() const {
  RankTable table;
  int size = 1;
  for (const int d : dims_) {
    table.stride[d] = size;
    size *= static_cast<int>(place_.states(d).size());
  }
  table.served.reserve(static_cast<std::size_t>(size));
  table.delivered.reserve(static_cast<std::size_t>(size));
  const bool grouped = place_.axis(dims_.front()).grouped();
  DimSet own = dim_set_;
  for (const Problem::AffineRank* other = p_.affine[place_.tensor].data(); other != &rank_; ++other)
    own &= ~dims_of(*other);
  for (int cell = 0; cell < size; ++cell) {
    const Node node = node_at(table, cell);
    const Words words = grouped ? least_of_group(table, cell) : at(node);
    double runs = 1;
    for (const int d : members(own)) runs *= node.left[d];
    table.served.push_back(words.served * runs);
    table.delivered.push_back(words.delivered * runs);
  }
  table.alike = table.served == table.delivered;
  if (!grouped) table.counted = table.served.size();
  return table;
}

WindowWords::Node WindowWords::node_at(const RankTable& table, int cell) const {
  Node node;
  node.child.fill(1);
  for (const int d : dims_) {
    const std::vector<Axis::State>& states = place_.states(d);
    set(node, d, states[static_cast<std::size_t>(cell / table.stride[d]) % states.size()]);
  }
  return node;
}

void WindowWords::set(Node& node, int dim, const Axis::State& state) const {
  node.tile[dim] = static_cast<double>(state.tile);
  node.left[dim] = static_cast<double>(state.left);
  node.child[dim] = std::min(std::max(1.0, node.tile[dim] / units(dim, level_, pair_.child)), p_.size[dim]);
}

/// words * iterations left >= the least of it over all tiles of the group. Where these are too many, each value comes
/// once.
WindowWords::Words WindowWords::least_of_group(RankTable& table, int cell) const {
  const Node group = node_at(table, cell);
  double members = 1, left = 1;
  for (const int d : dims_) {
    const Axis& axis = place_.axis(d);
    const std::size_t s = static_cast<std::size_t>(cell / table.stride[d]) % axis.states.size();
    members *= static_cast<double>((axis.largest[s] - axis.states[s].tile) / axis.unit + 1);
    left *= group.left[d];
  }
  if (members > kMostMembers) {
    Words once{0, 0};
    every_value_once(group, once);
    return once;
  }
  Words least{kInfinity, kInfinity};
  Node node = group;
  const auto choose = [&](const auto& self, std::size_t i, double rounds) -> void {
    if (i == dims_.size()) {
      ++table.counted;
      const Words words = at(node);
      least = {std::min(least.served, words.served * rounds), std::min(least.delivered, words.delivered * rounds)};
      return;
    }
    const int d = dims_[i];
    const Axis& axis = place_.axis(d);
    const std::size_t s = static_cast<std::size_t>(cell / table.stride[d]) % axis.states.size();
    for (Count tile = axis.states[s].tile; tile <= axis.largest[s]; tile += axis.unit) {
      const Count outside = std::max<Count>(1, ceil_div(static_cast<Count>(p_.size[d]), tile));
      set(node, d, {tile, outside});
      self(self, i + 1, rounds * static_cast<double>(outside));
    }
  };
  choose(choose, 0, 1);
  return {at_least<"L12.3">(least.served / left, 0), at_least<"L12.3">(least.delivered / left, 0)};
}

WindowWords::Words WindowWords::at(const Node& node) const {
  const double covered = short_last_windows(node);
  Words words = of_the_run(node, covered);
  if (remembered_)
    follow_slide(node, words);
  else if (slides_)
    divided_slide(node, words);
  for (const std::pair<int, int>& network : networks_beyond_)
    words.served *= at_least<"L5.11">(share_beyond(node, network), 0);
  if (walks_) {
    const double once = remembered_displacements(node);
    words.served = std::min(words.served, once);
    words.delivered = std::min(words.delivered, once);
  }
  words = {covered * words.served, covered * words.delivered};
  if (covered < 1) one_by_one(node, words);
  if (together_.ranks == 1) every_value_once(node, words);
  return words;
}

WindowWords::Words WindowWords::of_the_run(const Node& node, double covered) const {
  // A box grows with its corners, distinct values do not: where windows move or are short, only these are certain.
  const double window = extent(p_, rank_, node.child, slides_ || covered < 1);
  Words words{side_by_side(node, window), at_least<"L5.7">(window, 0)};
  if (slides_) {
    past_neighbours(node, words);
    over_holes(node, words);
  }
  return words;
}

// ---- Units ----

double WindowWords::units(int dim, int outside, int inside) const {
  return spatial_between(spatial_, only(dim), outside, inside);
}

WindowWords::Sizes WindowWords::united(const Node& node, int outside, int inside) const {
  Sizes all = node.child;
  for (const int d : dims_) all[d] *= units(d, outside, inside);
  return all;
}

void WindowWords::find_ranks_together() {
  together_.dims = dims_of_windows(p_, place_.tensor, rank_);
  for (const Problem::AffineRank& other : p_.affine[place_.tensor])
    if ((other.dims & together_.dims) != 0 && together_.ranks++ == 0) together_.first = &other == &rank_;
}

/// Windows that differ among the children of a network; of ranks that share a dim at least as many as differ whatever
/// the tiles: numbers a < A and b < B with any strides have A + B - 1 different sums.
double WindowWords::different_windows(std::pair<int, int> network, const Sizes& below, bool shared) const {
  if (together_.ranks == 1) return windows(spatial_, rank_, network, below, shared);
  if (!together_.first) return 1;
  if (!shared) return spatial_between(spatial_, together_.dims, network.first - 1, network.second + 1);
  double fewest = 1;
  for (const int d : members(together_.dims))
    fewest += spatial_between(spatial_, only(d), network.first - 1, network.second + 1) - 1;
  return fewest;
}

// ---- Remainders ----

/// words(last window) >= share of the full tile that is left for it * words(full window): of a union of translates, the
/// part has at least its share (a box may lose more, so distinct values are taken there). 1 with perfect factors.
double WindowWords::short_last_windows(const Node& node) const {
  double covered = 1;
  for (const int d : dims_) covered *= std::min(1.0, p_.size[d] / (node.tile[d] * node.left[d]));
  return at_least<"L5.5">(covered, covered < 1 ? 0 : 1);
}

/// words of all iterations and units = sum over the windows, because the children's tiles lie side by side along each
/// dim: all of them are full but the last. Windows that slide likewise, where no units divide them. Of what arrives at
/// the children all is served, but for windows of one round that begin at the same value.
void WindowWords::one_by_one(const Node& node, Words& words) const {
  const double children = spatial_between(spatial_, dim_set_, level_, pair_.child);
  if (together_.ranks > 1 || walks_ || divided_ || place_.tensor == p_.output || (slides_ && children > 1)) return;
  double left = 1;
  for (const int d : dims_) left *= node.left[d];
  const auto window = [&](const Sizes& sizes) { return extent(p_, rank_, sizes, slides_); };
  double all = 0;
  Sizes sizes = node.child;
  const auto add = [&](const auto& self, std::size_t i, double count) -> void {
    if (i == dims_.size()) {
      all += count * window(sizes);
      return;
    }
    const int d = dims_[i];
    const double full = node.child[d], before_last = std::ceil(p_.size[d] / full) - 1;
    if (before_last > 0) self(self, i + 1, count * before_last);
    sizes[d] = p_.size[d] - before_last * full;
    self(self, i + 1, count);
    sizes[d] = full;
  };
  add(add, 0, 1);
  words.delivered = std::max(words.delivered, at_least<"L5.14">(all, 0) / (left * children));
  if (spatial_between(spatial_, dim_set_, std::min(pair_.parent, level_), level_) > 1) return;
  const double parents = spatial_between(spatial_, dim_set_, level_, serving_);
  double served = all;
  for (const std::pair<int, int>& network : networks_inside_) {
    if (spatial_between(spatial_, dim_set_, network.first - 1, network.second + 1) == 1) continue;
    const Sharing s = sharing(p_, network, place_.tensor);
    if (s.partial || !unrolls_alone(spatial_, rank_, network, networks_inside_)) return;
    if (s.shared) served = words_of_rounds(spatial_, rank_, network, p_.size, node.child, window);
  }
  words.served = std::max(words.served, at_least<"L5.14">(served, 0) / (left * parents));
}

// ---- Windows ----

/// served = words of one window * different windows among the children, because equal windows are served once and
/// others each for itself. Where a network serves overlapping windows together, served >= the distinct values of all of
/// them, because every one is asked for; a second such network may find its values among those already counted.
double WindowWords::side_by_side(const Node& node, double window) const {
  double served = window;
  Sizes below = node.child;
  for (const std::pair<int, int>& network : networks_inside_) {
    const Sharing s = sharing(p_, network, place_.tensor);
    if (!s.partial)
      served *= different_windows(network, below, s.shared);
    else if (network.second == pair_.child - 1 && together_.first)
      served = extent(p_, rank_, united(node, network.first - 1, network.second + 1), true);
    for (const int d : dims_) below[d] *= units(d, network.first - 1, network.second + 1);
  }
  return at_least<"L5.6">(served, 0);
}

/// served >= distinct values of all units' windows as one, where units split the dim of the slide: the loop is outside
/// the units, not inside their windows, so what a unit keeps from before may be what its neighbour asks for. That each
/// value comes once is certain.
void WindowWords::past_neighbours(const Node& node, Words& words) const {
  if (units(place_.slide, serving_, pair_.child) == 1) return;
  const double as_one = extent(p_, rank_, united(node, serving_, pair_.child), true);
  words.served = std::min(words.served, at_least<"L5.8">(as_one, 0));
}

/// A loop outside units that split its dim moves their windows further than to the next one. Where what is added to the
/// dim's term is an interval of values, windows further apart have no fewer values together; where it has holes (a
/// dilation, a stride) they may fall into each other's.
bool WindowWords::slides_over_holes(const Node& node) const {
  if (units(place_.slide, level_, pair_.child) == 1) return false;
  const auto has_holes = [&](const Sizes& tile) {
    std::array<Stride, kMaxDims> strides;
    std::size_t n = 0;
    for (int i = 0; i < rank_.terms; ++i)
      if (rank_.dim[i] != place_.slide && tile[rank_.dim[i]] > 1)
        strides[n++] = {rank_.coefficient[i], static_cast<Count>(tile[rank_.dim[i]])};
    const std::span<const Stride> others(strides.data(), n);
    return n > 0 && distinct_values(others) < bounding_extent(others);
  };
  return has_holes(node.child) || has_holes(united(node, level_, pair_.child));
}

/// words of all units together >= distinct values of their windows as one, because each value is in one of them; by
/// unit that is the same divided by the units. Nothing more is certain of windows that fall into each other's holes.
void WindowWords::over_holes(const Node& node, Words& words) const {
  if (!slides_over_holes(node)) return;
  const double all = at_least<"L5.9">(extent(p_, rank_, united(node, level_, pair_.child), true), 0);
  words.delivered = std::min(words.delivered, all / spatial_between(spatial_, dim_set_, level_, pair_.child));
  words.served = std::min(words.served, all / spatial_between(spatial_, dim_set_, level_, serving_));
}

/// words of all iterations and units of the dim >= distinct values over the whole dim, where a slide may be divided
/// between memories: it may go on through their loops, and then every value comes once.
void WindowWords::divided_slide(const Node& node, Words& words) const {
  if (!divided_) return;
  Sizes whole = node.child;
  whole[place_.slide] = p_.size[place_.slide];
  const double share = at_least<"L5.10">(extent(p_, rank_, whole, true) / node.left[place_.slide], 0);
  words.served = std::min(words.served, share / units(place_.slide, level_, serving_));
  words.delivered = std::min(words.delivered, share / units(place_.slide, level_, pair_.child));
}

/// Windows that differ under a fanout outside the node, as a share of its units: at least so many whatever tile the
/// loops between will make, the least over all of these tiles. A network that serves overlapping windows together may
/// serve all with one. With remainders that holds where the windows of all children are full.
double WindowWords::share_beyond(const Node& node, std::pair<int, int> network) const {
  const Sharing s = sharing(p_, network, place_.tensor);
  const double units = spatial_between(spatial_, dim_set_, network.first - 1, network.second + 1);
  if (s.partial) return 1 / units;
  if (s.shared && place_.resolved.perfect)
    return fewest_windows_beyond(spatial_, rank_, network, level_, node.tile, node.left) / units;
  if (s.shared && windows_are_full(node) && unrolls_alone(spatial_, rank_, network, networks_beyond_))
    return least_share_of_windows(spatial_, rank_, network, level_, node.tile, node.left,
                                  !may_be_imperfect(place_.resolved.rules.factorization, false));
  return fewest_windows(spatial_, rank_, network, s.shared) / units;
}

/// Has every child the whole tile of the node? Fanouts further out may leave children idle, not short.
bool WindowWords::windows_are_full(const Node& node) const {
  return together_.ranks == 1 && std::ranges::all_of(dims_, [&](int d) {
           return units(d, level_, pair_.child) == 1 && node.tile[d] * node.left[d] == p_.size[d];
         });
}

// ---- Displacements ----

/// words of all iterations of all units >= values of the whole rank, because every element comes once. Timeloop's
/// memory of displacements can find reuse anywhere along a rank of two moving dims, so nothing more is certain.
double WindowWords::remembered_displacements(const Node& node) const {
  return at_least<"L5.16">(values_by_iteration(node) / spatial_between(spatial_, dim_set_, level_, pair_.child), 0);
}

/// words >= the slide's words * the iterations further out that bring whole windows, the least over the bounds that the
/// slide may have: all loops but those over its dims do, and of these RememberedSlide says which. A slide that goes on
/// as far as it can has the fewest words by iteration.
void WindowWords::follow_slide(const Node& node, Words& words) const {
  using Further = RememberedSlide::Further;
  const auto tile = static_cast<Count>(node.tile[place_.slide]);
  const auto partner = static_cast<Count>(node.tile[remembered_->partner()]);
  const double once = remembered_displacements(node);
  const Count left = remembered_->loops_left(tile);
  Words least{kInfinity, kInfinity};
  for (const Count bound : remembered_->bounds(tile)) {
    const Further further = remembered_->further(tile, partner, bound);
    Words found = slid(node, bound, further == Further::kGoesOn ? left : 1, words);
    const double returning = further == Further::kReturns ? static_cast<double>(left) : 1;
    found = {found.served / returning, found.delivered / returning};
    if (further == Further::kAny) found = {std::min(found.served, once), std::min(found.delivered, once)};
    least = {std::min(least.served, found.served), std::min(least.delivered, found.delivered)};
  }
  if (least.served == kInfinity) return;  // there is no such loop
  words = {at_least<"L5.17">(least.served, std::min(least.served, once)),
           at_least<"L5.17">(least.delivered, std::min(least.delivered, once))};
}

/// By iteration of a slide of this bound that goes on so many times. A box moves by its step or by all of itself,
/// units that split one dim have windows of their own. Elsewhere what is certain of the run.
WindowWords::Words WindowWords::slid(const Node& node, Count bound, Count further, const Words& certain) const {
  const auto times = static_cast<double>(further);
  Words words = certain;
  if (further > 1) {
    Node longer = node;
    longer.tile[place_.slide] *= times;
    longer.left[place_.slide] /= times;
    longer.child[place_.slide] *= times;
    words = of_the_run(longer, 1);
    words = {words.served / times, words.delivered / times};
  }
  if (p_.conventions.footprint != Conventions::Footprint::kBoundingBox) return words;
  Sizes child = node.child;
  child[place_.slide] /= static_cast<double>(bound);
  const double window = extent(p_, rank_, child, false);
  const auto step = static_cast<double>(remembered_->step(static_cast<Count>(node.tile[place_.slide]), bound));
  const double all = window + std::min(step, window) * (static_cast<double>(bound) * times - 1);
  words.delivered = std::max(words.delivered, all / times);
  double windows = 1;
  int spread = 0;
  for (const int d : dims_) {
    windows *= units(d, serving_, pair_.child);
    spread += units(d, serving_, pair_.child) > 1 ? 1 : 0;
  }
  const bool united = std::ranges::any_of(
      networks_inside_, [&](const auto& network) { return sharing(p_, network, place_.tensor).partial; });
  if (spread < 2 && !united) words.served = std::max(words.served, windows * all / times);
  return words;
}

// ---- All of a rank ----

/// words of all iterations of all units >= values of the whole rank, because each is needed in every iteration of the
/// other dims. Where windows are short or fall into each other's holes this says more than their shares.
void WindowWords::every_value_once(const Node& node, Words& words) const {
  const double once = at_least<"L5.15">(values_by_iteration(node), 0);
  words.served = std::max(words.served, once / spatial_between(spatial_, dim_set_, level_, serving_));
  words.delivered = std::max(words.delivered, once / spatial_between(spatial_, dim_set_, level_, pair_.child));
}

double WindowWords::values_by_iteration(const Node& node) const {
  double values = values_;
  for (const int d : dims_) values /= node.left[d];
  return values;
}

}  // namespace pliant::exact
