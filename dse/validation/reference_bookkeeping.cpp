// SPDX-License-Identifier: Apache-2.0
#include "dse/validation/reference_bookkeeping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace pliant {

namespace {

constexpr int kMaxRanks = 2 * kMaxDims;
using Point = std::array<Count, kMaxRanks>;
constexpr double kLongestWalk = 1e5;

double round_half_up(double value) { return std::floor(value + 0.5); }

/// Extent of a dim below loop `first`: with full bounds, or of the last iteration.
Count full_extent(const ReferenceNest& nest, std::size_t first, int dim) {
  Count extent = 1;
  for (std::size_t i = first; i < nest.loops.size(); ++i)
    if (nest.loops[i].dim == dim) extent *= nest.loops[i].bound;
  return extent;
}

Count last_extent(const ReferenceNest& nest, std::size_t first, int dim) {
  Count c = 0;
  for (std::size_t i = first; i < nest.loops.size(); ++i)
    if (nest.loops[i].dim == dim) c = c * nest.loops[i].bound + nest.loops[i].residual - 1;
  return c + 1;
}

std::size_t first_loop_of(const ReferenceNest& nest, int memory) {
  std::size_t i = 0;
  while (i < nest.loops.size() && nest.loops[i].memory < memory) ++i;
  return i;
}

/// Words of a tensor's bounding box below loop `first`, of the largest tile that occurs there.
double box_words(const ReferenceNest& nest, const Tensor& tensor, std::size_t first) {
  double words = 1;
  for (const Rank& rank : tensor.ranks) {
    Count extent = 1;
    for (const Term& term : rank.terms) {
      const bool only_once = std::none_of(nest.loops.begin(), nest.loops.begin() + static_cast<std::ptrdiff_t>(first),
                                          [&](const ReferenceLoop& loop) { return loop.dim == term.dim; });
      const Count tile = only_once ? last_extent(nest, first, term.dim) : full_extent(nest, first, term.dim);
      extent += term.coefficient * (tile - 1);
    }
    words *= static_cast<double>(extent);
  }
  return words;
}

/// Words of one tensor from a memory to the next one in (child == number of memories: the compute units).
struct Words {
  double served = 0;      ///< read from instance 0 of the parent
  double delivered = 0;   ///< to all active children together
  double to_zero = 0;     ///< to child 0
  double everywhere = 0;  ///< to all active instances of the child in the machine
};

class PairWalk {
 public:
  PairWalk(const ReferenceNest& nest, int child, const Tensor& tensor, Habit repaired)
      : nest_(nest), tensor_(tensor), child_(child), repaired_(repaired), inside_(first_loop_of(nest, child)) {
    to_compute_ = child == static_cast<int>(nest.keeps.size());
    for (std::size_t i = 0; i < inside_; ++i) {
      const ReferenceLoop& loop = nest.loops[i];
      (loop.spatial && loop.memory == child - 1 ? siblings_ : outside_).push_back(i);
      stride_.push_back(full_extent(nest, i + 1, loop.dim));
      if (loop.spatial) continue;
      steps_ *= static_cast<double>(loop.bound);
      if (moved(loop.dim, 1) != Point{}) kill_ = i;
    }
    for (std::size_t d = 0; d < nest.layer->dims.size(); ++d) {
      full_[d] = full_extent(nest, inside_, static_cast<int>(d));
      last_[d] = last_extent(nest, inside_, static_cast<int>(d));
    }
  }

  Words run() {
    walk(0, 1, 1, Point{}, ~DimSet{0});
    return words_;
  }

 private:
  Point moved(int dim, Count by) const {
    Point point{};
    for (std::size_t r = 0; r < tensor_.ranks.size(); ++r)
      for (const Term& term : tensor_.ranks[r].terms)
        if (term.dim == dim) point[r] += term.coefficient * by;
    return point;
  }

