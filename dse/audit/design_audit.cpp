// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/design_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/area.h"
#include "costmodel/report.h"
#include "dse/audit/bound_audit.h"
#include "dse/audit/box_cover.h"
#include "dse/audit/goal_sums.h"
#include "dse/audit/space_tables.h"

namespace pliant::audit {

namespace {

/// Sums and products of the same numbers in another order, and corners that are not cut to the end.
constexpr double kSameGoal = 4e-9;

bool contains(const Box& outer, const Box& inner) {
  for (std::size_t a = 0; a < outer.size(); ++a)
    if (inner[a].first < outer[a].first || inner[a].last > outer[a].last) return false;
  return outer.size() == inner.size();
}

/// Every value of `a` is at most that of `b`, but for this share.
bool nowhere_worse(const std::vector<double>& a, const std::vector<double>& b, double share) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] > b[k] * (1 + share)) return false;
  return a.size() == b.size();
}

class DesignAudit {
 public:
  DesignAudit(const Library& library, const std::filesystem::path& folder, const AuditOptions& options)
      : folder_(folder),
        options_(options),
        claim_(read_design_claim(folder)),
        task_(claim_.task),
        sums_(task_),
        tables_(library, task_) {}

  DesignAuditReport run() {
    report_.designs = task_.points() * task_.designs_of_point();
    report_.points_read = tables_.points_read();
    report_.gap = claim_.gap;
    report_.frontier = claim_.frontier.size();
    if (!tables_.problem().empty()) {
      undecided(tables_.problem());
      return std::move(report_);
    }
    if (claim_.designs != report_.designs)
      wrong(fmt::format("the space has {} designs, not {}", report_.designs, claim_.designs));
    for (const DesignAxis& axis : task_.axes) space_.push_back({0, static_cast<std::int32_t>(axis.values.size()) - 1});
    check_mappings();
    check_bounds();
    check_boxes();
    check_frontier();
    prove_claims();
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  /// What is kept of a line that was read.
  struct KnownBound {
    Box box;
    std::int64_t design = -1;
    std::size_t rule = 0, layer = 0;
    Objective objective = Objective::kEdp;
    double least = 0;
  };
  struct KnownMapping {
    std::int64_t design = 0;
    std::size_t layer = 0;
    double energy = 0, cycles = 0;
  };
  void wrong(std::string what) {
    ++report_.wrong_lines;
    if (report_.wrong.size() < DesignAuditReport::kMostSaid) report_.wrong.push_back(std::move(what));
  }
  void undecided(std::string what) {
    ++report_.open_lines;
    if (report_.undecided.size() < DesignAuditReport::kMostSaid) report_.undecided.push_back(std::move(what));
  }
  double seconds() const { return options_.clock->wall_seconds() - started_; }
  bool late() const { return options_.stop.stop_requested() || (options_.seconds > 0 && seconds() > options_.seconds); }
  bool sampled() { return options_.share >= 1 || std::uniform_real_distribution<>(0, 1)(random_) < options_.share; }

  // The parts of a design's number.
  std::size_t rule_of(std::int64_t design) const {
    return static_cast<std::size_t>(design % task_.variants()) / task_.objectives.size();
  }
  Objective objective_of(std::int64_t design) const {
    return task_.objectives[static_cast<std::size_t>(design % task_.variants()) % task_.objectives.size()];
  }
  const std::string& flexibility_of(std::int64_t design) const {
    return task_.flexibilities[static_cast<std::size_t>(design % task_.designs_of_point() / task_.variants())];
  }
  Box point_of(std::int64_t design) const {
    Box box;
    for (const std::int32_t at : task_.positions(design / task_.designs_of_point())) box.push_back({at, at});
    return box;
  }
  bool is_design(std::int64_t design) const { return design >= 0 && design < report_.designs; }

  /// The last design that was asked for; null when it contradicts itself.
  const std::shared_ptr<const Accelerator>& accelerator_of(std::int64_t design) {
    if (design != last_design_) {
      auto own = tables_.design(design);
      auto* accelerator = std::get_if<Accelerator>(&own);
      last_ = accelerator != nullptr ? std::make_shared<const Accelerator>(std::move(*accelerator)) : nullptr;
    }
    last_design_ = design;
    return last_;
  }

  /// A layer on this accelerator has at least this value: proven later, or not in the sample.
  void claim(std::string line, const std::shared_ptr<const Accelerator>& accelerator, std::size_t layer,
             std::size_t rule, Objective objective, double least) {
    if (sampled())
      audits_.add(std::move(line), accelerator, task_.layers[layer], task_.factorizations[rule], objective, least);
  }

  void prove_claims() {
    for (const BoundAudits::Verdict& one : audits_.run(options_, [&] { return late(); })) {
      report_.checked += one.verdict.holds ? 1 : 0;
      if (!one.verdict.wrong.empty()) wrong(fmt::format("{}: {}", one.line, one.verdict.wrong));
      if (!one.verdict.undecided.empty()) undecided(fmt::format("{}: {}", one.line, one.verdict.undecided));
    }
  }

  /// 1. Mappings of designs are legal, cost what they cost, and none is better.
  void check_mappings() {
    for_each_mapping(folder_, [&](ClaimedMapping&& claimed) {
      const std::string line = fmt::format("mapped.jsonl:{}", ++report_.mapped);
      KnownMapping& known = mapped_.emplace_back();
      known.design = -1;  // until it is found right
      if (!is_design(claimed.design) || claimed.layer >= task_.layers.size())
        return wrong(fmt::format("{}: no such design or layer", line));
      const auto accelerator = accelerator_of(claimed.design);
      if (!accelerator) return wrong(fmt::format("{}: the design contradicts itself", line));
      const Layer& layer = task_.layers[claimed.layer];
      const std::size_t rule = rule_of(claimed.design);
      const Task task{layer, *accelerator, accelerator->flexibility_of(layer), task_.factorizations[rule],
                      objective_of(claimed.design)};
      const Mapping mapping = parse_mapping_text(claimed.mapping, line, task.layer, task.accelerator).mapping;
      if (const auto violations =
              check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping);
          !violations.empty())
        return wrong(fmt::format("{}: the mapping is illegal: {}", line, violations.front().message));
      const Totals totals = price(task.layer, task.accelerator, mapping).totals;
      const double value = task_value(task, totals);
      if (!(std::abs(value - claimed.value) <= kRounding * value))
        return wrong(fmt::format("{}: the mapping's value is {:.12g}, not {:.12g}", line, value, claimed.value));
      known = {claimed.design, claimed.layer, totals.energy_pj, totals.cycles};
      claim(line, accelerator, claimed.layer, rule, task.objective, claimed.value);
    });
    if (report_.mapped != claim_.mapped)
      wrong(fmt::format("mapped.jsonl has {} lines, not {}", report_.mapped, claim_.mapped));
  }

