// SPDX-License-Identifier: Apache-2.0
#include "dse/design/design_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "dse/design/box_bounds.h"
#include "dse/design/found_designs.h"
#include "dse/design/point_designs.h"
#include "dse/design/search_pace.h"
#include "dse/design/served_nodes.h"
#include "dse/design/shared_designs.h"
#include "dse/design/task_pool.h"
#include "dse/design/trimmed_proof.h"
#include "dse/sweep/deadline.h"

namespace pliant {

namespace {

using NodePtr = std::unique_ptr<SearchNode>;

/// Boxes of a round, and rounds at once: while one is decided and the next one planned, threads search for the other.
/// Fixed: what is decided must not depend on the machine.
constexpr std::size_t kBoxesOfRound = 4;
constexpr std::size_t kRounds = 2;

/// A box of so many hardware points is taken up long after it was placed: good bounds meanwhile say how far the proof
/// is.
constexpr std::int64_t kLargeBox = 256;

/// Seconds between two looks at how far the proof is.
constexpr double kBetweenLooks = 1;

/// The least bounds first; of equal ones the smallest box, which is nearest to a design; then the eldest.
using Rank = std::tuple<Point, std::int64_t, std::int64_t>;

class DesignSearch {
 public:
  DesignSearch(const Library& library, const Sweep& sweep, const DesignSearchOptions& options, TaskStore* store)
      : sweep_(std::make_shared<const Sweep>(sweep)),
        options_(options),
        layers_(sweep),
        goals_(*sweep_, layers_),
        rows_(*sweep_, layers_, goals_),
        ideals_(library, sweep_),
        space_(library, sweep_),
        pool_(*sweep_, store, options.threads > 0 ? options.threads : usable_cores(), options.stop),
        mappings_(*sweep_, layers_, pool_),
        boxes_(*sweep_, layers_, goals_, mappings_, ideals_.has_choices(), options.gap, options.proven),
        points_(layers_, goals_, mappings_, space_, boxes_.needs(), boxes_.line_gap(), options.proven),
        found_(options.gap),
        inner_(space_.size() / space_.hardware_points()) {
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
    if (options_.shard.count > 1) {
      std::vector<HardwareBox> boxes = boxes_of_shard(ideals_, root->box, options_.shard);
      outcome_.progress.designs = 0;
      for (const HardwareBox& box : boxes) outcome_.progress.designs += box.points() * inner_;
      divide(*root, std::move(boxes));
    } else {
      place(std::move(root));
    }
    for (;;) {
      while (rounds_.size() < kRounds && !queue_.empty() && !outcome_.interrupted) plan(rounds_.emplace_back(pool_));
      if (rounds_.empty() || outcome_.interrupted) break;
      decide(rounds_.front());
      rounds_.pop_front();
      outcome_.interrupted |= options_.stop.stop_requested() && !(queue_.empty() && rounds_.empty());
      report();
    }
    for (Round& round : rounds_) leave(round);
    rounds_.clear();
    finish();
    return std::move(outcome_);
  }

 private:
  // A node on its way: placed with what is known without a search, taken up in rounds, decided after its searches.

  void place(NodePtr node) {
    node->number = next_number_++;
    if (ideals_.must_split(node->box)) return divide(*node, ideals_.parts(node->box));
    node->ideal = ideals_.of(node->box);
    if (node->ideal) {
      if (node->ideal->contradicts) return close(*node, ClosedBy::kNothingFits);
      if (breaks_constraints(*node)) return close(*node, ClosedBy::kConstraints);
      if (sweep_->deadlines) set_deadlines(*node->ideal);
      node->ideal->serving = serving_floors(*sweep_, node->ideal->accelerator);
      raise(node->ideal->serving, node->serving);
      boxes_.begin(*node);
      if (node->box.points() >= kLargeBox) boxes_.raise_to_floors(*node);
    }
    bound(*node);
    if (!close_if_possible(*node)) queue(std::move(node));
  }

  void set_deadlines(IdealDesign& ideal) const {
    const HardwareFacts facts = facts_of(ideal);
    for (const Workload& workload : sweep_->workloads)
      ideal.deadlines.push_back(most_cycles(sweep_->result_limits, workload, facts.clock_hz, facts.numbers));
  }

