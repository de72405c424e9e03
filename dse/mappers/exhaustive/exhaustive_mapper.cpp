// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exhaustive/exhaustive_mapper.h"

#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "dse/mappers/mapper_options.h"
#include "dse/mappers/space.h"
#include "flex/mapspace/legal_walk.h"

namespace pliant {

namespace {

constexpr double kWorkPerMapping = 2;  ///< factor chains looked at for each mapping allowed, before giving up

/// Counts, so that a space too large is refused before the first mapping is priced.
class Counting {
 public:
  Counting(double limit, Deadline& deadline) : limit_(limit), deadline_(deadline) {}

  bool too_large() const { return too_large_; }

  bool go_on() {
    too_large_ |= ++chains_seen_ > limit_ * kWorkPerMapping;
    return !too_large_ && !deadline_.reached();
  }
  Walk chains_placed(const Candidate&, double mappings) {
    mappings_ += mappings;
    too_large_ |= mappings_ > limit_;
    return too_large_ ? Walk::kStop : Walk::kPast;
  }
  void kept(int, TensorSet) {}
  void ordered(int, const LoopOrder&) {}
  bool visit(const Candidate&) { return true; }

 private:
  const double limit_;
  Deadline& deadline_;
  double mappings_ = 0, chains_seen_ = 0;
  bool too_large_ = false;
};

class Pricing {
 public:
  Pricing(const Space& space, const SearchOptions& options, Deadline& deadline)
      : space_(space), pricer_(space), options_(options), deadline_(deadline) {}

  bool go_on() { return !deadline_.reached(); }
  Walk chains_placed(const Candidate& candidate, double) {
    nest_ = &pricer_.load(candidate);
    return Walk::kInto;
  }
  void kept(int level, TensorSet keeps) { nest_->set_keeps(level, keeps); }
  void ordered(int level, const LoopOrder& order) { nest_->set_order(level, order.data()); }

  bool visit(const Candidate& candidate) {
    if (deadline_.reached()) return false;
    const Totals totals = pricer_.price();
    const double value = task_value(space_.task, totals);
    ++mappings_;
    if (value == kInfinity) return true;
    if (best_ && !better(value, totals, best_value_, best_totals_)) return true;
    best_ = space_.mapping(candidate);
    best_value_ = value;
    best_totals_ = totals;
    if (options_.on_progress) options_.on_progress({best_value_, 0, mappings_, deadline_.seconds()});
    return true;
  }

  SearchResult result(bool complete) const {
    SearchResult result;
    result.evaluations = mappings_;
    result.mappings_covered = std::to_string(mappings_);
    result.seconds = deadline_.seconds();
    result.ended_by = complete ? EndedBy::kProof : deadline_.stopped() ? EndedBy::kStopped : EndedBy::kBudget;
    result.infeasible = complete && !best_;
    if (!best_) return result;
    result.mapping = best_;
    result.totals = best_totals_;
    result.value = best_value_;
    result.certified = complete;
    result.lower_bound = complete ? best_value_ : 0;
    return result;
  }

 private:
  const Space& space_;
  Pricer pricer_;
  const SearchOptions& options_;
  Deadline& deadline_;
  Nest* nest_ = nullptr;
  std::uint64_t mappings_ = 0;
  std::optional<Mapping> best_;
  double best_value_ = 0;
  Totals best_totals_;
};

[[noreturn]] void refuse(const Task& task, double limit, double combinations) {
  Diagnostic wrong;
  wrong.file = "--mapper";
  wrong.key = "exhaustive";
  wrong.what = fmt::format(
      "the map-space of layer {} on {} is too large to enumerate: over {} mappings ({:.3g} "
      "combinations of factors before loop orders and bypasses)",
      task.layer.name, task.accelerator.name, static_cast<std::uint64_t>(limit), combinations);
  wrong.expected = "a smaller layer, less flexibility, the mapper exact, or a larger limit=";
  throw InputError(wrong);
}

class ExhaustiveMapper final : public Mapper {
 public:
  std::string_view name() const override { return "exhaustive"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    double limit = 50e6;
    read_mapper_options(name(), options, {{"limit", &limit, 1, 1e15}});
    limit = std::floor(limit);
    Deadline deadline(options, 1024);
    const Space space(task);
    Counting counting(limit, deadline);
    LegalWalk count(space, counting);
    count.run();
    if (counting.too_large()) refuse(task, limit, count.combinations());
    Pricing pricing(space, options, deadline);
    const bool complete = LegalWalk(space, pricing).run();
    return pricing.result(complete);
  }
};

}  // namespace

std::unique_ptr<Mapper> make_exhaustive_mapper() { return std::make_unique<ExhaustiveMapper>(); }

}  // namespace pliant