  /// 2. Bounds of layers hold, on a design or on the best of everything in a box.
  void check_bounds() {
    for_each_bound(folder_, [&](ClaimedBound&& claimed) {
      const std::string line = fmt::format("bounds.jsonl:{}", ++report_.bounds);
      KnownBound& known = bounds_.emplace_back();
      known.layer = task_.layers.size();  // until it is found right
      if (claimed.layer >= task_.layers.size() || claimed.rule >= task_.factorizations.size() ||
          (claimed.design >= 0 ? !is_design(claimed.design) : !contains(space_, claimed.box)))
        return wrong(fmt::format("{}: no such design, box, layer or rule", line));
      if (claimed.design >= 0) {
        const auto accelerator = accelerator_of(claimed.design);
        if (!accelerator || rule_of(claimed.design) != claimed.rule)
          return wrong(fmt::format("{}: the design contradicts itself, or has another rule", line));
        claim(line, accelerator, claimed.layer, claimed.rule, claimed.objective, claimed.least);
      } else {
        if (claimed.box != last_box_) {
          auto ideal = tables_.ideal(claimed.box);
          if (const auto* unknown = std::get_if<std::string>(&ideal))
            return undecided(fmt::format("{}: {}", line, *unknown));
          last_ideal_ = std::make_shared<const Accelerator>(std::move(std::get<BoxIdeal>(ideal).accelerator));
          last_box_ = claimed.box;
        }
        claim(line, last_ideal_, claimed.layer, claimed.rule, claimed.objective, claimed.least);
      }
      known = {std::move(claimed.box), claimed.design, claimed.rule, claimed.layer, claimed.objective, claimed.least};
    });
    if (report_.bounds != claim_.bounds)
      wrong(fmt::format("bounds.jsonl has {} lines, not {}", report_.bounds, claim_.bounds));
  }

  /// Does a bound hold for all designs of a box, or for one design?
  bool applies(const KnownBound& bound, const Box& box, std::int64_t design) const {
    if (bound.layer >= task_.layers.size()) return false;
    if (bound.design < 0) return contains(bound.box, box) && (design < 0 || rule_of(design) == bound.rule);
    if (bound.design == design) return true;
    return design >= 0 && bound.design / task_.designs_of_point() == design / task_.designs_of_point() &&
           bound.rule == rule_of(design) && allows_all_of(flexibility_of(bound.design), flexibility_of(design));
  }