  void queue(NodePtr node) {
    Rank rank{node->least, node->box.points(), node->number};
    queue_.emplace(std::move(rank), std::move(node));
  }

  void divide(const SearchNode& node, std::vector<HardwareBox> parts) {
    for (HardwareBox& part : parts) {
      auto child = std::make_unique<SearchNode>();
      child->box = std::move(part);
      child->rules = node.rules;
      child->serving = node.ideal ? node.ideal->serving : node.serving;
      place(std::move(child));
    }
  }

  bool breaks_constraints(const SearchNode& node) const {
    const HardwareFacts facts = facts_of(*node.ideal);
    return std::ranges::any_of(sweep_->constraints,
                               [&](const Constraint& constraint) { return constraint.never_holds(facts.numbers); });
  }

  static HardwareFacts facts_of_node(const SearchNode& node) {
    return node.ideal ? facts_of(*node.ideal) : HardwareFacts{};
  }

  /// The least of every goal over all factorization rules.
  void bound(SearchNode& node) const {
    const HardwareFacts facts = facts_of_node(node);
    Point least(sweep_->goals->minimize.size(), kInfinity);
    for (const RuleBounds& rule : node.rules) {
      if (rule.nothing_fits) continue;
      const Point one = goals_.least(facts, rule.bounds);
      for (std::size_t k = 0; k < least.size(); ++k) least[k] = std::min(least[k], one[k]);
    }
    node.least = std::move(least);
  }