  /// `copies` of the parent are active; `last` has the dims all of whose loops so far stand at their last iteration.
  void walk(std::size_t k, double weight, double copies, const Point& at, DimSet last) {
    if (k == outside_.size()) {
      step(weight, copies, at, last);
      return;
    }
    const std::size_t i = outside_[k];
    const ReferenceLoop& loop = nest_.loops[i];
    const DimSet bit = DimSet{1} << loop.dim;
    const Count n = (last & bit) != 0 ? loop.residual : loop.bound;
    if (loop.spatial) {  // instance 0: the last one only when it is alone
      walk(k + 1, weight, copies * static_cast<double>(n), at, n > 1 ? last & ~bit : last);
      return;
    }
    const auto visit = [&](Count iteration, double times) {
      if (iteration > 0) advanced_ = std::min(advanced_, i);
      Point there = at;
      const Point step = moved(loop.dim, iteration * stride_[i]);
      for (std::size_t r = 0; r < tensor_.ranks.size(); ++r) there[r] += step[r];
      walk(k + 1, weight * times, copies, there, iteration == n - 1 ? last : last & ~bit);
    };
    visit(0, 1);
    if (n == 1) return;
    if (repaired_ == Habit::kTwoIterations && steps_ <= kLongestWalk) {
      for (Count iteration = 1; iteration < n; ++iteration) visit(iteration, 1);
      return;
    }
    const bool separate =
        std::any_of(nest_.loops.begin() + static_cast<std::ptrdiff_t>(i) + 1, nest_.loops.end(),
                    [&](const ReferenceLoop& inner) { return inner.dim == loop.dim && inner.bound != inner.residual; });
    const bool just_outside = !to_compute_ && i + 1 == inside_ && loop.memory == child_ - 1;
    if (!separate) {
      visit(1, static_cast<double>(n - 1));
    } else if (just_outside && repaired_ != Habit::kUnseenLast) {
      visit(1, static_cast<double>(n - 1));
      if (n > 2) visit(n - 1, 0);  // moves the state, counts nothing
    } else {
      if (n > 2) visit(1, static_cast<double>(n - 2));
      visit(n - 1, 1);
    }
  }

  void step(double weight, double copies, const Point& at, DimSet last) {
    // 1. Which children are active, and how many different displacements they have.
    std::uint64_t shortened = 0;
    for (std::size_t s = 0; s < siblings_.size(); ++s) {
      const ReferenceLoop& loop = nest_.loops[siblings_[s]];
      const DimSet bit = DimSet{1} << loop.dim;
      const bool is_last = (last & bit) != 0;
      if (is_last) shortened |= std::uint64_t{1} << s;
      if ((is_last ? loop.residual : loop.bound) > 1) last &= ~bit;
    }
    auto [active, added] = active_.try_emplace(shortened);
    if (added) active->second = count_children(shortened);
    // 2. The new words of child 0.
    const double delta = to_compute_ ? 1 : new_words(at, last);
    words_.served += weight * delta * active->second.displacements;
    words_.delivered += weight * delta * active->second.children;
    words_.to_zero += weight * delta;
    words_.everywhere += weight * delta * copies * active->second.children;
    advanced_ = inside_;
  }

  struct Children {
    double children = 1, displacements = 1;
  };

  Children count_children(std::uint64_t shortened) const {
    Children result;
    std::set<Point> seen{Point{}};
    for (std::size_t s = 0; s < siblings_.size(); ++s) {
      const ReferenceLoop& loop = nest_.loops[siblings_[s]];
      const Count width = (shortened >> s & 1U) != 0 ? loop.residual : loop.bound;
      result.children *= static_cast<double>(width);
      const Point by = moved(loop.dim, stride_[siblings_[s]]);
      if (by == Point{}) continue;
      std::set<Point> next;
      for (Point point : seen)
        for (Count k = 0; k < width; ++k) {
          next.insert(point);
          for (std::size_t r = 0; r < tensor_.ranks.size(); ++r) point[r] += by[r];
        }
      seen.swap(next);
    }
    result.displacements = static_cast<double>(seen.size());
    return result;
  }