  bool beaten(const std::vector<double>& least) const {
    const double share = (1 + claim_.gap) * (1 + kSameGoal) - 1;
    return std::ranges::any_of(claim_.frontier,
                               [&](const FrontierPoint& point) { return nowhere_worse(point.values, least, share); });
  }

  /// What a line states follows, and closes it.
  void check_closed(const std::string& line, const ClaimedBox& claimed, const std::vector<double>& least) {
    if (!nowhere_worse(claimed.least, least, kSameGoal)) {
      for (std::size_t g = 0; g < least.size() && claimed.least.size() == least.size(); ++g)
        if (claimed.least[g] > least[g] * (1 + kSameGoal))
          return wrong(
              fmt::format("{}: what it rests on gives {:.12g}, not {:.12g}", line, least[g], claimed.least[g]));
      return wrong(fmt::format("{}: not one bound for each goal", line));
    }
    if (!beaten(claimed.least)) wrong(fmt::format("{}: no design of the frontier is as good as its bounds", line));
  }

  /// 3. All designs of a box.
  void check_box(const std::string& line, const ClaimedBox& claimed) {
    if (claimed.closed_by == ClaimedBox::ClosedBy::kOpened || !claimed.maps.empty())
      return wrong(fmt::format("{}: only a single design is opened or has mappings", line));
    const auto found = tables_.ideal(claimed.box);
    if (const auto* unknown = std::get_if<std::string>(&found)) return undecided(fmt::format("{}: {}", line, *unknown));
    const auto& ideal = std::get<BoxIdeal>(found);
    std::vector<std::vector<Region>> by_rule(task_.factorizations.size(), sums_.floors(ideal.accelerator));
    std::vector<bool> nothing(by_rule.size(), false);
    for (const std::uint32_t number : claimed.bounds) {
      if (number >= bounds_.size() || !applies(bounds_[number], claimed.box, -1))
        return wrong(fmt::format("{}: it rests on line {} of bounds.jsonl, which is not about it", line, number + 1));
      const KnownBound& bound = bounds_[number];
      if (std::isinf(bound.least))
        nothing[bound.rule] = true;
      else
        raise(by_rule[bound.rule][bound.layer], bound.objective, bound.least);
    }
    const bool all = std::ranges::all_of(nothing, [](bool none) { return none; });
    if (claimed.closed_by == ClaimedBox::ClosedBy::kNothingFits) {
      if (!ideal.contradicts && !all) wrong(fmt::format("{}: something may fit", line));
      return;
    }
    if (all) return;
    std::vector<double> least(task_.goals.size(), kInfinity);
    for (std::size_t f = 0; f < by_rule.size(); ++f) {
      if (nothing[f]) continue;
      const std::vector<double> one = sums_.goals(ideal.accelerator, ideal.least_area_um2, by_rule[f], enough(claimed));
      for (std::size_t g = 0; g < least.size(); ++g) least[g] = std::min(least[g], one[g]);
    }
    check_closed(line, claimed, least);
  }

  std::vector<double> enough(const ClaimedBox& claimed) const {
    std::vector<double> all = claimed.least;
    all.resize(task_.goals.size(), kInfinity);
    return all;
  }

  /// 4. One design: its layers' mappings, or bounds of what has none.
  void check_design(const std::string& line, const ClaimedBox& claimed) {
    const auto accelerator = accelerator_of(claimed.design);
    const bool opened = claimed.closed_by == ClaimedBox::ClosedBy::kOpened;
    report_.opened += opened ? 1 : 0;
    if (!accelerator) {
      if (!claimed.least.empty()) wrong(fmt::format("{}: the design contradicts itself and has no values", line));
      return;
    }
    std::vector<Region> regions = sums_.floors(*accelerator);
    std::vector<bool> known(regions.size(), false);
    bool nothing = false;
    for (const std::uint32_t number : claimed.bounds) {
      if (number >= bounds_.size() || !applies(bounds_[number], claimed.box, claimed.design))
        return wrong(fmt::format("{}: it rests on line {} of bounds.jsonl, which is not about it", line, number + 1));
      nothing = nothing || std::isinf(bounds_[number].least);
      raise(regions[bounds_[number].layer], bounds_[number].objective, bounds_[number].least);
    }
    for (const std::uint32_t number : claimed.maps) {
      if (number >= mapped_.size() || mapped_[number].design != claimed.design)
        return wrong(fmt::format("{}: line {} of mapped.jsonl is not its mapping", line, number + 1));
      const KnownMapping& mapping = mapped_[number];
      known[mapping.layer] = true;
      regions[mapping.layer] = {mapping.energy, mapping.cycles, mapping.energy * mapping.cycles, 1};
    }
    if (nothing) {
      if (opened) wrong(fmt::format("{}: opened, though a layer has no mapping", line));
      return;
    }
    if (claimed.closed_by == ClaimedBox::ClosedBy::kNothingFits)
      return wrong(fmt::format("{}: something may fit", line));
    const std::vector<double> least =
        sums_.goals(*accelerator, area_um2(*accelerator).total(), regions, enough(claimed));
    if (!opened) return check_closed(line, claimed, least);
    if (!std::ranges::all_of(known, [](bool mapped) { return mapped; }))
      return wrong(fmt::format("{}: opened, but not every layer has a mapping", line));
    if (!nowhere_worse(claimed.least, least, kSameGoal) || !nowhere_worse(least, claimed.least, kSameGoal))
      return wrong(fmt::format("{}: the mappings have other values", line));
    values_[claimed.design] = least;
  }