  bool close_if_possible(const SearchNode& node) {
    if (std::ranges::all_of(node.rules, &RuleBounds::nothing_fits)) {
      close(node, ClosedBy::kNothingFits);
    } else if (std::ranges::all_of(node.rules, [&](const RuleBounds& rule) {
                 return rule.nothing_fits || goals_.beyond_limits(facts_of_node(node), rule.bounds);
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
    ClosedBox closed{node.box,   -1,       node.box.points() * inner_, closed_by, facts_of_node(node).least_area_um2,
                     node.least, beaten_by};
    if (options_.proven != nullptr) keep_proof(node, closed);
    outcome_.progress.decided += closed.designs;
    ++outcome_.progress.boxes;
    outcome_.boxes.push_back(std::move(closed));
  }

  /// For a certificate: of what a design beats, the fewest layers whose bounds close it.
  void keep_proof(const SearchNode& node, ClosedBox& closed) const {
    std::vector<LayerBounds> rules;
    for (const RuleBounds& rule : node.rules)
      if (!rule.nothing_fits) rules.push_back(rule.bounds);
    TrimmedProof few = fewest(closed, facts_of_node(node), rules, node.ideal ? node.ideal->accelerator : nullptr);
    closed.proof = proof_of(node, std::move(few));
  }

  void keep_proof(const PointDesign& one, ClosedBox& closed) {
    TrimmedProof few = fewest(closed, points_.facts(one), {one.of_rows()}, one.design->accelerator);
    closed.proof = proof_of(one, std::move(few), *options_.proven);
  }

  TrimmedProof fewest(const ClosedBox& closed, const HardwareFacts& facts, const std::vector<LayerBounds>& rules,
                      const std::shared_ptr<const Accelerator>& accelerator) const {
    if (closed.closed_by == ClosedBy::kBeaten && accelerator)
      if (auto few = trimmed(goals_, layers_, found_, facts, rules, *accelerator)) return std::move(*few);
    return {std::vector<bool>(layers_.layers.size(), true), closed.least};
  }

  // A round: up to kBoxesOfRound nodes, best bounds first; all their questions at once; decisions in order.

  struct Asked {
    std::size_t node = 0;
    BoxBounds::Asked what;
  };
  struct Round {
    explicit Round(TaskPool& pool) : questions(pool) {}
    std::vector<NodePtr> nodes;
    std::vector<Asked> asked;
    TaskPool::Batch questions;
  };

  void plan(Round& round) {
    hear_others();
    while (!queue_.empty() && round.nodes.size() < kBoxesOfRound) {
      NodePtr node = std::move(queue_.extract(queue_.begin()).mapped());
      if (node->designs ? close_designs(*node) : close_if_possible(*node)) continue;
      if (node->designs) points_.choose_next(*node->designs);
      if (asks_serving(*sweep_, *node, inner_)) {
        const bool answered = serve_node(*sweep_, *node, options_.stop);
        if (!node->designs) bound(*node);
        if (answered && (node->designs ? close_designs(*node) : close_if_possible(*node))) continue;
        queue(std::move(node));
        if (answered) continue;
        outcome_.interrupted = true;
        return;
      }
      if (node->designs) {
        PointDesign& one = node->designs->front();
        points_.plan(one, found_);
        for (const PointDesign::Search& search : one.searches)
          round.questions.ask(
              {one.design, layers_.layers[search.layer].get(), layers_.networks[search.layer], search.bound});
      } else {
        if (node->ideal && boxes_.raise_to_floors(*node, found_)) {
          bound(*node);
          if (close_if_possible(*node)) continue;
        }
        const std::vector<BoxBounds::Asked> next =
            node->ideal ? boxes_.next(*node, found_) : std::vector<BoxBounds::Asked>{};
        if (next.empty()) {
          divide_or_open(std::move(node));
          continue;
        }
        for (const BoxBounds::Asked& what : next) {
          round.questions.ask(
              {boxes_.design(*node, what), layers_.layers[what.layer].get(), layers_.networks[what.layer], what.bound});
          round.asked.push_back({round.nodes.size(), what});
        }
      }
      round.nodes.push_back(std::move(node));
    }
  }

  void decide(Round& round) {
    const std::vector<PoolAnswer> answers = round.questions.answers();
    if (std::ranges::any_of(answers, [](const PoolAnswer& answer) { return !answer.result; })) {
      outcome_.interrupted = true;
      return leave(round);
    }
    std::size_t next = 0, next_asked = 0;
    for (std::size_t n = 0; n < round.nodes.size(); ++n) {
      NodePtr node = std::move(round.nodes[n]);
      if (node->designs) {
        decide_design(std::move(node), answers, next);
        continue;
      }
      for (; next_asked < round.asked.size() && round.asked[next_asked].node == n; ++next_asked, ++next)
        boxes_.note(*node, round.asked[next_asked].what, answers[next].result);
      bound(*node);
      if (!close_if_possible(*node)) queue(std::move(node));
    }
  }

  /// Its boxes are open still.
  void leave(Round& round) {
    round.questions.answers();
    for (NodePtr& node : round.nodes) queue(std::move(node));
    round.nodes.clear();
  }

  /// What other shards have found closes boxes of this one; whether it is told in time changes what is searched only.
  void hear_others() {
    if (options_.others == nullptr) return;
    for (const auto& [design, values] : options_.others->news())
      if (values.size() == sweep_->goals->minimize.size()) found_.add(design, values);
  }

  /// What no search can close.
  void divide_or_open(NodePtr node) {
    if (!node->box.is_point()) return divide(*node, ideals_.parts(node->box));
    for (const PointDesign& one : points_.open(*node)) close_design(*node, one, ClosedBy::kConstraints);
    node->rules.clear();
    if (!close_designs(*node)) queue(std::move(node));
  }

  /// Closes what can be closed; true when nothing is left.
  bool close_designs(SearchNode& node) {
    std::vector<PointDesign> left;
    for (PointDesign& one : *node.designs) {
      const LayerBounds rows = one.of_rows();
      const HardwareFacts facts = points_.facts(one);
      if (one.stale) one.least = goals_.least(facts, rows);
      one.stale = false;
      const bool valid = one.design->accelerator != nullptr;
      if (valid && one.nothing_fits) {
        close_design(node, one, ClosedBy::kNothingFits);
      } else if (valid && goals_.beyond_limits(facts, rows)) {
        close_design(node, one, ClosedBy::kLimits);
      } else if (const auto design = !valid           ? std::nullopt
                                     : one.complete() ? found_.matching(one.least)
                                                      : found_.beating(one.least)) {
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
    outcome_.boxes.push_back({node.box, one.design_id, 1, closed_by, one.area_um2, one.least, beaten_by, {}});
    if (options_.proven != nullptr) keep_proof(one, outcome_.boxes.back());
  }

  void decide_design(NodePtr node, const std::vector<PoolAnswer>& answers, std::size_t& next) {
    PointDesign& one = node->designs->front();
    for (const PointDesign::Search& search : one.searches) points_.note(one, search, answers[next++], *node->designs);
    // A design that turns out to be no better than one found needs no rows.
    const std::int64_t asked = one.design_id;
    if (close_designs(*node)) return;
    open_if_complete(*node, asked);
    if (!node->designs->empty() && !close_designs(*node)) queue(std::move(node));
  }

  void open_if_complete(SearchNode& node, std::int64_t asked) {
    PointDesign& one = node.designs->front();
    if (one.design_id == asked && (!one.design->accelerator || one.complete())) {
      OpenedDesign opened = rows_.make(
          one.design, one.answers, one.served,
          [&](const std::string& name) { return space_.value(one.design_id, name); }, pool_);
      if (opened.within_limits) found_.add(opened.design_id, opened.values);
      if (opened.within_limits && options_.others != nullptr) options_.others->tell(opened.design_id, opened.values);
      outcome_.boxes.push_back({node.box, one.design_id, 1, ClosedBy::kOpened, one.area_um2, opened.values, -1, {}});
      if (options_.proven != nullptr) keep_proof(one, outcome_.boxes.back());
      outcome_.opened.push_back(std::move(opened));
      ++outcome_.progress.decided;
      ++outcome_.progress.opened;
      node.designs->erase(node.designs->begin());
    }
  }

  void report(bool last = false) {
    DesignProgress& progress = outcome_.progress;
    progress.frontier = static_cast<std::int64_t>(found_.size());
    progress.solved = pool_.solved();
    progress.reused = pool_.reused();
    progress.seconds = real_clock().wall_seconds() - start_;
    if (!options_.on_progress && !last) return;
    // Comparing everything that is open with everything found takes longer than many rounds.
    if (last || progress.seconds >= next_look_) {
      progress.gap = proven_gap();
      next_look_ = progress.seconds + kBetweenLooks;
    }
    pace_.note(progress.seconds, static_cast<double>(progress.decided) / static_cast<double>(progress.designs));
    progress.seconds_left = pace_.seconds_left();
    if (options_.on_progress) options_.on_progress(progress);
  }

  std::optional<double> proven_gap() const {
    double gap = options_.gap;
    const auto look_at = [&](const SearchNode& node) {
      if (!node.designs) {
        gap = std::max(gap, found_.distance(node.least));
      } else {
        for (const PointDesign& one : *node.designs)
          if (one.design->accelerator) gap = std::max(gap, found_.distance(one.least));
      }
    };
    for (const auto& [rank, node] : queue_) look_at(*node);
    for (const Round& round : rounds_)
      for (const NodePtr& node : round.nodes)
        if (node) look_at(*node);
    return std::isfinite(gap) ? std::optional(gap) : std::nullopt;
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
    report(true);
  }

  std::shared_ptr<const Sweep> sweep_;
  const DesignSearchOptions& options_;
  DistinctLayers layers_;
  GoalBounds goals_;
  DesignRows rows_;
  IdealDesigns ideals_;
  DesignSpace space_;
  TaskPool pool_;
  KnownMappings mappings_;
  BoxBounds boxes_;
  PointDesigns points_;
  FoundDesigns found_;
  std::int64_t inner_;             ///< designs of a hardware point
  std::map<Rank, NodePtr> queue_;  ///< the least bounds first
  std::deque<Round> rounds_;       ///< planned and not yet decided, the eldest first
  std::int64_t next_number_ = 0;
  DesignFrontier outcome_;
  double start_ = real_clock().wall_seconds();
  SearchPace pace_;
  double next_look_ = 0;  ///< seconds
};

}  // namespace

DesignFrontier search_designs(const Library& library, const Sweep& sweep, const DesignSearchOptions& options,
                              TaskStore* store) {
  check_design_sweep(sweep);
  check_design_conventions(library, sweep);
  DesignFrontier found = DesignSearch(library, sweep, options, store).run();
  const auto no_design = [](const ClosedBox& box) { return box.closed_by == ClosedBy::kConstraints; };
  if (!found.interrupted && options.shard.count == 1 && std::ranges::all_of(found.boxes, no_design))
    throw no_design_left(library, std::make_shared<const Sweep>(sweep));
  return found;
}

}  // namespace pliant
