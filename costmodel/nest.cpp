// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "costmodel/bits.h"
#include "costmodel/displacement.h"
#include "costmodel/imperfect.h"

namespace pliant {

namespace {

/// A position no loop has: the kill of a level where nothing moves.
constexpr std::uint32_t kNoLoop = std::uint32_t{1} << 15;
static_assert(kMaxDims < 15);

/// std::floor and std::ceil of what is not negative, without a call; a double from 2^52 on is whole.
inline double round_down(double value) {
  return value < 0x1p52 ? static_cast<double>(static_cast<std::int64_t>(value)) : value;
}

inline double round_up(double value) {
  const double whole = round_down(value);
  return whole + (whole < value ? 1 : 0);
}

}  // namespace

Nest::Nest(const Problem& problem) : problem_(problem) {
  for (int l = 0; l < problem_.levels; ++l) {
    if (!problem_.is_memory[l]) continue;
    memory_[memories_++] = l;
    if_memory_[l] = ~Count{0};
  }
  all_dims_ = below(problem_.dims);
  remembers_ = problem_.conventions.halo == Conventions::Halo::kDisplacement ||
               problem_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (int x = 0; x < problem_.tensors; ++x) {
    for_each_bit(problem_.coupled[x], [&](int d) { coupled_lanes_[d][x / 4] |= std::uint64_t{1} << 16 * (x % 4); });
    for_each_bit(all_dims_ & ~problem_.coupled[x],
                 [&](int d) { uncoupled_[x][uncoupled_count_[x]++] = static_cast<std::uint8_t>(d); });
  }
  for (std::array<PerLevel, kMaxDims>* table : {&b_, &temporal_, &spatial_, &tile_})
    for (PerLevel& row : *table) row.at.fill(1);
  for (PerLevel* row : {&instances_, &read_rate_, &write_rate_}) row->at.fill(1);
  for (PerLevel& row : copied_) row.at.fill(1);
  every_link_.resize(static_cast<std::size_t>(problem_.tensors * memories_ * (memories_ + 1)));
  auto link = every_link_.begin();
  for (int x = 0; x < problem_.tensors; ++x)
    for (int parent = 0; parent < memories_; ++parent)
      for (int child = 0; child <= memories_; ++child, ++link)
        if (parent < child) *link = make_link(x, parent, child);
  for (Charge& charge : charge_) {
    charge.reads.at.fill(0);
    charge.writes.at.fill(0);
  }
  // Start from the mapping without loops, so that changes may come in any order.
  FlatMapping empty{};
  for (int l = 0; l < problem_.levels; ++l) {
    empty.bound[l].fill(1);
    for (int d = 0; d < problem_.dims; ++d) empty.order[l][d] = static_cast<std::uint8_t>(d);
    empty.keeps[l] = problem_.may_keep[l];
  }
  load(empty);
}

// ---- Changes ----

void Nest::load(const FlatMapping& mapping) {
  for (int d = 0; d < problem_.dims; ++d) {
    std::array<Count, kMaxLevels> bounds;
    for (int l = 0; l < problem_.levels; ++l) bounds[l] = mapping.bound[l][d];
    place_bounds(d, bounds.data());
  }
  refresh_steps();
  refresh_instances();
  for (int x = 0; x < problem_.tensors; ++x) {
    keepers_[x] = 0;
    ++version_[x];
    refresh_copies(x);
    refresh_moving(x);
    mark(x);
  }
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    keeps_[l] = mapping.keeps[l];
    for (int x = 0; x < problem_.tensors; ++x) keepers_[x] |= (keeps_[l] >> x & 1U) << i;
    place_loops(l, mapping.order[l].data());
  }
}

