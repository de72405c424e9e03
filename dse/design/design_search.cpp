// SPDX-License-Identifier: Apache-2.0
#include "dse/design/design_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/input/diagnostics.h"
#include "core/legality.h"
#include "costmodel/area.h"
#include "costmodel/report.h"
#include "dse/design/design_rows.h"
#include "dse/design/found_designs.h"
#include "dse/design/search_node.h"
#include "dse/design/task_pool.h"

namespace pliant {

namespace {

using NodePtr = std::unique_ptr<SearchNode>;
using Clock = std::chrono::steady_clock;

/// Boxes whose searches run side by side. Fixed: what is decided must not depend on the machine.
constexpr std::size_t kBatch = 8;

class DesignSearch {
 public:
  DesignSearch(const Library& library, const Sweep& sweep, const DesignSearchOptions& options, TaskStore* store)
      : sweep_(std::make_shared<const Sweep>(sweep)),
        options_(options),
        layers_(sweep),
        goals_(*sweep_->goals, layers_),
        rows_(*sweep_, layers_, goals_),
        ideals_(library, sweep_),
        space_(library, sweep_),
        pool_(*sweep_, store, options.threads > 0 ? options.threads : usable_cores(), options.stop),
        found_(options.gap),
        inner_(space_.size() / space_.hardware_points()) {
    choose_searches();
    order_layers();
    outcome_.progress.designs = space_.size();
  }

  DesignFrontier run() {
    auto root = std::make_unique<SearchNode>();
    root->box = whole_box(*sweep_);
    root->rules.resize(sweep_->factorizations.size());
    for (RuleBounds& rule : root->rules) {
      rule.bounds.resize(layers_.layers.size());
      rule.known.resize(layers_.layers.size());
    }
    place(std::move(root));
    while (!queue_.empty() && !outcome_.interrupted) round();
    finish();
    return std::move(outcome_);
  }

