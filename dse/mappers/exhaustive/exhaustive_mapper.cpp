// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exhaustive/exhaustive_mapper.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/input/diagnostics.h"
#include "dse/mappers/mapper_options.h"
#include "dse/mappers/space.h"

namespace pliant {

namespace {

constexpr std::uint64_t kWorkPerMapping = 2;  ///< factor chains looked at for each mapping allowed, before giving up

using Order = std::array<std::uint8_t, kMaxDims>;

/// Nested choices, one function each: factor chains, then kept tensors, then loop orders.
class Enumeration {
 public:
  Enumeration(const Task& task, const SearchOptions& options, std::uint64_t limit)
      : space_(task), pricer_(space_), options_(options), limit_(limit), deadline_(options, 1024) {}

  SearchResult run() {
    for (int d = 0; d < space_.dims; ++d) {
      chains_[d] = space_.chains(d);
      combinations_ *= static_cast<double>(chains_[d].size());
    }
    // 1. Count, so that a space too large is refused before the first mapping is priced.
    counting_ = true;
    choose_chain(0);
    if (too_large_) refuse();
    // 2. Price.
    counting_ = false;
    mappings_ = 0;
    const bool complete = choose_chain(0);
    SearchResult result;
    result.evaluations = mappings_;
    result.mappings_covered = std::to_string(mappings_);
    result.seconds = deadline_.seconds();
    result.ended_by = complete ? "proof" : deadline_.stopped() ? "stopped" : "budget";
    result.infeasible = complete && !found_;
    if (!found_) return result;
    result.mapping = best_;
    result.totals = best_totals_;
    result.value = best_value_;
    result.certified = complete;
    result.lower_bound = complete ? best_value_ : 0;
    return result;
  }

 private:
  [[noreturn]] void refuse() const {
    Diagnostic wrong;
    wrong.file = "--mapper";
    wrong.key = "exhaustive";
    wrong.what = fmt::format(
        "the map-space of layer {} on {} is too large to enumerate: over {} mappings ({:.3g} "
        "combinations of factors before loop orders and bypasses)",
        space_.task.layer.name, space_.task.accelerator.name, limit_, combinations_);
    wrong.expected = "a smaller layer, less flexibility, the mapper exact, or a larger limit=";
    throw InputError(wrong);
  }

  bool choose_chain(int d) {
    if (d == space_.dims) return choose_keeps();
    for (const Chain& chain : chains_[d]) {
      if (++chains_seen_ > limit_ * kWorkPerMapping) too_large_ = true;
      if (too_large_ || deadline_.reached()) return false;
      now_.chain[d] = &chain;
      if (!space_.fanouts_allowed(now_, d + 1)) continue;
      // A tile only grows when the dims still free are placed: what overflows now overflows for good.
      const bool fits = std::all_of(space_.memories.begin(), space_.memories.end(),
                                    [&](int l) { return space_.memory_allowed(l, now_, least_kept(l), d + 1); });
      if (fits && !choose_chain(d + 1)) return false;
    }
    return true;
  }

  TensorSet least_kept(int level) const {
    TensorSet least = ~TensorSet{0};
    for (const TensorSet keeps : space_.keep_sets[level]) least &= keeps;
    return least;
  }

  bool choose_keeps() {
    double orders = 1;
    for (std::size_t i = 0; i < space_.memories.size(); ++i) {
      const int l = space_.memories[i];
      orders_[i] = &orders_of(l, space_.loops_at(l, now_));
      orders *= static_cast<double>(orders_[i]->size());
      fitting_[i].clear();
      for (const TensorSet keeps : space_.keep_sets[l])
        if (space_.memory_allowed(l, now_, keeps, space_.dims)) fitting_[i].push_back(keeps);
      orders *= static_cast<double>(fitting_[i].size());
    }
    if (counting_) {
      too_large_ |= static_cast<double>(mappings_) + orders > static_cast<double>(limit_);
      if (!too_large_) mappings_ += static_cast<std::uint64_t>(orders);
      return !too_large_;
    }
    if (orders == 0) return true;
    for (std::size_t i = 0; i < space_.memories.size(); ++i) now_.order[space_.memories[i]] = orders_[i]->front();
    nest_ = &pricer_.load(now_);
    return choose_kept(0);
  }

  bool choose_kept(std::size_t i) {
    if (i == space_.memories.size()) return choose_order(0);
    const int l = space_.memories[i];
    for (const TensorSet keeps : fitting_[i]) {
      now_.keeps[l] = keeps;
      nest_->set_keeps(l, keeps);
      if (!choose_kept(i + 1)) return false;
    }
    return true;
  }

  bool choose_order(std::size_t i) {
    if (i == space_.memories.size()) return price();
    const int l = space_.memories[i];
    for (const Order& order : *orders_[i]) {
      now_.order[l] = order;
      nest_->set_order(l, order.data());
      if (!choose_order(i + 1)) return false;
    }
    return true;
  }

  bool price() {
    if (deadline_.reached()) return false;
    const Totals totals = pricer_.price();
    const double value = task_value(space_.task, totals);
    ++mappings_;
    if (value == std::numeric_limits<double>::infinity()) return true;
    if (found_ && !better(value, totals, best_value_, best_totals_)) return true;
    found_ = true;
    best_ = space_.mapping(now_);
    best_value_ = value;
    best_totals_ = totals;
    if (options_.on_progress) options_.on_progress({best_value_, 0, mappings_, deadline_.seconds()});
    return true;
  }

  const std::vector<Order>& orders_of(int level, DimSet loops) {
    const auto [at, fresh] = order_lists_.try_emplace({level, loops});
    if (fresh) at->second = space_.orders(level, loops);
    return at->second;
  }

  Space space_;
  Pricer pricer_;
  const SearchOptions& options_;
  const std::uint64_t limit_;
  Deadline deadline_;
  std::array<std::vector<Chain>, kMaxDims> chains_;
  std::map<std::pair<int, DimSet>, std::vector<Order>> order_lists_;
  std::array<const std::vector<Order>*, kMaxLevels> orders_{};
  std::array<std::vector<TensorSet>, kMaxLevels> fitting_;
  double combinations_ = 1;
  bool counting_ = true, too_large_ = false;
  std::uint64_t chains_seen_ = 0, mappings_ = 0;
  Candidate now_{};
  Nest* nest_ = nullptr;

  bool found_ = false;
  Mapping best_;
  double best_value_ = 0;
  Totals best_totals_;
};

class ExhaustiveMapper final : public Mapper {
 public:
  std::string_view name() const override { return "exhaustive"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    double limit = 50e6;
    read_mapper_options(name(), options, {{"limit", &limit, 1, 1e15}});
    return Enumeration(task, options, static_cast<std::uint64_t>(limit)).run();
  }
};

}  // namespace

std::unique_ptr<Mapper> make_exhaustive_mapper() { return std::make_unique<ExhaustiveMapper>(); }

}  // namespace pliant