void Nest::set_bounds(int dim, const Count* bound_by_level) {
  // 1. The products; whether spatial bounds changed, and which loops appear or vanish.
  const std::uint32_t present_before = present_[dim];
  const bool spatial_changed = place_bounds(dim, bound_by_level);
  refresh_steps();
  if (spatial_changed) {
    refresh_instances();
    for_each_bit(problem_.uncoupled[dim], [&](int x) { refresh_copies(x); });
  }
  const std::uint32_t toggled = (present_[dim] ^ present_before) & ~problem_.fanouts;
  // 2. Whom it concerns. Along a simple dim every word is covered once however it is split, so its tensors only care
  //    about which loop moves them first.
  TensorSet stale = problem_.not_simple[dim];
  if (toggled != 0) {
    stale |= problem_.sliding_tensors;
    for_each_bit(toggled, [&](int l) {
      const std::uint32_t before = active_[l], bit = std::uint32_t{1} << position_[l][dim];
      active_[l] = before ^ bit;
      // The loop is the innermost that moves a coupled tensor, or was, if no coupled loop stands inside it.
      for (int x = 0; x < problem_.tensors; ++x)
        stale |= TensorSet{(before & coupled_at(static_cast<unsigned>(l), static_cast<unsigned>(x)) & (bit - 1)) == 0}
                 << x;
    });
    for_each_bit(below(problem_.tensors) & ~problem_.uncoupled[dim], [&](int x) { refresh_moving(x); });
  }
  if (remembers_) stale = ~TensorSet{0};
  for_each_bit(stale & below(problem_.tensors), [&](int x) { mark(x); });
  for_each_bit(problem_.windowed[dim], [&](int x) { ++version_[x]; });
}

void Nest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  place_loops(level, dims_outermost_first);
  // The order matters to pairs whose stationary run ends here, or whose sliding run may reach here.
  for (int x = 0; x < problem_.tensors; ++x) {
    if (problem_.sliding[x] != 0 || remembers_) {
      mark(x);
    } else if ((moving_[x] >> level & 1U) != 0) {
      const Links& links = links_[x];
      std::uint32_t ending = 0;
      for (int k = 0; k < links.count; ++k)
        ending |= std::uint32_t{links.at[k].base == static_cast<unsigned>(level)} << k;
      stale_links_[x] |= ending;
      stale_ |= TensorSet{ending != 0} << x;
    }
  }
}

void Nest::set_keeps(int level, TensorSet keeps) {
  const TensorSet changed = keeps_[level] ^ keeps;
  keeps_[level] = keeps;
  const int i = std::popcount(below(level) & ~problem_.fanouts);
  for_each_bit(changed, [&](int x) {
    const bool linked = links_[x].keepers == keepers_[x];
    keepers_[x] ^= std::uint32_t{1} << i;
    stale_ |= TensorSet{1} << x;
    if (linked) splice_keeper(x, i);
  });
}

void Nest::mark(int x) {
  stale_ |= TensorSet{1} << x;
  stale_links_[x] = ~std::uint32_t{0};
}

void Nest::place_loops(int level, const std::uint8_t* dims_outermost_first) {
  std::uint32_t active = 0;
  std::array<std::uint64_t, 2> coupled{};
  for (int i = 0, position = problem_.dims - 1; position >= 0; ++i, --position) {
    const std::uint8_t d = dims_outermost_first[i];
    dim_at_[level][position] = d;
    position_[level][d] = static_cast<std::uint8_t>(position);
    active |= (present_[d] >> level & 1U) << position;
    coupled[0] |= coupled_lanes_[d][0] << position;
    coupled[1] |= coupled_lanes_[d][1] << position;
  }
  active_[level] = active;
  coupled_at_[level] = coupled;
}

bool Nest::place_bounds(int d, const Count* bound_by_level) {
  PerLevel &b = b_[d], &temporal_row = temporal_[d], &spatial_row = spatial_[d], &tile_row = tile_[d];
  const int levels = problem_.levels;
  double temporal = 1, spatial = 1;
  std::uint32_t changed = 0, present = 0;
  for (int l = 0; l < levels; ++l) {
    temporal_row[l] = temporal;
    spatial_row[l] = spatial;
    const Count bound = bound_by_level[l];
    temporal *= static_cast<double>(1 + ((bound - 1) & if_memory_[l]));
    spatial *= static_cast<double>(1 + ((bound - 1) & ~if_memory_[l]));
    const auto value = static_cast<double>(bound);
    changed |= std::uint32_t{value != b[l]} << l;
    present |= std::uint32_t{bound > 1} << l;
    b[l] = value;
  }
  temporal_row[levels] = temporal;
  spatial_row[levels] = spatial;
  present_[d] = present;
  double tile = 1;
  for (int l = levels - 1; l >= 0; --l) {
    tile *= b[l];
    tile_row[l] = tile;
  }
  const DimSet bit = DimSet{1} << d;
  imperfect_dims_ = tile == problem_.size[d] ? imperfect_dims_ & ~bit : imperfect_dims_ | bit;
  return (changed & problem_.fanouts) != 0;
}

