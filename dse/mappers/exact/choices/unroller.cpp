// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/unroller.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

namespace {

/// The unrollings of one fanout may take one part in so many of a list's memory: more could not be looked through in
/// time.
constexpr double kShareOfMemory = 2;

/// Time and memory are looked at every so many unrollings.
constexpr std::size_t kLookEvery = 1024;

/// From so many on, what they cost at least decides which unrollings are listed.
constexpr std::size_t kMany = 32'768;

/// So many factors are looked at then; time is looked at every so many.
constexpr std::uint64_t kMostLooks = 20'000'000, kLooksBetween = 1'024;

/// The fewest iterations at which a bound over rows and one over columns can stand: none exceeds what it finds, and the
/// rows find ceil(left / cols).
Count fewest_to_stand(Count rows, Count cols) { return rows > 1 && cols > 1 ? (rows - 1) * cols + 1 : rows * cols; }

/// The fewest iterations at which they are worth it: with a row or a column less there would be units for fewer of
/// them, or more rounds. 0: they never are.
Count fewest_to_be_worth(const DimBounds& dim, Count rows, Count cols) {
  const Count least = fewest_to_stand(rows, cols), units = rows * cols;
  if (dim.finds.empty()) return least;
  for (auto n = std::ranges::lower_bound(dim.finds, least); n != dim.finds.end(); ++n) {
    const auto does_as_well = [&](Count fewer) {
      return dim.smallest_only ? ceil_div(*n, fewer) == ceil_div(*n, units) : fewer >= *n;
    };
    if (rows > 1 && does_as_well((rows - 1) * cols)) continue;
    if (cols > 1 && does_as_well(rows * (cols - 1))) continue;
    return *n;
  }
  return 0;
}

}  // namespace

double keep_least(std::vector<double>& by, std::size_t most, const std::function<void(std::size_t)>& keep,
                  const std::function<void(std::size_t)>& goes) {
  std::vector<double> sorted = by;
  const auto border = sorted.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(sorted.begin(), border, sorted.end());
  const double least = *border;
  // Of those that have just as much as the least that goes, the first ones.
  auto equal = std::count(sorted.begin(), border, least);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (by[i] > least || (by[i] == least && equal-- <= 0)) {
      if (goes) goes(i);
      continue;
    }
    keep(i);
    by[kept++] = by[i];
  }
  by.resize(kept);
  return least;
}

Unroller::Unroller(const Task& task, const FanoutRules& fanout, const std::vector<DimBounds>& bounds,
                   SearchLimits& limits, double most_steps, std::optional<Mirror> mirror, std::optional<BatchDim> batch)
    : task_(task),
      fanout_(fanout),
      bounds_(bounds),
      limits_(limits),
      dims_(static_cast<int>(task.layer.dims.size())),
      most_(std::min(fanout.max_dims_per_side, dims_)),
      imperfect_(task.factorization != Factorization::kPerfect),
      needs_differ_(task.factorization == Factorization::kRubyS || task.factorization == Factorization::kRuby),
      mirror_(mirror),
      batch_(batch),
      most_steps_(most_steps) {
  int at = 0;
  for (int d = 0; d < dims_; ++d)
    if (!batch_ || d != batch_->dim) order_[at++] = d;
  if (batch_) order_[at] = batch_->dim;
}

void Unroller::leave_out(FloorOfFactors& floors, int level, double enough) {
  level_ = level;
  floors_ = &floors;
  enough_ = enough;
}

void Unroller::begin_with_floors() {
  begin_again_ = false;
  by_floors_ = true;
  found_.clear();
  steps_.clear();
  slow_ = std::numeric_limits<double>::infinity();
  floors_->begin(level_, std::span(order_).first(static_cast<std::size_t>(dims_)));
  choose(0, 0, 1, 1);
  limits_.effort += looked_ * effort::kBranch;
}