  double new_words(const Point& low, DimSet last) {
    Point high = low;
    double tile = 1;
    const std::size_t ranks = tensor_.ranks.size();
    for (std::size_t r = 0; r < ranks; ++r) {
      for (const Term& term : tensor_.ranks[r].terms)
        high[r] += term.coefficient * (((last >> term.dim & 1U) != 0 ? last_ : full_)[term.dim] - 1);
      tile *= static_cast<double>(++high[r] - low[r]);
    }
    double delta = tile;
    if (held_) {
      Point by{};
      for (std::size_t r = 0; r < ranks; ++r) by[r] = low[r] - held_->first[r];
      if (by == Point{}) {
        if (repaired_ != Habit::kSameTile || advanced_ > kill_) delta = 0;
      } else if (!remembered_ || *remembered_ == by) {
        delta = tile - overlap(low, high, tile);
        remembered_ = by;
      } else {
        remembered_.reset();
      }
    }
    held_ = {low, high};
    return delta;
  }

  /// Recognised only when the two boxes differ along exactly one rank.
  double overlap(const Point& low, const Point& high, double tile) const {
    int differs = -1;
    for (int r = 0; r < static_cast<int>(tensor_.ranks.size()); ++r) {
      if (low[r] == held_->first[r] && high[r] == held_->second[r]) continue;
      if (differs >= 0) return 0;
      differs = r;
    }
    const Count shared =
        std::min(high[differs], held_->second[differs]) - std::max(low[differs], held_->first[differs]);
    return tile / static_cast<double>(high[differs] - low[differs]) * static_cast<double>(std::max<Count>(0, shared));
  }

  const ReferenceNest& nest_;
  const Tensor& tensor_;
  const int child_;
  const Habit repaired_;
  const std::size_t inside_;  // first loop of the child
  bool to_compute_ = false;
  std::size_t kill_ = 0;      // innermost temporal loop that moves the tile
  std::size_t advanced_ = 0;  // outermost loop that advanced since the last step
  double steps_ = 1;
  std::vector<std::size_t> outside_, siblings_;
  std::vector<Count> stride_;
  std::array<Count, kMaxDims> full_{}, last_{};
  std::map<std::uint64_t, Children> active_;
  std::optional<std::pair<Point, Point>> held_;
  std::optional<Point> remembered_;
  Words words_;
};

/// Copies of a memory that spatial loops over these dims make: on average over the run, and at most.
std::pair<double, double> instances_of(const ReferenceNest& nest, int memory, DimSet dims = ~DimSet{0}) {
  double average = 1, most = 1;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const ReferenceLoop& loop = nest.loops[i];
    if (!loop.spatial || loop.memory >= memory || (dims >> loop.dim & 1U) == 0) continue;
    Count c = 0;
    for (std::size_t j = 0; j < i; ++j)
      if (nest.loops[j].dim == loop.dim) c = c * nest.loops[j].bound + nest.loops[j].residual - 1;
    const auto rounds = static_cast<double>(c + 1);
    average *= (static_cast<double>(loop.residual) + static_cast<double>(loop.bound) * (rounds - 1)) / rounds;
    most *= static_cast<double>(loop.bound);
  }
  return {average, most};
}

}  // namespace

std::string_view describe(Habit habit) {
  switch (habit) {
    case Habit::kNone: return "only instance 0 is followed and stands for all, counts are rounded per instance";
    case Habit::kUnseenLast: return "tiles of the last iteration are counted in full (padded)";
    case Habit::kTwoIterations: return "windows are followed through two iterations of each loop";
    case Habit::kSameTile: return "a tile that happens to be the old one is not fetched again (our control is static)";
    case Habit::kAveragedFills:
      return "fills are averaged over the full fanout, then multiplied by the average instances";
    case Habit::kAveragedBypass: return "requests through a bypassed memory are scaled by averaged fills";
    case Habit::kPartition: return "first arrivals of outputs are a rounded quotient of bounding boxes";
    case Habit::kTemporalBounds: return "cycles are the product of temporal bounds, whatever the remainders";
  }
  return "";
}

