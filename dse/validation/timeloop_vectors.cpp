// SPDX-License-Identifier: Apache-2.0
#include "dse/validation/timeloop_vectors.h"

#include <cmath>
#include <functional>
#include <map>

#include "costmodel/report.h"
#include "dse/validation/reference_bookkeeping.h"

namespace pliant {

namespace {

using nlohmann::json;

Accelerator read_accelerator(const json& record) {
  Accelerator accelerator;
  accelerator.name = record.at("name");
  accelerator.conventions = Conventions::timeloop();
  for (const json& item : record.at("levels")) {
    Level level;
    level.name = item.at("name");
    const std::string kind = item.at("kind");
    if (kind == "memory") {
      Memory memory;
      if (!item.at("size_words").is_null()) memory.capacity_words = item.at("size_words").get<Count>();
      if (!item.at("read_bw").is_null()) memory.read_words_per_cycle = item.at("read_bw").get<double>();
      if (!item.at("write_bw").is_null()) memory.write_words_per_cycle = item.at("write_bw").get<double>();
      memory.read_pj = item.at("energy_pj").at("read");
      memory.write_pj = item.at("energy_pj").at("write");
      memory.update_pj = item.at("energy_pj").at("update");
      memory.may_bypass = {true, true, true};
      level.part = memory;
    } else if (kind == "fanout") {
      Fanout fanout;
      fanout.cols = item.at("x");
      fanout.rows = item.at("y");
      level.part = fanout;
    } else {
      Compute compute;
      compute.mac_pj = item.at("energy_pj").at("compute");
      level.part = compute;
    }
    accelerator.levels.push_back(std::move(level));
  }
  accelerator.flexibility.levels.resize(accelerator.levels.size());
  return accelerator;
}

Layer read_layer(const json& record) {
  Layer layer;
  layer.name = record.at("name");
  for (const auto& [name, size] : record.at("dims").items()) layer.dims.push_back({name, size.get<Count>()});
  for (const json& item : record.at("tensors")) {
    Tensor tensor;
    tensor.name = item.at("name");
    tensor.role = item.at("output").get<bool>() ? Role::kOutput
                  : tensor.name == "Weights"    ? Role::kWeight
                                                : Role::kInput;
    for (const json& rank : item.at("projection")) {
      Rank terms;
      for (const json& term : rank)
        terms.terms.push_back({layer.find_dim(term.at(0).get<std::string>()), term.at(1).get<Count>()});
      tensor.ranks.push_back(std::move(terms));
    }
    layer.tensors.push_back(std::move(tensor));
  }
  return layer;
}

Mapping read_mapping(const json& record, const Layer& layer, const Accelerator& accelerator) {
  Mapping mapping;
  mapping.levels.resize(accelerator.levels.size());
  for (const json& item : record) {
    const int l = accelerator.find_level(item.at("level").get<std::string>());
    for (const json& keep : item.at("keep"))
      mapping.levels[l].keeps |= TensorSet{1} << layer.find_tensor(keep.get<std::string>());
    for (const json& loop : item.at("temporal"))
      mapping.levels[l].temporal.push_back(
          {layer.find_dim(loop.at("dim").get<std::string>()), loop.at("bound").get<Count>()});
    for (const json& loop : item.at("spatial"))
      mapping.levels[l + 1].spatial.push_back({layer.find_dim(loop.at("dim").get<std::string>()),
                                               loop.at("bound").get<Count>(),
                                               loop.at("axis") == "X" ? Side::kCols : Side::kRows});
  }
  return mapping;
}

ReferenceNest read_reference_nest(const json& record, const Layer& layer, const Accelerator& accelerator) {
  ReferenceNest nest{&layer, &accelerator, {}, {}, {}};
  for (const json& item : record) {
    const int memory = static_cast<int>(nest.levels.size());
    nest.levels.push_back(accelerator.find_level(item.at("level").get<std::string>()));
    nest.keeps.push_back(0);
    for (const json& keep : item.at("keep"))
      nest.keeps.back() |= TensorSet{1} << layer.find_tensor(keep.get<std::string>());
    for (const bool spatial : {false, true})
      for (const json& loop : item.at(spatial ? "spatial" : "temporal"))
        nest.loops.push_back({memory, spatial, layer.find_dim(loop.at("dim").get<std::string>()),
                              loop.at("bound").get<Count>(), loop.at("residual").get<Count>()});
  }
  return nest;
}

/// A number of the prediction, given which habit is repaired.
using Predicted = std::function<double(const Prediction&)>;

/// What a number must be if it follows from others that the reference states.
struct Derived {
  std::vector<std::string> sources;
  double value = 0;
};

/// Compares one vector number by number.
class Comparison {
 public:
  Comparison(const json& record, ValidationResult& result)
      : record_(record), result_(result), id_(record.at("id").get<std::string>()) {
    perfect_ = record.at("factorization") == "perfect";
    computes_exact_ = record.at("computes_exact");
    TimeloopCase priced = read_timeloop_case(record);
    layer_ = std::move(priced.layer);
    accelerator_ = std::move(priced.accelerator);
    mapping_ = std::move(priced.mapping);
    // The plain results walk two iterations of every loop; the full walk is given where it was run and differs.
    full_walk_ = record.contains("results_full_walk");
    if (!full_walk_) accelerator_.conventions.halo = Conventions::Halo::kTwoIterations;
    if (!perfect_) {
      nest_ = read_reference_nest(record.at("mapping"), layer_, accelerator_);
      predictions_[Habit::kNone] = predict_reference(nest_);
    }
  }