std::vector<Unrolling> Unroller::run() {
  list_splits();
  to_come_[static_cast<std::size_t>(dims_)] = 1;
  for (int at = dims_ - 1; at >= 0; --at)
    to_come_[at] = to_come_[at + 1] * static_cast<double>(task_.layer.dims[order_[at]].size);
  for (const FanoutRules::Sides& sides : fanout_.assignments) {
    Layout& empty = layouts_.emplace_back();
    empty.at.rows.fill(1);
    empty.at.cols.fill(1);
    empty.sides = &sides;
    empty.most_cols = fanout_.columns_beside(1);
    // With perfect factors and any shape, whatever stands on both sides could stand on one.
    empty.one_side = !imperfect_ && fanout_.any_shape() && most_ == dims_ && (sides.rows & ~sides.cols) == 0;
  }
  choose(0, 0, 1, 1);
  if (begin_again_) begin_with_floors();
  return std::move(found_);
}

void Unroller::list_splits() {
  for (int d = 0; d < dims_; ++d) {
    const Count size = task_.layer.dims[d].size, rows = fanout_.longest(Side::kRows), cols = fanout_.columns_beside(1);
    const bool over_rows = fanout_.may_run_over(Side::kRows, d), over_cols = fanout_.may_run_over(Side::kCols, d);
    std::vector<Split>& all = splits_[static_cast<std::size_t>(d)];
    all.push_back({1, 1, 1});
    const DimBounds& dim = bounds_[static_cast<std::size_t>(d)];
    for (const Count r : dim.values) {
      if (r > rows || (r > 1 && !over_rows)) break;
      for (const Count c : dim.values) {
        if (c > cols || (c > 1 && !over_cols)) break;
        if (r * c == 1 || r * c > fanout_.units()) continue;
        // Both loops of a dim at one fanout act as one; the columns are inside. With remainders a factor need not
        // divide the whole dim; the chains judge what it must divide.
        if (imperfect_ ? ceil_div(size, c) < r : size % (r * c) != 0) continue;
        Split split{static_cast<std::int32_t>(r * c), static_cast<std::int32_t>(r), static_cast<std::int32_t>(c)};
        if (needs_differ_) {
          split.stands_at = fewest_to_stand(r, c);
          split.worth_at = fewest_to_be_worth(dim, r, c);
          if (sure<"L9.2">(split.worth_at == 0)) continue;
          if (!dim.finds.empty()) split.factor = static_cast<std::int32_t>(std::min(r * c, size));
        }
        all.push_back(split);
      }
    }
    std::sort(all.begin(), all.end(),
              [](const Split& a, const Split& b) { return std::tie(a.factor, a.rows) < std::tie(b.factor, b.rows); });
    for (Split& split : all) split.rounds = static_cast<double>(ceil_div(size, split.factor));
  }
}

/// Of all that begin like this; 0 where nobody asks.
double Unroller::least_steps(int at, double taken, Count units) const {
  if (most_steps_ == std::numeric_limits<double>::infinity() && !by_floors_) return 0;
  if (at + 1 == dims_) return taken;
  // Whatever units are left take their share of what is to come.
  const double left = std::floor(static_cast<double>(fanout_.units()) / static_cast<double>(units));
  return taken * std::max(1.0, to_come_[static_cast<std::size_t>(at) + 1] / left * (1 - kRoundingOfFloors));
}

/// Where those begin that are fast enough, of the last dim's.
std::size_t Unroller::skip_slow(const std::vector<Split>& all, double steps) {
  const auto fast = std::partition_point(all.begin(), all.end(),
                                         [&](const Split& split) { return steps * split.rounds > most_steps_; });
  if (fast != all.begin() && complete_) slow_ = std::min(slow_, steps * (fast - 1)->rounds);
  return static_cast<std::size_t>(fast - all.begin());
}

/// Is every unrolling with so many of the factors that are chosen no better than what is enough?
bool Unroller::too_dear(int chosen, double steps) {
  if (!by_floors_) return false;
  least_ = floors_->least(std::span(chosen_).first(static_cast<std::size_t>(chosen)), steps, enough_);
  if (least_ < enough_) return false;
  if (complete_) dear_ = std::min(dear_, least_);  // otherwise it costs no less than what went already
  return true;
}