void Nest::refresh_moving(int x) {
  std::uint32_t levels = 0;
  for_each_bit(problem_.coupled[x], [&](int d) { levels |= present_[d]; });
  moving_[x] = levels & ~problem_.fanouts;
}

void Nest::refresh_steps() {
  const int levels = problem_.levels;
  double even = 1, odd = 1;
  for (int d = 0; d + 1 < problem_.dims; d += 2) {
    even *= temporal_[d][levels];
    odd *= temporal_[d + 1][levels];
  }
  if (problem_.dims % 2 != 0) even *= temporal_[problem_.dims - 1][levels];
  steps_ = even * odd;
}

/// Copies change only below a fanout.
void Nest::refresh_instances() {
  double copies = 1;
  for (int l = 0; l <= problem_.levels; ++l) {
    if (l > 0 && if_memory_[l - 1] == 0) {
      copies = spatial_[0][l];
      for (int d = 1; d < problem_.dims; ++d) copies *= spatial_[d][l];
    }
    instances_[l] = copies;
    read_rate_[l] = problem_.read_bandwidth[l] * copies;
    write_rate_[l] = problem_.write_bandwidth[l] * copies;
  }
}

/// With remainders the copies in use are fewer than the spatial bounds say, also at the peak.
void Nest::refresh_rates() {
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    const double copies = instances_peak(l);
    read_rate_[l] = problem_.read_bandwidth[l] * copies;
    write_rate_[l] = problem_.write_bandwidth[l] * copies;
  }
}

void Nest::refresh_copies(int x) {
  double words = problem_.simple_words[x];
  for (int l = 0; l <= problem_.levels; ++l) {
    if (l > 0 && if_memory_[l - 1] == 0) {
      words = problem_.simple_words[x];
      for (unsigned k = 0; k < uncoupled_count_[x]; ++k) words *= spatial_[uncoupled_[x][k]][l];
    }
    copied_[x][l] = words;
  }
}

// ---- One tensor ----

/// A sliding window: the kill, and consecutive loops over the same dim, fetch only what is new.
void Nest::slide(Kill& kill) const {
  kill.merged = b_[kill.dim][kill.level];
  if (problem_.conventions.halo == Conventions::Halo::kOneLoop) return;
  if ((active_[kill.level] >> kill.position >> 1) != 0) return;  // another loop stands outside it in this level
  for (int l = kill.level - 1; l >= 0; --l) {
    if (!problem_.is_memory[l]) {
      if (b_[kill.dim][l] > 1) break;  // the next window is a neighbour's: the step changes
      continue;
    }
    if (active_[l] == 0) continue;
    const int position = std::countr_zero(active_[l]);
    if (dim_at_[l][position] != kill.dim) break;
    kill.merged *= b_[kill.dim][l];
    kill.merged_to = l;
    if ((active_[l] >> position >> 1) != 0) break;
  }
}

Nest::Kill Nest::find_kill(int tensor, int parent, int child) const {
  Kill kill;
  const bool within = problem_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  const std::uint32_t levels = moving_[tensor] & below(child) & ~(within ? below(parent) : 0U);
  if (levels == 0) return kill;
  kill.level = kill.merged_to = highest(levels);
  kill.position = std::countr_zero(active_[kill.level] & coupled_at(kill.level, tensor));
  kill.dim = dim_at_[kill.level][kill.position];
  if (child != problem_.levels && (problem_.sliding[tensor] >> kill.dim & 1U) != 0) slide(kill);
  return kill;
}