  /// 5. Every design is in one box.
  void check_boxes() {
    std::vector<Box> boxes;
    std::vector<std::size_t> lines;
    std::map<std::int64_t, std::set<std::int64_t>> single;  // by hardware point
    for_each_box(folder_, [&](ClaimedBox&& claimed) {
      const std::size_t number = ++report_.boxes;
      const std::string line = fmt::format("boxes.jsonl:{}", number);
      if (claimed.design >= 0) {
        if (!is_design(claimed.design)) return wrong(fmt::format("{}: no such design", line));
        const std::int64_t point = claimed.design / task_.designs_of_point();
        claimed.box = point_of(claimed.design);
        const auto [of_point, fresh] = single.try_emplace(point);
        if (fresh) {
          boxes.push_back(claimed.box);
          lines.push_back(number);
        }
        if (!of_point->second.insert(claimed.design).second) wrong(fmt::format("{}: a design stands twice", line));
        return check_design(line, claimed);
      }
      if (!contains(space_, claimed.box)) return wrong(fmt::format("{}: no such box", line));
      boxes.push_back(claimed.box);
      lines.push_back(number);
      check_box(line, claimed);
    });
    for (const auto& [point, designs] : single)
      if (static_cast<std::int64_t>(designs.size()) != task_.designs_of_point())
        wrong(fmt::format("of hardware point {} only {} of {} designs are in a box", point, designs.size(),
                          task_.designs_of_point()));
    if (std::string problem = cover_problem(space_, boxes, lines); !problem.empty()) wrong(std::move(problem));
    if (report_.boxes != claim_.boxes)
      wrong(fmt::format("boxes.jsonl has {} lines, not {}", report_.boxes, claim_.boxes));
  }

  /// 6. The frontier has the values of designs that were mapped, and no mapped design is missing from it.
  void check_frontier() {
    for (const FrontierPoint& point : claim_.frontier) {
      const auto found = values_.find(point.design);
      if (found == values_.end() || !nowhere_worse(point.values, found->second, kSameGoal) ||
          !nowhere_worse(found->second, point.values, kSameGoal)) {
        wrong(fmt::format("the frontier's design {} was not opened, or has other values", point.design));
        continue;
      }
      for (const auto& [design, values] : values_)
        if (design != point.design && nowhere_worse(values, found->second, -kSameGoal))
          wrong(fmt::format("design {} of the frontier is worse than design {}", point.design, design));
    }
    for (const auto& [design, values] : values_)
      if (std::ranges::none_of(claim_.frontier, [&, &own = values](const FrontierPoint& point) {
            return nowhere_worse(point.values, own, kSameGoal);
          }))
        wrong(fmt::format("design {} was opened and is not beaten, but is not on the frontier", design));
  }

  const std::filesystem::path& folder_;
  const AuditOptions& options_;
  const DesignClaim claim_;
  const DesignTask& task_;
  GoalSums sums_;
  SpaceTables tables_;
  Box space_;
  BoundAudits audits_;
  std::vector<KnownBound> bounds_;
  std::vector<KnownMapping> mapped_;
  std::map<std::int64_t, std::vector<double>> values_;    ///< of opened designs
  std::shared_ptr<const Accelerator> last_, last_ideal_;  ///< of last_design_; of last_box_
  std::int64_t last_design_ = -1;
  Box last_box_;
  std::mt19937_64 random_{options_.seed};
  DesignAuditReport report_;
  double started_ = options_.clock->wall_seconds();
};

}  // namespace

std::string verdict_of(const DesignAuditReport& report, bool sampled) {
  if (!report.wrong.empty()) return "wrong";
  if (report.clean()) return "clean";
  return sampled && report.undecided.empty() ? "sample clean" : "undecided";
}

DesignAuditReport audit_design(const Library& library, const std::filesystem::path& folder,
                               const AuditOptions& options) {
  return DesignAudit(library, folder, options).run();
}

}  // namespace pliant::audit