  void run() {
    const CostReport report = price(layer_, accelerator_, mapping_);
    const json& expected = record_.at(full_walk_ ? "results_full_walk" : "results");
    const auto number = [&expected](const char* key) { return expected.at(key).get<double>(); };
    // The reference multiplies operations per instance with a fractional number of instances and cuts the fraction off.
    const double one = perfect_ ? 0 : 1;
    compare("computes", expected.at("computes"), report.macs, one, [](const Prediction& p) { return p.computes; });
    compare("cycles", expected.at("cycles"), report.totals.cycles, 0, [](const Prediction& p) { return p.cycles; });
    compare("compute_cycles", expected.at("compute_cycles"), report.totals.steps, 0,
            [](const Prediction& p) { return p.compute_cycles; });
    compare("utilization", expected.at("utilization"), report.totals.utilization, (1e-9 + one / report.macs),
            [](const Prediction& p) { return p.utilization; },
            {{"computes", "cycles"}, number("computes") / report.units / number("cycles")});
    const double mac_pj = accelerator_.levels.back().compute().mac_pj;
    compare("compute_energy_pj", expected.at("compute_energy_pj"), report.mac_energy_pj,
            one * mac_pj + 1e-9 * report.mac_energy_pj, [](const Prediction& p) { return p.compute_energy_pj; },
            {{"computes"}, number("computes") * mac_pj});
    Derived energy_of_parts{{"compute_energy_pj"}, number("compute_energy_pj")};
    int memory = 0;
    for (const json& item : expected.at("levels")) {
      const int l = accelerator_.find_level(item.at("level").get<std::string>());
      if (l < 0 || !report.levels[l].memory) continue;
      compare_level(item, report.levels[l], memory++);
      energy_of_parts.sources.push_back(report.levels[l].name + ".energy_pj");
      energy_of_parts.value += item.at("energy_pj").get<double>();
    }
    const double energy = expected.at("energy_pj");
    compare(
        "energy_pj", energy, report.totals.energy_pj, 1e-9 * energy, [](const Prediction& p) { return p.energy_pj; },
        energy_of_parts);
    ++result_.vectors;
    if (wrong_) {
      ++result_.mismatched_vectors;
    } else if (excused_) {
      ++result_.excused_vectors;
    }
  }