/// Has the search taken too long? Then what begins like this and has not been looked at is not listed.
bool Unroller::over(int at, double steps, Count units) {
  if (!by_floors_) return expired_ || begin_again_;
  if (++looked_ % kLooksBetween == 0 && limits_.expired()) {
    expired_ = true;
    unlisted_ = 0;
  }
  if (looked_ < kMostLooks) return expired_;
  complete_ = false;
  const double least = floors_->least(std::span(chosen_).first(static_cast<std::size_t>(at)),
                                      least_steps(at - 1, steps, units), enough_);
  unlisted_floor_ = std::min(unlisted_floor_, least);
  return true;
}

/// The factor of the next dim, and with it what layouts are left. `steps` and `units` are those of the dims before it.
void Unroller::choose(int at, std::size_t first, double steps, Count units) {
  if (at == dims_) return keep(first, steps);
  if (at + 1 == dims_ && batch_) return choose_of_batch(first, steps);
  const int d = order_[at];
  const std::size_t last = layouts_.size();
  const std::vector<Split>& all = splits_[static_cast<std::size_t>(d)];
  for (std::size_t i = at + 1 == dims_ ? skip_slow(all, steps) : 0; i < all.size() && !over(at, steps, units);) {
    const Count factor = chosen_[at] = all[i].factor;
    if (units * factor > fanout_.units() || mirrored(d, factor, layouts_[first])) return;
    std::size_t next = i + 1;
    while (next < all.size() && all[next].factor == factor) ++next;
    const double taken = steps * all[i].rounds;
    if (const double least = least_steps(at, taken, units * factor); least > most_steps_) {
      if (complete_) slow_ = std::min(slow_, least);  // otherwise it is no faster than what went already
    } else if (!too_dear(at + 1, least)) {
      for (std::size_t before = first; before < last; ++before)
        for (std::size_t split = i; split < next; ++split) lay(before, d, all[split], last);
      if (layouts_.size() > last) choose(at + 1, last, taken, units * factor);
      layouts_.resize(last);
    }
    i = next;
  }
}

/// The factors of the batch dim that each layout has room for, down to the first that leaves no less room for tiles in
/// the memories outside than smaller ones do.
void Unroller::choose_of_batch(std::size_t first, double steps) {
  const std::size_t last = layouts_.size();
  const std::vector<Split>& all = splits_[static_cast<std::size_t>(batch_->dim)];
  laid_.assign(last - first, false);
  std::size_t waiting = last - first;
  for (std::size_t end = all.size(); end > 0 && waiting > 0 && !expired_ && !begin_again_;) {
    std::size_t begin = end - 1;
    while (begin > 0 && all[begin - 1].factor == all[begin].factor) --begin;
    const double taken = steps * all[begin].rounds;
    if (taken > most_steps_) {
      if (complete_) slow_ = std::min(slow_, taken);
      return;
    }
    for (std::size_t before = first; before < last; ++before) {
      if (laid_[before - first]) continue;
      bool has_room = false;
      for (std::size_t split = begin; split < end; ++split) has_room |= lay(before, batch_->dim, all[split], last);
      laid_[before - first] = has_room && all[begin].factor <= batch_->fits;
      waiting -= laid_[before - first] ? 1 : 0;
    }
    chosen_[dims_ - 1] = all[begin].factor;
    if (layouts_.size() > last && !too_dear(dims_, taken)) keep(last, taken);
    layouts_.resize(last);
    end = begin;
  }
}