namespace {

/// Puts the numbers of one nest together, tensor by tensor, then cycles and energy.
class Bookkeeping {
 public:
  Bookkeeping(const ReferenceNest& nest, Habit repaired)
      : nest_(nest),
        layer_(*nest.layer),
        repaired_(repaired),
        memories_(static_cast<int>(nest.keeps.size())),
        tensors_(static_cast<int>(layer_.tensors.size())) {}

  Prediction run() {
    result_.counts.assign(memories_, std::vector<ReferenceCounts>(tensors_));
    result_.level_energy_pj.assign(memories_, 0);
    for (int x = 0; x < tensors_; ++x) count_tensor(x);
    result_.compute_cycles = compute_cycles();
    result_.cycles = result_.compute_cycles;
    const Compute& compute = nest_.accelerator->levels.back().compute();
    result_.compute_energy_pj = result_.computes * compute.mac_pj;
    result_.energy_pj = result_.compute_energy_pj;
    for (int m = 0; m < memories_; ++m) charge_memory(m);
    result_.utilization = result_.computes / static_cast<double>(nest_.accelerator->macs_units()) / result_.cycles;
    return result_;
  }

 private:
  /// Words of one tensor by memory; served is asked of it, the others arrive at it.
  struct Requests {
    std::vector<double> served, delivered, to_zero, to_each;
  };

  /// Every pair of adjacent memories as if nothing were bypassed; then a bypassed memory's requests go to the memory
  /// outside it.
  Requests requests_of(int x) {
    const auto zeros = std::vector<double>(static_cast<std::size_t>(memories_), 0);
    Requests requests{zeros, zeros, zeros, zeros};
    for (int child = 1; child <= memories_; ++child) {
      const Words words = PairWalk(nest_, child, layer_.tensors[x], repaired_).run();
      requests.served[child - 1] = words.served;
      if (child == memories_) {
        result_.computes = words.delivered * instances_of(nest_, memories_ - 1).first;
        continue;
      }
      double fanout = 1;
      for (const ReferenceLoop& loop : nest_.loops)
        if (loop.spatial && loop.memory == child - 1) fanout *= static_cast<double>(loop.bound);
      requests.delivered[child] = words.delivered / fanout;
      requests.to_zero[child] = words.to_zero;
      requests.to_each[child] = words.everywhere / instances_of(nest_, child).first;
    }
    const std::vector<double>& arriving = repaired_ == Habit::kAveragedBypass ? requests.to_zero : requests.delivered;
    for (int b = memories_ - 1; b > 0; --b)
      if ((nest_.keeps[b] >> x & 1U) == 0) requests.served[b - 1] *= requests.served[b] / arriving[b];
    return requests;
  }

  /// The share of the tensor that one instance of each memory is responsible for.
  std::vector<double> shares_of(int x) const {
    const Tensor& tensor = layer_.tensors[x];
    std::vector<double> share(static_cast<std::size_t>(memories_), 1);
    for (const Rank& rank : tensor.ranks) {
      Count extent = 1;
      for (const Term& term : rank.terms) extent += term.coefficient * (layer_.dims[term.dim].size - 1);
      share[0] *= static_cast<double>(extent);
    }
    for (int m = 1; m < memories_; ++m) {
      const std::size_t inside = first_loop_of(nest_, m);
      std::size_t outside = inside;
      while (outside > 0 && nest_.loops[outside - 1].spatial && nest_.loops[outside - 1].memory == m - 1) --outside;
      share[m] = share[m - 1];
      if (outside == inside) continue;
      share[m] = share[m] * box_words(nest_, tensor, inside) / box_words(nest_, tensor, outside);
      share[m] = std::floor(share[m]);
    }
    if (repaired_ == Habit::kPartition)
      for (int m = 1; m < memories_; ++m)
        share[m] = share[0] * instances_of(nest_, m, ~layer_.coupled(x)).second / instances_of(nest_, m).first;
    return share;
  }