 private:
  void compare_level(const json& item, const LevelCost& level, int memory) {
    const double energy = item.at("energy_pj");
    compare(level.name + ".energy_pj", energy, level.energy_pj, 1e-9 * energy,
            [memory](const Prediction& p) { return p.level_energy_pj[memory]; });
    for (const auto& [name, counts] : item.at("tensors").items()) {
      const int x = layer_.find_tensor(name);
      const TensorCost& tensor = level.tensors[x];
      const std::string prefix = level.name + "." + name + ".";
      const auto of = [memory, x](double ReferenceCounts::*field) {
        return [memory, x, field](const Prediction& p) { return p.counts[memory][x].*field; };
      };
      compare(prefix + "kept", counts.at("kept").get<bool>() ? 1 : 0, tensor.kept ? 1 : 0, 0, nullptr);
      if (!tensor.kept) continue;
      const double instances = level.instances_average;
      // Remainders: the reference rounds to whole words per instance before it multiplies.
      const auto slack = [this](double words) { return perfect_ ? 0 : 0.5 + 1e-9 * words; };
      const double reads = counts.at("reads"), fills = counts.at("fills"), updates = counts.at("updates");
      compare(prefix + "reads", reads, tensor.reads / instances, slack(reads), of(&ReferenceCounts::reads));
      compare(prefix + "fills", fills, tensor.fills / instances, slack(fills), of(&ReferenceCounts::fills));
      compare(prefix + "updates", updates, tensor.updates / instances, slack(updates), of(&ReferenceCounts::updates));
      compare(prefix + "tile_size", counts.at("tile_size"), tensor.tile_words, 0, of(&ReferenceCounts::tile_words));
      compare(prefix + "instances", counts.at("instances"), instances, 1e-9 * instances,
              of(&ReferenceCounts::instances));
    }
  }

  void compare(const std::string& quantity, double theirs, double ours, double tolerance, const Predicted& predicted,
               const Derived& derived = {}) {
    ++result_.compared;
    if (std::abs(theirs - ours) <= tolerance) return;
    Mismatch mismatch{id_, quantity, theirs, ours, excuse(theirs, predicted)};
    if (mismatch.excuse.empty()) mismatch.excuse = excuse_of_sources(theirs, derived);
    if (!mismatch.excuse.empty()) excuses_[quantity] = mismatch.excuse;
    (mismatch.excuse.empty() ? wrong_ : excused_) = true;
    (mismatch.excuse.empty() ? result_.mismatches : result_.excused).push_back(std::move(mismatch));
  }

  /// Why a difference is the reference's and not ours; "" = nothing excuses it.
  std::string excuse(double theirs, const Predicted& predicted) {
    if (perfect_ || !predicted) return "";
    const double all = predicted(predictions_[Habit::kNone]);
    // Sums of products in another order; operations are cut to whole numbers.
    const double tolerance = 1 / layer_macs() + 1e-9;
    if (std::abs(theirs - all) > tolerance * std::abs(theirs))
      return computes_exact_ ? "" : "the reference miscounts its own operations here (computes_exact is false)";
    std::string reasons;
    for (const Habit habit : kHabits) {
      if (!predictions_.contains(habit)) predictions_[habit] = predict_reference(nest_, habit);
      if (predicted(predictions_[habit]) == all) continue;
      reasons += reasons.empty() ? "" : "; ";
      reasons += describe(habit);
    }
    return reasons.empty() ? std::string(describe(Habit::kNone)) : reasons;
  }

  /// A number that follows from excused ones, exactly as the reference states those, is excused with them.
  std::string excuse_of_sources(double theirs, const Derived& derived) const {
    constexpr double kRounding = 1e-9;
    if (!(std::abs(theirs - derived.value) <= kRounding * std::abs(theirs))) return "";
    for (const std::string& source : derived.sources)
      if (const auto found = excuses_.find(source); found != excuses_.end()) return found->second;
    return "";
  }

  double layer_macs() const { return static_cast<double>(layer_.macs()); }

  const json& record_;
  ValidationResult& result_;
  const std::string id_;
  bool perfect_ = true, computes_exact_ = true, full_walk_ = false;
  bool wrong_ = false, excused_ = false;
  std::map<std::string, std::string> excuses_;  ///< by quantity
  Accelerator accelerator_;
  Layer layer_;
  Mapping mapping_;
  ReferenceNest nest_;
  std::map<Habit, Prediction> predictions_;
};

}  // namespace

TimeloopCase read_timeloop_case(const json& record) {
  TimeloopCase read;
  read.layer = read_layer(record.at("problem"));
  read.accelerator = read_accelerator(record.at("arch"));
  read.mapping = read_mapping(record.at("mapping"), read.layer, read.accelerator);
  return read;
}

void validate_timeloop_vector(const json& record, ValidationResult& result) { Comparison(record, result).run(); }

}  // namespace pliant