inline void Nest::price_link(unsigned x, Link& link) {
  const Problem& p = problem_;
  const unsigned uncoupled = uncoupled_count_[x];
  const std::uint8_t* const dims = uncoupled_[x].data();
  // 1. The kill: the loop that ends the run of loops that leave the child's tile in place. Loops outside it count.
  std::uint32_t kill_levels = link.kill_levels, kill_floor = link.kill_floor;
  double repeats = 1;
  if (link.may_reuse) [[unlikely]] {
    if ((moving_[x] >> p.innermost_memory & 1U) != 0) {
      kill_levels = 0;
      kill_floor = std::uint32_t{1} << p.levels;
    } else {
      for (unsigned k = 0; k < uncoupled; ++k) repeats *= b_[dims[k]][p.innermost_memory];
    }
  }
  const auto base = static_cast<unsigned>(highest((moving_[x] & kill_levels) | kill_floor));
  const auto position = static_cast<unsigned>(std::countr_zero((active_[base] & coupled_at(base, x)) | kNoLoop));
  link.base = base;
  // 2. repeats = iterations of uncoupled dims outside the kill; copies = their instances outside parent and child.
  for (unsigned k = 0; k < uncoupled; ++k) {
    const unsigned d = dims[k];
    repeats *= temporal_[d][base + unsigned{position_[base][d] > position}];
  }
  double served = copied_[x][link.parent], delivered = copied_[x][link.child];
  const double parent_copies = served;
  // 3. Copies of an uncoupled dim under fanouts share one word of the parent, unless the network cannot.
  double unshared = 1;
  if (link.unshared != 0) {
    for (unsigned k = 0; k < uncoupled; ++k) for_each_bit(link.unshared, [&](int l) { unshared *= b_[dims[k]][l]; });
    served *= unshared;
  }
  // 4. Along plain coupled dims every word is covered once, along affine ones windows overlap:
  //    served = simple words * copies of the parent * windows * repeats; delivered alike with copies of the child.
  if (p.affine_dims[x] != 0) {
    Kill kill;
    if ((moving_[x] & kill_levels) != 0) {
      kill.level = kill.merged_to = static_cast<int>(base);
      kill.position = static_cast<int>(position);
      kill.dim = dim_at_[base][position];
      if (link.child != static_cast<unsigned>(p.levels) && (p.sliding[x] >> kill.dim & 1U) != 0) slide(kill);
    }
    Windows& windows = windows_[x][link.child_memory];
    if (windows.version != version_[x] || windows.kill_level != kill.level || windows.kill_dim != kill.dim ||
        windows.merged != kill.merged || windows.parent != link.words.parent) {
      window_words(windows, link, kill);
      windows.version = version_[x];
      windows.kill_level = kill.level;
      windows.kill_dim = kill.dim;
      windows.merged = kill.merged;
      windows.parent = link.words.parent;
    }
    served *= windows.served;
    delivered *= windows.delivered;
  }
  Traffic& words = link.words;
  words.served = served * repeats;
  words.delivered = delivered * repeats;
  if (remembers_ && words.child != p.levels && p.affine_dims[x] != 0) price_displaced(words, unshared);
  // 5. Outputs: the first arrival of a word is a plain write.
  if (x != static_cast<unsigned>(p.output)) return;
  const bool per_sweep = p.conventions.first_time == Conventions::FirstTime::kPerSweep;
  words.first_parent = per_sweep ? served : parent_copies;
  words.first_child = delivered;
  if (p.affine_dims[x] == 0) return;
  if (!per_sweep) {
    words.first_parent = first_words(words.parent);
    words.first_child = words.child == p.levels ? 0 : first_words(words.child);
  }
  // Boxes have holes, and a convention may let windows count for less than they hold.
  words.first_parent = std::min(words.first_parent, words.served);
  words.first_child = std::min(words.first_child, words.delivered);
}