/// Puts the loops of one dim on top of a layout, unless another of those from `first` on, which have the same factors,
/// has room for whatever this one has room for. False: there is no room.
bool Unroller::lay(std::size_t before, int d, const Split& split, std::size_t first) {
  const Layout& under = layouts_[before];
  const Count rows = under.rows * split.rows, cols = under.cols * split.cols;
  const int row_dims = under.row_dims + (split.rows > 1 ? 1 : 0), col_dims = under.col_dims + (split.cols > 1 ? 1 : 0);
  if (split.rows > 1 &&
      (under.one_side || !contains(under.sides->rows, d) || row_dims > most_ || rows > fanout_.longest(Side::kRows)))
    return false;
  if (split.cols > 1 && (!contains(under.sides->cols, d) || col_dims > most_)) return false;
  const Count most_cols = split.rows > 1 ? fanout_.columns_beside(rows) : under.most_cols;
  if (cols > most_cols) return false;
  layouts_.push_back(under);
  Layout& layout = layouts_.back();
  layout.at.rows[d] = split.rows;
  layout.at.cols[d] = split.cols;
  layout.rows = rows;
  layout.cols = cols;
  layout.most_cols = most_cols;
  layout.row_dims = row_dims;
  layout.col_dims = col_dims;
  layout.split[d] = static_cast<std::uint32_t>(&split - splits_[static_cast<std::size_t>(d)].data());
  if (split.factor > 1) layout.dims |= only(d);
  for (std::size_t i = first; i + 1 < layouts_.size(); ++i) {
    const Layout& other = layouts_[i];
    if (other.rows <= rows && other.cols <= cols && other.sides == layout.sides &&
        (most_ == dims_ || (other.row_dims <= row_dims && other.col_dims <= col_dims)) && stands_for(other, layout)) {
      layouts_.pop_back();
      return true;
    }
  }
  return true;
}

/// Would this factor make the image in the mirror come before what is chosen? Factors that were chosen before decide
/// first, as they do where unrollings of several fanouts are combined.
bool Unroller::mirrored(int d, Count factor, const Layout& before) const {
  if (!mirror_) return false;
  const std::array<int, kMaxDims>& image = *mirror_;
  const auto known = [&](int dim) { return 0 <= dim && dim <= d; };
  const int partner = image[d];
  if (partner == d || !known(partner)) return false;
  for (int e = 0; e < partner; ++e)
    if (image[e] > e && (!known(image[e]) || split(before, e).factor != split(before, image[e]).factor)) return false;
  return factor > split(before, partner).factor;
}

/// Of layouts with the same factors: can `a` stand wherever `b` is worth it?
bool Unroller::stands_for(const Layout& a, const Layout& b) const {
  bool stands = true;
  for (DimSet rest = needs_differ_ ? b.dims : 0; rest != 0 && stands; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    stands = split(a, d).stands_at <= split(b, d).worth_at;
  }
  return stands;
}

/// Of the layouts of these factors those that can stand wherever any of them is worth it.
void Unroller::keep(std::size_t first, double steps) {
  kept_.assign(1, first);
  for (std::size_t i = first + 1; i < layouts_.size() && needs_differ_; ++i) {  // otherwise one stands for all
    const Layout& layout = layouts_[i];
    if (std::ranges::any_of(kept_, [&](std::size_t other) { return stands_for(layouts_[other], layout); })) continue;
    std::erase_if(kept_, [&](std::size_t other) { return stands_for(layout, layouts_[other]); });
    kept_.push_back(i);
  }
  const std::size_t before = found_.size();
  for (const std::size_t i : kept_) found_.push_back(layouts_[i].at);
  steps_.resize(found_.size(), by_floors_ ? least_ : steps);
  if (floors_ != nullptr && !by_floors_ && found_.size() > length(kMany, 2)) {
    begin_again_ = true;
    return;
  }
  if (before / kLookEvery == found_.size() / kLookEvery) return;
  if (limits_.expired()) {
    expired_ = true;
    unlisted_ = 0;
  }
  if (!limits_.too_long(kShareOfMemory * static_cast<double>(found_.size() * sizeof(Unrolling)))) return;
  if (floors_ != nullptr && !by_floors_)
    begin_again_ = true;
  else
    make_room();
}

void Unroller::make_room() {
  std::size_t kept = 0;
  const double least = keep_least(steps_, steps_.size() / 2, [&](std::size_t i) { found_[kept++] = found_[i]; });
  found_.resize(kept);
  complete_ = false;
  if (by_floors_) {
    unlisted_floor_ = std::min(unlisted_floor_, least);
    enough_ = least;
  } else {
    unlisted_ = least;
    most_steps_ = std::nextafter(least, 0);
  }
}

}  // namespace pliant::exact
