// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/bound_audit.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/arithmetic.h"
#include "dse/audit/best_of_box.h"

namespace pliant::audit {

BoundVerdict audit_bound(const Task& task, double least, const AuditOptions& options) {
  if (least <= 0) return {true, "", ""};
  const Problem problem(task.layer, task.accelerator);
  const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  const std::optional<Choices> choices = list_choices(task, rules, options.unrollings, kInfinity, true);
  if (!choices) return {false, "", fmt::format("more than {} unrollings", options.unrollings)};
  const ChoiceBound bound(task, problem, rules, [&] { return options.stop.stop_requested(); });
  bool open = false;
  for (const Factors& unrolling : choices->unrollings) {
    for (const Kept& kept : choices->keeps) {
      if (options.stop.stop_requested()) return {false, "", "interrupted"};
      const ChoiceBound::Result found = bound.of(unrolling, kept, least, options.nodes);
      if (found.attained < kInfinity)
        return {false, fmt::format("a mapping has the value {:.12g}, below {:.12g}", found.attained, least), ""};
      open = open || found.means == Means::kNotDecided;
    }
    if (open) break;
  }
  if (!open) return {true, "", ""};
  // Small map-spaces are enumerated.
  Certificate whole;
  whole.task = task;
  whole.lower_bound = least;
  whole.infeasible = least == kInfinity;
  Part& all = whole.parts.emplace_back();
  all.closed_by = ClosedBy::kSearch;
  all.lower_bound = least;
  all.scope = Part::Scope::kRest;
  all.choices = choices->listed * choices->keeps.size();
  AuditOptions one = options;
  one.share = 1;
  one.threads = 1;
  const AuditReport report = audit(whole, one);
  if (!report.wrong.empty()) return {false, report.wrong.front(), ""};
  if (!report.clean()) return {false, "", report.undecided.empty() ? "not everything" : report.undecided.front()};
  return {true, "", ""};
}

void BoundAudits::add(std::string line, std::shared_ptr<const Accelerator> accelerator, const Layer& layer,
                      Factorization rule, Objective objective, double least) {
  Sized all = sized(*accelerator, accelerator->flexibility_of(layer));
  auto group = std::ranges::find_if(groups_, [&](const Group& one) {
    return one.layer == &layer && one.rule == rule && one.objective == objective && one.form == all.form;
  });
  if (group == groups_.end()) {
    groups_.push_back({&layer, rule, objective, std::move(all.form), {}});
    group = groups_.end() - 1;
  }
  group->asked.push_back({std::move(line), std::move(accelerator), std::move(all.sizes), least});
  ++count_;
}

void BoundAudits::prove(const Group& group, const AuditOptions& options, const std::function<bool()>& late,
                        std::vector<Verdict>& verdicts) {
  std::vector<const Asked*> order, proven;
  for (const Asked& one : group.asked) order.push_back(&one);
  std::ranges::stable_sort(order, [](const Asked* a, const Asked* b) { return a->sizes > b->sizes; });
  const bool every_value_rises = group.objective != Objective::kEdpOverUtilization;
  for (const Asked* one : order) {
    if (late()) return;
    const bool follows = every_value_rises && std::ranges::any_of(proven, [&](const Asked* other) {
                           return other->least >= one->least * (1 - 1e-12) &&
                                  std::ranges::equal(other->sizes, one->sizes, std::greater_equal{});
                         });
    if (follows) {
      verdicts.push_back({one->line, {true, "", ""}});
      continue;
    }
    const Task task{*group.layer, *one->accelerator, one->accelerator->flexibility_of(*group.layer), group.rule,
                    group.objective};
    verdicts.push_back({one->line, audit_bound(task, one->least, options)});
    if (verdicts.back().verdict.holds) proven.push_back(one);
  }
}

std::vector<BoundAudits::Verdict> BoundAudits::run(const AuditOptions& options,
                                                   const std::function<bool()>& late) const {
  std::vector<std::vector<Verdict>> by_group(groups_.size());
  tbb::task_arena(options.threads).execute([&] {
    tbb::parallel_for(std::size_t{0}, groups_.size(),
                      [&](std::size_t g) { prove(groups_[g], options, late, by_group[g]); });
  });
  std::vector<Verdict> all;
  for (std::vector<Verdict>& own : by_group) all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace pliant::audit