/// Timeloop: where several loops move the window, its memory of the last displacement decides.
void Nest::price_displaced(Traffic& words, double unshared) const {
  const Problem& p = problem_;
  const int x = words.tensor, parent = words.parent, child = words.child;
  const DisplacementWalk walk(*this);
  if (!walk.needed(x, child)) return;
  const std::uint32_t fanouts = p.fanouts & below(child) & ~below(parent), may_unite = united_fanouts(x, fanouts);
  words.delivered = walk.words(x, child);
  words.served = std::numeric_limits<double>::infinity();
  for_each_subset(may_unite, [&](std::uint32_t united) {
    double served = united != 0 ? walk.words(x, child, united) : words.delivered;
    for (const Problem::AffineRank& rank : p.windows[x]) served *= distinct_windows(rank, x, fanouts, united);
    words.served = std::min(words.served, served);
  });
  words.served *= unshared;
  for (int d = 0; d < p.dims; ++d) {
    words.served *= spatial_[d][p.simple[x] >> d & 1U ? child : parent];
    words.delivered *= spatial_[d][child];
  }
}

void Nest::price_tensor(int x) {
  Links& links = links_[x];
  if (links.keepers != keepers_[x]) {
    link_tensor(x);
    stale_links_[x] = ~std::uint32_t{0};
  }
  const std::uint32_t stale = stale_links_[x];
  for (int k = 0; k < links.count; ++k) {
    if (!(stale >> k & 1U)) continue;
    if (imperfect_dims_ == 0) [[likely]] {
      price_link(static_cast<unsigned>(x), links.at[k]);
    } else {
      ImperfectTraffic(*this).price(links.at[k].words);
    }
  }
  stale_links_[x] = 0;
  charge_tensor(x);
}

/// Energy of a tensor's words, and its words at the ports of every level.
void Nest::charge_tensor(int x) {
  const Problem& p = problem_;
  const Links& links = links_[x];
  Charge& charge = charge_[x];
  double energy = 0;
  if (x != p.output) {
    for (int k = 0; k < links.count; ++k) {
      const Link& link = links.at[k];
      energy += link.words.served * link.served_pj + link.words.delivered * link.delivered_pj;
      charge.reads[link.parent] = link.words.served;
      charge.writes[link.child] = link.words.delivered;
    }
    charge.energy_pj = energy;
    return;
  }
  double fills = 0, drains = 0;  // at the child of the pair outside
  for (int k = 0; k < links.count; ++k) {
    const Link& link = links.at[k];
    const Traffic& words = link.words;
    const double read_back = words.served - words.first_parent;
    charge.reads[link.parent] = read_back + drains;
    charge.writes[link.parent] = words.served + fills;
    energy += read_back * link.read_back_pj + words.served * link.served_pj;
    if (words.child == p.levels) break;
    switch (p.conventions.drain) {
      case Conventions::Drain::kCounted: drains = words.delivered; break;
      case Conventions::Drain::kFree: drains = 0; break;
      case Conventions::Drain::kParentWrites: drains = (words.served + fills) * (words.delivered / words.served); break;
    }
    fills = words.delivered - words.first_child;
    energy += fills * link.delivered_pj + drains * link.drain_pj;
  }
  charge.energy_pj = energy;
}

// ---- The whole machine ----

std::span<const Traffic> Nest::traffic() const {
  std::size_t n = 0;
  for (int x = 0; x < problem_.tensors; ++x)
    for (int k = 0; k < links_[x].count; ++k) {
      traffic_[n] = links_[x].at[k].words;
      if (traffic_[n].child == problem_.levels) traffic_[n].first_child = 0;
      ++n;
    }
  return {traffic_.data(), n};
}

double Nest::steps() const {
  if (imperfect_dims_ == 0) return problem_.cycles_per_mac * steps_;
  double steps = problem_.cycles_per_mac;
  for (int d = 0; d < problem_.dims; ++d)
    steps *= imperfect_dims_ >> d & 1U ? ImperfectTraffic(*this).steps(d) : temporal_[d][problem_.levels];
  return steps;
}