 private:
  /// Which searches bound a box, one stage after the other: what the goals and limits need; then, where a product is
  /// asked for, what else sharpens it.
  void choose_searches() {
    std::array<bool, kBoundObjectives.size()> needed{};
    const auto need = [&](DesignMeasure measure) {
      if (measure == DesignMeasure::kEdp) needed[0] = true;
      if (measure == DesignMeasure::kEnergy) needed[1] = true;
      if (measure == DesignMeasure::kRuntime) needed[2] = true;
    };
    for (const DesignGoals::Goal& goal : sweep_->goals->minimize) need(goal.measure);
    for (const DesignGoals::Limit& limit : sweep_->goals->limits) need(limit.measure);
    std::vector<std::size_t>& first = stages_.emplace_back();
    for (std::size_t k = 0; k < needed.size(); ++k)
      if (needed[k]) first.push_back(k);
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}})
      if (needed[0] && !needed[k]) stages_.push_back({k});
  }

  /// Distinct layers, those with the most work first.
  void order_layers() {
    std::vector<double> work(layers_.layers.size(), 0);
    for (const auto& uses : layers_.workloads)
      for (const DistinctLayers::Use& use : uses)
        work[use.layer] += static_cast<double>(use.count) * static_cast<double>(layers_.layers[use.layer]->macs());
    for (std::size_t i = 0; i < work.size(); ++i) by_size_.push_back(i);
    std::ranges::stable_sort(by_size_, std::greater{}, [&](std::size_t i) { return work[i]; });
  }

  // A node on its way: placed with what is known without a search, taken up in rounds, decided after its searches.

  void place(NodePtr node) {
    node->number = next_number_++;
    if (const auto axis = ideals_.must_split(node->box)) {
      const HardwareBox::Range range = node->box.axes[*axis];
      return divide(*node, *axis, range.first + static_cast<std::int32_t>((range.size() - 1) / 2));
    }
    node->ideal = ideals_.of(node->box);
    node->stage = 0;
    if (node->ideal) {
      if (breaks_constraints(*node)) return close(*node, ClosedBy::kConstraints);
      for (RuleBounds& rule : node->rules)
        for (std::size_t i = 0; i < rule.bounds.size(); ++i)
          rule.bounds[i].raise(compute_bound(*layers_.layers[i], *node->ideal->accelerator));
    }
    bound(*node);
    if (!close_if_possible(*node)) queue(std::move(node));
  }

  void queue(NodePtr node) {
    std::pair<Point, std::int64_t> key{node->least, node->number};
    queue_.emplace(std::move(key), std::move(node));
  }

  void divide(const SearchNode& node, std::size_t axis, std::int32_t last_of_first) {
    auto [low, high] = node.box.split(axis, last_of_first);
    for (HardwareBox* half : {&low, &high}) {
      auto child = std::make_unique<SearchNode>();
      child->box = std::move(*half);
      child->rules = node.rules;
      place(std::move(child));
    }
  }

  bool breaks_constraints(const SearchNode& node) const {
    const auto& numbers = node.ideal->numbers;
    return std::ranges::any_of(sweep_->constraints, [&](const Constraint& constraint) {
      return constraint.never_holds([&](const std::string& name) -> std::optional<Constraint::Interval> {
        const auto found = numbers.find(name);
        return found == numbers.end() ? std::nullopt : std::optional(found->second);
      });
    });
  }

  double area_of(const SearchNode& node) const { return node.ideal ? node.ideal->least_area_um2 : 0; }

  /// The least of every goal over all factorization rules.
  void bound(SearchNode& node) const {
    Point least(sweep_->goals->minimize.size(), std::numeric_limits<double>::infinity());
    for (const RuleBounds& rule : node.rules) {
      if (rule.nothing_fits) continue;
      const Point one = goals_.least(area_of(node), rule.bounds);
      for (std::size_t k = 0; k < least.size(); ++k) least[k] = std::min(least[k], one[k]);
    }
    node.least = std::move(least);
  }

  bool close_if_possible(const SearchNode& node) {
    if (std::ranges::all_of(node.rules, &RuleBounds::nothing_fits)) {
      close(node, ClosedBy::kNothingFits);
    } else if (std::ranges::all_of(node.rules, [&](const RuleBounds& rule) {
                 return rule.nothing_fits || goals_.beyond_limits(area_of(node), rule.bounds);
               })) {
      close(node, ClosedBy::kLimits);
    } else if (const auto design = found_.beating(node.least)) {
      close(node, ClosedBy::kBeaten, *design);
    } else {
      return false;
    }
    return true;
  }

  void close(const SearchNode& node, ClosedBy closed_by, std::int64_t beaten_by = -1) {
    ClosedBox closed{node.box, -1, node.box.points() * inner_, closed_by, area_of(node), node.least, beaten_by};
    outcome_.progress.decided += closed.designs;
    ++outcome_.progress.boxes;
    outcome_.boxes.push_back(std::move(closed));
  }

  // One round: up to kBatch nodes, best bounds first; all their questions at once; decisions in order.

  struct Asked {
    std::size_t node = 0, rule = 0, layer = 0, objective = 0;  ///< of a box
  };

  void round() {
    std::vector<NodePtr> batch;
    while (!queue_.empty() && batch.size() < kBatch) {
      NodePtr node = std::move(queue_.extract(queue_.begin()).mapped());
      if (node->designs ? !close_designs(*node) : !close_if_possible(*node)) batch.push_back(std::move(node));
    }
    std::vector<Question> questions;
    std::vector<Asked> asked;
    asked_.clear();
    for (std::size_t n = 0; n < batch.size(); ++n) {
      if (batch[n]->designs) {
        ask_design(*batch[n], questions);
      } else if (batch[n]->ideal) {
        ask_bounds(*batch[n], n, questions, asked);
      }
    }
    const std::vector<Answer> answers = pool_.answer(questions);
    if (std::ranges::any_of(answers, [](const Answer& answer) { return !answer.result; })) {
      outcome_.interrupted = true;
      return;
    }
    std::size_t next = 0, next_asked = 0;
    for (std::size_t n = 0; n < batch.size(); ++n) {
      if (batch[n]->designs) {
        decide_design(std::move(batch[n]), answers, next);
        continue;
      }
      for (; next_asked < asked.size() && asked[next_asked].node == n; ++next_asked, ++next) {
        const Asked& at = asked[next_asked];
        batch[n]->rules[at.rule].known[at.layer][at.objective] = answers[next].result;
      }
      decide_box(std::move(batch[n]));
    }
    outcome_.interrupted = options_.stop.stop_requested() && !queue_.empty();
    report();
  }

  /// The searches of this node's stage. A mapping that was best in a box around this one, and still is legal and costs
  /// the same here, is best here too: no search.
  void ask_bounds(SearchNode& node, std::size_t n, std::vector<Question>& questions, std::vector<Asked>& asked) {
    for (std::size_t f = 0; f < node.rules.size(); ++f) {
      if (node.rules[f].nothing_fits) continue;
      for (const std::size_t objective : stages_[node.stage]) {
        auto point = std::make_shared<DesignPoint>();
        point->accelerator = node.ideal->accelerator;
        point->factorization = sweep_->factorizations[f];
        point->objective = kBoundObjectives[objective];
        asked_.push_back(point);
        for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
          if (still_best(*point, *layers_.layers[i], node.rules[f].known[i][objective])) continue;
          questions.push_back({point.get(), layers_.layers[i].get()});
          asked.push_back({n, f, i, objective});
        }
      }
    }
  }

  static bool still_best(const DesignPoint& point, const Layer& layer, const std::shared_ptr<const TaskResult>& known) {
    if (!known || !known->certified || known->status != TaskStatus::kSolved) return false;
    const Accelerator& accelerator = *point.accelerator;
    if (!check_legality(layer, accelerator, accelerator.flexibility_of(layer), point.factorization, known->mapping)
             .empty())
      return false;
    const double value = objective_value(point.objective, price(layer, accelerator, known->mapping).totals);
    return std::abs(value - known->value) <= 1e-12 * value;
  }

  void decide_box(NodePtr node) {
    if (node->ideal) {
      for (RuleBounds& rule : node->rules)
        for (std::size_t i = 0; i < rule.known.size(); ++i)
          for (const std::size_t objective : stages_[node->stage])
            if (const auto& result = rule.known[i][objective]) {
              rule.nothing_fits |= result->status == TaskStatus::kNoLegalMapping;
              rule.bounds[i].raise(proven_bound(kBoundObjectives[objective], *result));
            }
      bound(*node);
      if (close_if_possible(*node)) return;
      ++node->stage;
      if (node->stage < stages_.size() && worth_sharpening(*node)) return queue(std::move(node));
    }
    if (node->box.is_point()) return open_point(std::move(node));
    const auto [axis, last] = ideals_.best_split(node->box);
    divide(*node, axis, last);
  }

  /// Would the box be closed if its bounds were as sharp as the mappings found on its ideal allow?
  bool worth_sharpening(const SearchNode& node) const {
    return std::ranges::all_of(node.rules, [&](const RuleBounds& rule) {
      if (rule.nothing_fits) return true;
      LayerBounds found(rule.known.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto& result = rule.known[i][0];
        if (!result || result->status != TaskStatus::kSolved) return false;
        found[i] = {result->energy_pj, result->runtime_cycles, result->value};
      }
      return found_.beating(goals_.hoped(area_of(node), rule.bounds, found)).has_value();
    });
  }

  // The designs of one hardware point, one after the other, the most flexible first: what it cannot do, less flexible
  // ones cannot either.

  void open_point(NodePtr node) {
    std::vector<std::int32_t> positions;
    for (const HardwareBox::Range& range : node->box.axes) positions.push_back(range.first);
    const std::int64_t first = hardware_number(*sweep_, positions) * inner_;
    std::vector<PointDesign>& designs = node->designs.emplace();
    for (std::int64_t id = first; id < first + inner_; ++id) {
      PointDesign one;
      one.design_id = id;
      if (!space_.allowed(id)) {
        close_design(*node, one, ClosedBy::kConstraints);
        continue;
      }
      one.design = std::make_shared<const DesignPoint>(space_.design(id));
      const std::string& name = sweep_->flexibilities[static_cast<std::size_t>(id % inner_ / space_.variants())];
      if (looks_like_class(name)) one.flexibility = parse_flexibility_class(name);
      one.rule = static_cast<std::size_t>(std::ranges::find(sweep_->factorizations, one.design->factorization) -
                                          sweep_->factorizations.begin());
      one.bounds = node->rules[one.rule].bounds;
      one.nothing_fits = node->rules[one.rule].nothing_fits;
      one.answers.resize(layers_.layers.size());
      if (one.design->accelerator) one.area_um2 = area_um2(*one.design->accelerator).total();
      designs.push_back(std::move(one));
    }
    std::ranges::stable_sort(designs, std::greater{}, [](const PointDesign& one) {
      return one.flexibility ? freedom_of(*one.flexibility) : 2 * kAxisCount + 1;
    });
    node->rules.clear();
    if (!close_designs(*node)) queue(std::move(node));
  }

  /// Closes what can be closed; true when nothing is left.
  bool close_designs(SearchNode& node) {
    std::vector<PointDesign> left;
    for (PointDesign& one : *node.designs) {
      const LayerBounds rows = one.of_rows();
      one.least = goals_.least(one.area_um2, rows);
      const bool valid = one.design->accelerator != nullptr;
      if (valid && one.nothing_fits) {
        close_design(node, one, ClosedBy::kNothingFits);
      } else if (valid && goals_.beyond_limits(one.area_um2, rows)) {
        close_design(node, one, ClosedBy::kLimits);
      } else if (const auto design = valid ? found_.beating(one.least) : std::nullopt) {
        close_design(node, one, ClosedBy::kBeaten, *design);
      } else {
        left.push_back(std::move(one));
      }
    }
    *node.designs = std::move(left);
    if (node.designs->empty()) return true;
    node.least = std::ranges::min_element(*node.designs, {}, &PointDesign::least)->least;
    return false;
  }

  void close_design(const SearchNode& node, const PointDesign& one, ClosedBy closed_by, std::int64_t beaten_by = -1) {
    ++outcome_.progress.decided;
    outcome_.boxes.push_back({node.box, one.design_id, 1, closed_by, one.area_um2, one.least, beaten_by});
  }

  /// The next layers of the first design, the largest first: often the design is beaten before all are asked.
  std::vector<std::size_t> next_layers(const PointDesign& one) const {
    std::vector<std::size_t> next;
    if (!one.design->accelerator) return next;
    const std::size_t most = std::max<std::size_t>(4, layers_.layers.size() / 4);
    for (const std::size_t i : by_size_)
      if (!one.answers[i].result && next.size() < most) next.push_back(i);
    return next;
  }

  void ask_design(const SearchNode& node, std::vector<Question>& questions) const {
    const PointDesign& one = node.designs->front();
    for (const std::size_t i : next_layers(one)) questions.push_back({one.design.get(), layers_.layers[i].get()});
  }

  void decide_design(NodePtr node, const std::vector<Answer>& answers, std::size_t& next) {
    PointDesign& one = node->designs->front();
    for (const std::size_t i : next_layers(one)) {
      one.answers[i] = answers[next++];
      one.nothing_fits |= one.answers[i].result->status == TaskStatus::kNoLegalMapping;
      one.bounds[i].raise(proven_bound(one.design->objective, *one.answers[i].result));
      pass_on(one, i, *node->designs);
    }
    if (!one.design->accelerator || one.complete()) {
      OpenedDesign opened = rows_.make(one.design, one.answers);
      if (opened.within_limits) found_.add(opened.design_id, opened.values);
      outcome_.boxes.push_back({node->box, one.design_id, 1, ClosedBy::kOpened, one.area_um2, opened.values, -1});
      outcome_.opened.push_back(std::move(opened));
      ++outcome_.progress.decided;
      ++outcome_.progress.opened;
      node->designs->erase(node->designs->begin());
    }
    if (!node->designs->empty() && !close_designs(*node)) queue(std::move(node));
  }

  /// What is proven of a design holds for those that allow less.
  static void pass_on(const PointDesign& one, std::size_t layer, std::vector<PointDesign>& designs) {
    for (PointDesign& other : designs) {
      if (&other == &one || !one.flexibility || !other.flexibility || one.rule != other.rule) continue;
      if (!contains(*one.flexibility, *other.flexibility)) continue;
      const TaskResult& result = *one.answers[layer].result;
      other.nothing_fits |= result.status == TaskStatus::kNoLegalMapping;
      other.bounds[layer].raise(proven_bound(one.design->objective, result));
    }
  }

  void report() {
    DesignProgress& progress = outcome_.progress;
    progress.frontier = static_cast<std::int64_t>(found_.size());
    progress.solved = pool_.solved();
    progress.reused = pool_.reused();
    progress.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (options_.on_progress) options_.on_progress(progress);
  }

  void finish() {
    std::ranges::sort(outcome_.opened, {}, &OpenedDesign::design_id);
    std::vector<Point> values;
    std::vector<std::size_t> of;
    for (std::size_t k = 0; k < outcome_.opened.size(); ++k) {
      if (!outcome_.opened[k].within_limits) continue;
      values.push_back(outcome_.opened[k].values);
      of.push_back(k);
    }
    if (!values.empty())
      for (const std::size_t k : non_dominated(values)) outcome_.frontier.push_back(of[k]);
    outcome_.search_seconds = pool_.search_seconds();
    report();
  }

  std::shared_ptr<const Sweep> sweep_;
  const DesignSearchOptions& options_;
  DistinctLayers layers_;
  GoalBounds goals_;
  DesignRows rows_;
  IdealDesigns ideals_;
  DesignSpace space_;
  TaskPool pool_;
  FoundDesigns found_;
  std::int64_t inner_;                                       ///< designs of a hardware point
  std::vector<std::vector<std::size_t>> stages_;             ///< of kBoundObjectives
  std::vector<std::size_t> by_size_;                         ///< distinct layers
  std::map<std::pair<Point, std::int64_t>, NodePtr> queue_;  ///< the least bounds first
  std::vector<std::shared_ptr<const DesignPoint>> asked_;    ///< of this round's questions
  std::int64_t next_number_ = 0;
  DesignFrontier outcome_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

std::string_view to_string(ClosedBy closed_by) {
  constexpr std::array<std::string_view, kClosedByCount> kWords = {"beaten", "constraints", "limits", "nothing_fits",
                                                                   "opened"};
  return kWords[static_cast<std::size_t>(closed_by)];
}

void check_design_sweep(const Sweep& sweep) {
  const auto refuse = [&](std::string key, std::string what, std::string expected) {
    return InputError(Diagnostic{sweep.name, 0, 0, std::move(key), std::move(what), std::move(expected), ""});
  };
  if (!sweep.goals) throw refuse("minimize", "missing", "one to three columns, such as [area_um2, edp_pj_cycles]");
  if (sweep.mapper != "exact") throw refuse("mapper", "the mapper " + sweep.mapper + " proves no bounds", "exact");
}

DesignFrontier search_designs(const Library& library, const Sweep& sweep, const DesignSearchOptions& options,
                              TaskStore* store) {
  check_design_sweep(sweep);
  return DesignSearch(library, sweep, options, store).run();
}

}  // namespace pliant