  void count_tensor(int x) {
    const Tensor& tensor = layer_.tensors[x];
    const Requests requests = requests_of(x);
    const std::vector<double> share = shares_of(x);
    bool outermost = true;
    for (int m = 0; m < memories_; ++m) {
      if ((nest_.keeps[m] >> x & 1U) == 0) continue;
      ReferenceCounts& counts = result_.counts[m][x];
      std::tie(counts.instances, counts.instances_max) = instances_of(nest_, m);
      counts.tile_words = box_words(nest_, tensor, first_loop_of(nest_, m));
      const double arriving =
          outermost ? 0 : (repaired_ == Habit::kAveragedFills ? requests.to_each : requests.delivered)[m];
      if (tensor.is_output()) {
        counts.reads = std::max(0.0, round_half_up(requests.served[m] - share[m]));
        counts.fills = outermost ? 0 : std::max(0.0, round_half_up(arriving - share[m]));
        counts.updates = round_half_up(requests.served[m]);
      } else {
        counts.reads = round_half_up(requests.served[m]);
        counts.fills = std::floor(arriving + 1e-9);
      }
      outermost = false;
    }
  }

  double compute_cycles() const {
    double cycles = 1;
    if (repaired_ != Habit::kTemporalBounds) {
      for (const ReferenceLoop& loop : nest_.loops)
        if (!loop.spatial) cycles *= static_cast<double>(loop.bound);
      return cycles;
    }
    for (int d = 0; d < static_cast<int>(layer_.dims.size()); ++d) {
      Count c = 0;
      for (const ReferenceLoop& loop : nest_.loops)
        if (loop.dim == d && !loop.spatial) c = c * loop.bound + loop.residual - 1;
      cycles *= static_cast<double>(c + 1);
    }
    return cycles;
  }

  /// Energy of a memory, and what its ports add to the cycles.
  void charge_memory(int m) {
    const Memory& memory = nest_.accelerator->levels[nest_.levels[m]].memory();
    double read_demand = 0, write_demand = 0;
    std::array<double, kRoles> reads_of{}, writes_of{};  // ports of one role serve its tensors alone
    for (int x = 0; x < tensors_; ++x) {
      if ((nest_.keeps[m] >> x & 1U) == 0) continue;
      const ReferenceCounts& counts = result_.counts[m][x];
      const double active = counts.instances / counts.instances_max;
      const auto scaled = [active](double words) { return active == 1 ? words : std::ceil(words * active); };
      const double read = scaled(counts.reads) / result_.compute_cycles;
      const double written = (scaled(counts.fills) + scaled(counts.updates)) / result_.compute_cycles;
      const auto role = static_cast<std::size_t>(layer_.tensors[static_cast<std::size_t>(x)].role);
      read_demand += read;
      write_demand += written;
      reads_of[role] += read;
      writes_of[role] += written;
      result_.level_energy_pj[m] += counts.instances * (counts.reads * memory.read_pj + counts.fills * memory.write_pj +
                                                        counts.updates * memory.update_pj);
    }
    double slowdown = 1;
    const auto limit = [&](const std::optional<double>& words_per_cycle, double demand) {
      if (words_per_cycle && demand > *words_per_cycle) slowdown = std::min(slowdown, *words_per_cycle / demand);
    };
    limit(memory.read_words_per_cycle, read_demand);
    limit(memory.write_words_per_cycle, write_demand);
    limit(memory.bus_words_per_cycle, read_demand + write_demand);
    for (std::size_t r = 0; r < kRoles; ++r) {
      limit(memory.bandwidth_of[r].read, reads_of[r]);
      limit(memory.bandwidth_of[r].write, writes_of[r]);
      limit(memory.bandwidth_of[r].bus, reads_of[r] + writes_of[r]);
    }
    result_.cycles = std::max(result_.cycles, std::ceil(result_.compute_cycles / slowdown));
    result_.energy_pj += result_.level_energy_pj[m];
  }

  const ReferenceNest& nest_;
  const Layer& layer_;
  const Habit repaired_;
  const int memories_, tensors_;
  Prediction result_;
};

}  // namespace

Prediction predict_reference(const ReferenceNest& nest, Habit repaired) { return Bookkeeping(nest, repaired).run(); }

}  // namespace pliant