double Nest::instances_peak(int level) const {
  if (imperfect_dims_ == 0) return instances_[level];
  double copies = 1;
  for (int d = 0; d < problem_.dims; ++d)
    copies *= imperfect_dims_ >> d & 1U ? ImperfectTraffic(*this).widest(d, level) : spatial_[d][level];
  return copies;
}

double Nest::instances_average(int level) const {
  double copies = 1;
  for (int d = 0; d < problem_.dims; ++d)
    copies *= imperfect_dims_ >> d & 1U ? ImperfectTraffic(*this).average_width(d, level) : spatial_[d][level];
  return copies;
}

/// Cycles of a port as Timeloop rounds them: the steps over the part of the demand that the port can meet. Where the
/// steps are no whole number, a port that keeps up may still need the whole cycle that they end in.
double Nest::demand_time(double demand, double bandwidth, double steps) const {
  if (demand == 0) return 0;
  if (demand > bandwidth) return std::ceil(steps / (bandwidth / demand));
  return demand * steps > std::floor(steps) * bandwidth ? std::ceil(steps) : 0;
}

/// Raises cycles to the longest time of a port as Timeloop rounds it.
void Nest::wait_for_demands(Totals& totals) const {
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    const double instances = instances_peak(l);
    double read_demand = 0, write_demand = 0;
    for (int x = 0; x < problem_.tensors; ++x) {
      read_demand += charge_[x].reads[l] / instances / totals.steps;
      write_demand += charge_[x].writes[l] / instances / totals.steps;
    }
    const double read_time = demand_time(read_demand, problem_.read_bandwidth[l], totals.steps);
    const double write_time = demand_time(write_demand, problem_.write_bandwidth[l], totals.steps);
    if (read_time > totals.cycles) {
      totals.cycles = read_time;
      totals.bound = {l, false};
    }
    if (write_time > totals.cycles) {
      totals.cycles = write_time;
      totals.bound = {l, true};
    }
  }
}

/// Raises cycles to the longest time of a port, words / (bandwidth * instances) rounded up. Ports take whole cycles, so
/// only those count that move more than they can in the whole cycles of the steps.
void Nest::wait_for_ports(Totals& totals) const {
  const double whole = round_down(totals.steps);
  double longest = 0;
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    double reads = charge_[0].reads[l], writes = charge_[0].writes[l];
    for (int x = 1; x < problem_.tensors; ++x) {
      reads += charge_[x].reads[l];
      writes += charge_[x].writes[l];
    }
    if (reads > whole * read_rate_[l] && reads > longest * read_rate_[l]) {
      longest = reads / read_rate_[l];
      totals.bound = {l, false};
    }
    if (writes > whole * write_rate_[l] && writes > longest * write_rate_[l]) {
      longest = writes / write_rate_[l];
      totals.bound = {l, true};
    }
  }
  // Rounded first: steps that are no whole number may end within the last cycle of a port.
  if (const double cycles = round_up(longest); cycles > totals.cycles) {
    totals.cycles = cycles;
  } else {
    totals.bound = {};
  }
}

Totals Nest::price() {
  const Problem& p = problem_;
  // 1. Words and charges of the tensors that a change has touched.
  const bool imperfect = imperfect_dims_ != 0;
  if (imperfect || priced_imperfect_) [[unlikely]] {
    for (int x = 0; x < p.tensors; ++x) mark(x);
    refresh_rates();
    priced_imperfect_ = imperfect;
  }
  for_each_bit(stale_, [&](int x) { price_tensor(x); });
  stale_ = 0;
  // 2. Time.
  Totals totals;
  totals.steps = totals.cycles = steps();
  if (p.conventions.stall_rounding == Conventions::StallRounding::kExact) [[likely]] {
    wait_for_ports(totals);
  } else {
    wait_for_demands(totals);
  }
  // 3. Energy.
  double energy = p.macs * p.mac_pj;
  for (int x = 0; x < p.tensors; ++x) energy += charge_[x].energy_pj;
  totals.energy_pj = energy + p.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = p.busy_cycles / totals.cycles;
  return totals;
}

}  // namespace pliant
