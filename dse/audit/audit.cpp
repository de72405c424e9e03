// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/audit.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/audit/choices.h"
#include "dse/audit/every_mapping.h"
#include "dse/audit/lower_bound.h"
#include "dse/audit/run_floor.h"

namespace pliant::audit {

namespace {

bool falls_below(double value, double claimed) { return value < claimed * (1 - kRounding); }
bool equal(double a, double b) { return a == b || std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

class Audit {
 public:
  Audit(const Certificate& certificate, const AuditOptions& options)
      : certificate_(certificate),
        task_(certificate.task),
        options_(options),
        problem_(task_.layer, task_.accelerator),
        rules_(task_.layer, task_.accelerator, task_.flexibility, task_.factorization),
        priced_problem_(task_.layer, task_.accelerator),
        nest_(priced_problem_) {
    report_.parts.resize(certificate.parts.size());
    report_.optimum = kInfinity;
  }

  AuditReport run() {
    check_claim();
    check_parts();
    if (cover()) {
      count_choices();
      // Pricing all mappings takes longer than most bounds do: spaces that are not tiny are enumerated only where the
      // bounds leave something open.
      if (!enumerate()) check_choices();
    }
    for (const PartAudit& part : report_.parts) report_.checked += part.checked;
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  /// One choice, by number, and what the certificate says of it.
  struct Claimed {
    std::uint32_t unrolling = 0, kept = 0;
    std::uint32_t part = 0;
    double lower_bound = 0;
  };

  void wrong(std::string what) { report_.wrong.push_back(std::move(what)); }
  double seconds() const { return options_.clock->wall_seconds() - started_; }
  std::uint64_t number(std::uint64_t unrolling, std::uint64_t kept) const {
    return unrolling * choices_.keeps.size() + kept;
  }

  /// 1. The optimum is legal and has the value claimed, and the claims fit together.
  void check_claim() {
    if (certificate_.infeasible && certificate_.mapping) wrong("a mapping, though nothing is said to be legal");
    if (certificate_.certified && !certificate_.mapping) wrong("certified, but there is no mapping");
    if (certificate_.certified && !equal(certificate_.lower_bound, certificate_.value))
      wrong("certified, but the lower bound is not the value");
    if (falls_below(certificate_.value, certificate_.lower_bound)) wrong("the lower bound is above the value");
    if (!certificate_.mapping) {
      if (certificate_.value != kInfinity) wrong("a value without a mapping");
      return;
    }
    for (const Violation& violation :
         check_legality(task_.layer, task_.accelerator, task_.flexibility, task_.factorization, *certificate_.mapping))
      wrong("the mapping is illegal: " + violation.message);
    if (!report_.wrong.empty()) return;
    const double value = task_value(task_, price(task_.layer, task_.accelerator, *certificate_.mapping).totals);
    if (!equal(value, certificate_.value))
      wrong(fmt::format("the mapping's value is {:.12g}, not {:.12g}", value, certificate_.value));
  }

  /// 2. No part claims less than the certificate does, and what is certified is closed.
  void check_parts() {
    for (std::size_t i = 0; i < certificate_.parts.size(); ++i) {
      const Part& part = certificate_.parts[i];
      double least = part.lower_bound;
      for (const Member& member : part.members) least = std::min(least, member.lower_bound);
      if (falls_below(least, certificate_.lower_bound))
        wrong(fmt::format("part {} is open: its lower bound is {:.12g}, that of the whole {:.12g}", i + 1, least,
                          certificate_.lower_bound));
      if (part.scope == Part::Scope::kNamed && falls_below(least, part.lower_bound))
        wrong(fmt::format("part {}: a member's lower bound is below the part's", i + 1));
      if (part.closed_by == ClosedBy::kLeft && (certificate_.certified || certificate_.infeasible))
        wrong(fmt::format("part {} was left open, yet the whole is called proven", i + 1));
    }
  }

  /// Unrollings with so many steps that what every mapping moves, in those steps, is enough: they need not be listed.
  /// All are of one part, that of slow ones, or the rest where nothing else is named.
  void find_slow() {
    const auto of_scope = [&](Part::Scope scope) {
      return std::ranges::count(certificate_.parts, scope, &Part::scope);
    };
    const bool rest = certificate_.parts.size() == 1 && of_scope(Part::Scope::kRest) == 1;
    if (of_scope(Part::Scope::kSlow) != 1 && !rest) return;
    const Part* const part =
        rest ? certificate_.parts.data() : &*std::ranges::find(certificate_.parts, Part::Scope::kSlow, &Part::scope);
    std::vector<Count> sizes;
    for (const Dim& dim : task_.layer.dims) sizes.push_back(dim.size);
    const RunFloor::Least least = RunFloor(task_).of(sizes);
    if (!(least.moved_pj > 0)) return;
    // Every objective grows with cycles, so what closes some steps closes more of them.
    const auto value = [&](double steps) {
      return least_value(task_, problem_, least.moved_pj, std::max(least.cycles, steps), steps);
    };
    const auto closes = [&](double steps) { return !falls_below(value(steps), part->lower_bound); };
    double enough = std::max(rest ? 1.0 : part->least_steps, 1.0), open = 0;
    while (!closes(enough)) {
      open = enough;
      enough *= 2;
      if (enough > kMostSteps) return;
    }
    for (int i = 0; i < 60 && open > 0; ++i) (closes((open + enough) / 2) ? enough : open) = (open + enough) / 2;
    slow_ = part;
    slow_from_ = enough;
    slow_value_ = value(enough);
  }

  void note_slow() {
    if (slow_ == nullptr || choices_.unlisted == 0) return;
    PartAudit& part = report_.parts[static_cast<std::size_t>(slow_ - certificate_.parts.data())];
    const std::uint64_t unlisted = choices_.unlisted * choices_.keeps.size();
    part.least = slow_value_;
    part.checked = part.by_means[static_cast<std::size_t>(Means::kMovedOnce)] = unlisted;
  }

  /// 3. Every choice is in one part.
  bool cover() {
    find_slow();
    // A certificate that names choices names each by itself.
    const bool named = std::ranges::count(certificate_.parts, Part::Scope::kNamed, &Part::scope) > 0;
    std::optional<Choices> all = list_choices(task_, rules_, options_.unrollings, slow_from_, !named);
    if (!all) {
      report_.undecided.push_back(fmt::format(
          "more than {} unrollings: whether the parts cover the map-space, and all of them", options_.unrollings));
      return false;
    }
    choices_ = std::move(*all);
    report_.unrollings = choices_.listed + choices_.unlisted;
    report_.keeps = choices_.keeps.size();
    report_.choices = report_.unrollings * report_.keeps;
    constexpr auto kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> part_of(choices_.count(), kNone);
    std::vector<double> bound_of(choices_.count(), 0);
    std::uint32_t rest = kNone;
    for (std::uint32_t i = 0; i < certificate_.parts.size(); ++i) {
      const Part& part = certificate_.parts[i];
      const auto take = [&](std::uint64_t choice, double bound) {
        if (part_of[choice] != kNone)
          wrong(fmt::format("a choice is in part {} and in part {}", part_of[choice] + 1, i + 1));
        part_of[choice] = i;
        bound_of[choice] = bound;
      };
      if (part.scope == Part::Scope::kRest) {
        if (rest != kNone) wrong("two parts claim the rest");
        rest = i;
      } else if (part.scope == Part::Scope::kSlow) {
        for (std::uint64_t u = 0; u < choices_.unrollings.size(); ++u)
          if (is_slow(part.least_steps, least_steps(task_, choices_.unrollings[u])))
            for (std::uint64_t k = 0; k < choices_.keeps.size(); ++k) take(number(u, k), part.lower_bound);
      } else {
        for (const Member& member : part.members) {
          const auto u = std::ranges::lower_bound(choices_.unrollings, member.unrolling);
          const auto k = std::ranges::find(choices_.keeps, member.kept);
          if (u == choices_.unrollings.end() || *u != member.unrolling || k == choices_.keeps.end())
            wrong(fmt::format("part {} names a choice that the map-space does not have", i + 1));
          else
            take(number(static_cast<std::uint64_t>(u - choices_.unrollings.begin()),
                        static_cast<std::uint64_t>(k - choices_.keeps.begin())),
                 member.lower_bound);
        }
      }
    }
    std::uint64_t uncovered = 0;
    for (std::uint64_t choice = 0; choice < part_of.size(); ++choice) {
      std::uint32_t part = part_of[choice];
      if (part == kNone) {
        if (rest == kNone) {
          ++uncovered;
          continue;
        }
        part = rest;
        bound_of[choice] = certificate_.parts[rest].lower_bound;
      }
      claims_.push_back({static_cast<std::uint32_t>(choice / choices_.keeps.size()),
                         static_cast<std::uint32_t>(choice % choices_.keeps.size()), part, bound_of[choice]});
    }
    if (uncovered > 0) wrong(fmt::format("{} of {} choices are in no part", uncovered, part_of.size()));
    return true;
  }

  /// The parts are as large as they say. One that does not say may have had choices taken out of others.
  void count_choices() {
    for (const Claimed& claim : claims_) report_.parts[claim.part].choices += choices_.alike[claim.unrolling];
    if (slow_ != nullptr)
      report_.parts[static_cast<std::size_t>(slow_ - certificate_.parts.data())].choices +=
          choices_.unlisted * choices_.keeps.size();
    note_slow();
    for (std::size_t i = 0; i < certificate_.parts.size(); ++i) {
      const std::optional<std::uint64_t>& said = certificate_.parts[i].choices;
      if (!said)
        report_.undecided.push_back(
            fmt::format("part {} does not say how many choices it has: whether any are missing "
                        "from the others",
                        i + 1));
      else if (*said != report_.parts[i].choices)
        wrong(fmt::format("part {} has {} choices, not {}", i + 1, report_.parts[i].choices, *said));
    }
  }

  static constexpr double kMostSteps = 1e18;
  static constexpr std::uint64_t kTiny = 2'000;          ///< mappings
  static constexpr std::uint64_t kStepsPerMapping = 50;  ///< partial mappings that are looked at for one

  /// The least value of the mappings of a choice; nullopt: there are more than the limits allow.
  std::optional<double> priced(EveryMapping& every, const Claimed& claim, EveryMapping::Limits& limits) {
    double least = kInfinity;
    const bool all = every.visit(choices_.unrollings[claim.unrolling], choices_.keeps[claim.kept], limits,
                                 [&](const Mapping& mapping) {
                                   if (!mapping.padded.empty()) {
                                     least = std::min(least, value_of(task_, mapping));
                                     return;
                                   }
                                   nest_.load(flatten(priced_problem_, mapping));
                                   least = std::min(least, task_value(task_, nest_.price()));
                                 });
    return all ? std::optional(least) : std::nullopt;
  }
  static double value_of(const pliant::Task& task, const Mapping& mapping) {
    return task_value(task, price(task.layer, task.accelerator, mapping).totals);
  }

  /// Ways to write a number as a product of so many: each of its primes goes to one of them.
  static double ways_to_divide(Count number, Count among) {
    double ways = 1;
    for (Count prime = 2; number > 1; ++prime) {
      if (prime > number / prime) prime = number;
      for (Count times = 1; number % prime == 0; ++times, number /= prime)
        ways += ways * static_cast<double>(among - 1) / static_cast<double>(times);
    }
    return ways;
  }

  /// No, where even ways to divide what is left of every dim among the memories are many, in any order of loops.
  bool may_be_tiny(std::uint64_t most) const {
    double ways = 0;
    const std::size_t dims = task_.layer.dims.size();
    for (const Factors& unrolling : choices_.unrollings) {
      double here = static_cast<double>(choices_.keeps.size());
      for (std::size_t d = 0; d < dims; ++d) {
        Count left = task_.layer.dims[d].size;
        for (std::size_t f = d; f < unrolling.size(); f += dims) left = ceil_div(left, unrolling[f]);
        const auto loops = [&](const MemoryRules& memory) { return (memory.may_loop >> d & 1U) != 0; };
        here *= ways_to_divide(left, std::ranges::count_if(rules_.memories, loops));
      }
      ways += here;
    }
    return ways <= static_cast<double>(most * kStepsPerMapping);
  }

  /// 4. Tiny map-spaces: every mapping is priced.
  bool enumerate() {
    const std::uint64_t most = std::min(options_.enumerate, kTiny);
    if (claims_.size() > most || !may_be_tiny(most)) return false;
    EveryMapping::Limits limits{most, most * kStepsPerMapping};
    EveryMapping every(task_, rules_);
    std::vector<double> values;
    for (const Claimed& claim : claims_) {
      const std::optional<double> value = priced(every, claim, limits);
      if (!value) return false;
      values.push_back(*value);
    }
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      note(claims_[i], {values[i], Means::kEnumeration});
      compare(claims_[i], values[i]);
      report_.optimum = std::min(report_.optimum, values[i]);
    }
    report_.mappings_enumerated = most - limits.mappings;
    return true;
  }

  void compare(const Claimed& claim, double value) {
    if (falls_below(value, claim.lower_bound))
      wrong(fmt::format("part {}: a mapping has the value {:.12g}, below {:.12g}", claim.part + 1, value,
                        claim.lower_bound));
  }

  void note(const Claimed& claim, const ChoiceBound::Result& found) {
    PartAudit& part = report_.parts[claim.part];
    part.least = part.checked + part.undecided == 0 ? found.lower_bound : std::min(part.least, found.lower_bound);
    const std::uint64_t alike = choices_.alike[claim.unrolling];
    part.by_means[static_cast<std::size_t>(found.means)] += alike;
    (found.means == Means::kNotDecided ? part.undecided : part.checked) += alike;
  }

  /// 5. Larger ones: choice by choice, in random order, so that whatever is checked is a fair sample.
  void check_choices() {
    std::mt19937_64 random(options_.seed);
    for (std::size_t i = claims_.size(); i > 1; --i) std::swap(claims_[i - 1], claims_[random() % i]);
    std::vector<std::uint64_t> quota;
    for (const PartAudit& part : report_.parts)
      quota.push_back(
          static_cast<std::uint64_t>(std::ceil(options_.share * static_cast<double>(part.choices - part.checked))));
    std::erase_if(claims_, [&](const Claimed& claim) {
      if (quota[claim.part] == 0) return true;
      quota[claim.part] -= std::min(quota[claim.part], choices_.alike[claim.unrolling]);
      return false;
    });
    std::mutex noting;
    std::vector<std::size_t> open;
    std::atomic<bool> late{false};
    const auto is_late = [&] {
      if (options_.stop.stop_requested() || (options_.seconds > 0 && seconds() > options_.seconds)) late = true;
      return late.load();
    };
    const ChoiceBound bound(task_, problem_, rules_, is_late);
    const auto one = [&](std::size_t i) {
      if (is_late()) return;
      const Claimed& claim = claims_[i];
      const ChoiceBound::Result found =
          bound.of(choices_.unrollings[claim.unrolling], choices_.keeps[claim.kept], claim.lower_bound, options_.nodes);
      const std::scoped_lock lock(noting);
      if (found.means == Means::kNotDecided && found.attained == kInfinity)
        open.push_back(i);
      else
        note(claim, found);
      compare(claim, found.attained);
    };
    tbb::task_arena(options_.threads).execute([&] { tbb::parallel_for(std::size_t{0}, claims_.size(), one); });
    enumerate_open(open, late);
    for (std::size_t i = 0; i < report_.parts.size(); ++i)
      if (report_.parts[i].undecided > 0)
        report_.undecided.push_back(fmt::format("part {}: {} of {} choices, their lower bounds are not confirmed",
                                                i + 1, report_.parts[i].undecided, report_.parts[i].choices));
    if (late) report_.undecided.emplace_back("time was up before all choices were checked");
  }

  /// Of the choices that the bounds leave open every mapping is priced, if there are not too many of them.
  void enumerate_open(const std::vector<std::size_t>& open, bool late) {
    EveryMapping::Limits limits{options_.enumerate, options_.enumerate * kStepsPerMapping};
    EveryMapping every(task_, rules_);
    for (const std::size_t i : open) {
      const std::optional<double> value = late ? std::nullopt : priced(every, claims_[i], limits);
      note(claims_[i], {value.value_or(0), value ? Means::kEnumeration : Means::kNotDecided});
      if (value) compare(claims_[i], *value);
    }
  }

  const Certificate& certificate_;
  const pliant::Task& task_;
  const AuditOptions& options_;
  const Problem problem_;
  const SpaceRules rules_;
  const pliant::Problem priced_problem_;  ///< the cost model's
  Nest nest_;
  Choices choices_;
  const Part* slow_ = nullptr;  ///< the part of what is not listed
  double slow_from_ = kInfinity, slow_value_ = 0;
  std::vector<Claimed> claims_;
  AuditReport report_;
  double started_ = options_.clock->wall_seconds();
};

}  // namespace

AuditReport audit(const Certificate& certificate, const AuditOptions& options) {
  return Audit(certificate, options).run();
}

}  // namespace pliant::audit
