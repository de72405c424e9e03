// SPDX-License-Identifier: Apache-2.0
// Of the checker: what concerns the mapping as a whole. core/legality_levels.cpp has the rules of single levels.
#include "core/legality.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/legality_judge.h"

namespace pliant {

namespace legality {

std::string text(Wide value) {
  return value >= kHuge      ? std::string("more than 1e30")
         : value > INT64_MAX ? std::string("more than 9.2e18")
                             : std::to_string(static_cast<Count>(value));
}

std::vector<Violation> Judge::check() {
  if (!well_formed()) return std::move(found_);  // nothing else means anything then
  for (std::size_t d = 0; d < layer_.dims.size(); ++d) check_chain(d);
  check_homes();
  tiles_.assign(layer_.dims.size(), 1);
  for (std::size_t k = accelerator_.levels.size(); k-- > 0;) {
    const Level& level = accelerator_.levels[k];
    grow_tiles(k);
    if (level.is_memory()) check_memory(k);
    if (level.is_fanout()) check_fanout(k);
  }
  return std::move(found_);
}

void Judge::refuse(Rule rule, std::string level, std::string tensor, std::string dim, double needed, double available,
                   std::string message) {
  found_.push_back({rule, std::move(level), std::move(tensor), std::move(dim), needed, available, std::move(message)});
}

const LevelFlexibility& Judge::rules(std::size_t k) const {
  static const LevelFlexibility unrestricted;
  return k < flexibility_.levels.size() ? flexibility_.levels[k] : unrestricted;
}

// 1. The mapping speaks about these levels, these dims and these tensors, with positive bounds.
bool Judge::well_formed() {
  const std::size_t levels = accelerator_.levels.size();
  if (mapping_.levels.size() != levels) {
    malformed({}, {}, static_cast<double>(mapping_.levels.size()), static_cast<double>(levels),
              "the mapping has " + std::to_string(mapping_.levels.size()) + " levels, the accelerator " +
                  std::to_string(levels));
    return false;
  }
  if (!mapping_.padded.empty() && rule_ != Factorization::kPadding)
    malformed({}, {}, 0, 0, "padded sizes are given, but the factorization rule is " + std::string(to_string(rule_)));
  if (!mapping_.padded.empty() && mapping_.padded.size() != layer_.dims.size())
    malformed({}, {}, static_cast<double>(mapping_.padded.size()), static_cast<double>(layer_.dims.size()),
              "padded sizes must be given for all " + std::to_string(layer_.dims.size()) + " dims or for none");
  for (std::size_t k = 0; k < levels; ++k) {
    const Level& level = accelerator_.levels[k];
    const LevelMapping& loops = mapping_.levels[k];
    if (!level.is_memory() && !loops.temporal.empty())
      malformed(level.name, {}, 0, 0, level.name + " is not a memory and cannot have temporal loops");
    if (!level.is_fanout() && !loops.spatial.empty())
      malformed(level.name, {}, 0, 0, level.name + " is not a fanout and cannot have spatial loops");
    if (!level.is_memory() && loops.keeps != 0)
      malformed(level.name, {}, 0, 0, level.name + " is not a memory and cannot keep tensors");
    if (loops.keeps >> layer_.tensors.size() != 0)
      malformed(level.name, {}, 0, 0, level.name + " keeps a tensor that the layer does not have");
    DimSet temporal = 0, rows = 0, cols = 0;
    for (const Loop& loop : loops.temporal) check_loop(level, loop.dim, loop.bound, temporal);
    for (const SpatialLoop& loop : loops.spatial)
      check_loop(level, loop.dim, loop.bound, loop.side == Side::kRows ? rows : cols);
  }
  return found_.empty();
}

void Judge::check_loop(const Level& level, int dim, Count bound, DimSet& seen) {
  if (dim < 0 || static_cast<std::size_t>(dim) >= layer_.dims.size()) {
    malformed(level.name, {}, dim, static_cast<double>(layer_.dims.size()),
              "a loop at " + level.name + " is over a dim that the layer does not have");
    return;
  }
  if (bound < 1)
    malformed(level.name, dim_name(dim), static_cast<double>(bound), 1,
              "the bound of " + dim_name(dim) + " at " + level.name + " is " + std::to_string(bound) +
                  "; a loop runs at least once");
  if (seen >> dim & 1)
    malformed(level.name, dim_name(dim), 2, 1, dim_name(dim) + " has two loops in one place at " + level.name);
  seen |= DimSet{1} << dim;
}

// 2. Coverage and factorization: along each dim, walk the loops from the innermost outwards. What is left to iterate
// starts at D; a loop of bound b leaves ceil(left / b). It is perfect when b divides what is left (Ruby's R = P).
std::vector<Judge::ChainLoop> Judge::chain(std::size_t d) const {
  std::vector<ChainLoop> loops;
  const int dim = static_cast<int>(d);
  for (std::size_t k = accelerator_.levels.size(); k-- > 0;) {
    for (const Side side : {Side::kCols, Side::kRows})
      for (const SpatialLoop& loop : mapping_.levels[k].spatial)
        if (loop.dim == dim && loop.side == side) loops.push_back({k, loop.bound, true});
    for (const Loop& loop : mapping_.levels[k].temporal)
      if (loop.dim == dim) loops.push_back({k, loop.bound, false});
  }
  return loops;
}

bool Judge::may_be_imperfect(const ChainLoop& loop) const {
  switch (rule_) {
    case Factorization::kPerfect:
    case Factorization::kPadding: return false;
    case Factorization::kRubyS: return loop.spatial;
    case Factorization::kRubyT: return !loop.spatial;
    case Factorization::kRuby: return true;
  }
  return false;
}

void Judge::check_chain(std::size_t d) {
  const std::vector<ChainLoop> loops = chain(d);
  const std::string& name = layer_.dims[d].name;
  if (rule_ == Factorization::kPadding) check_padding(d, loops);
  Count left = size(d);
  Wide product = 1;
  for (const ChainLoop& loop : loops) {
    const std::string where =
        "the bound " + std::to_string(loop.bound) + " of " + name + " at " + level_name(loop.level);
    if (left % loop.bound != 0 && !may_be_imperfect(loop)) {
      refuse(Rule::kFactorization, level_name(loop.level), {}, name, static_cast<double>(loop.bound),
             static_cast<double>(left),
             where + " does not divide the " + std::to_string(left) + " iterations left there, as rule " +
                 std::string(to_string(rule_)) + " wants of a " + (loop.spatial ? "spatial" : "temporal") + " loop");
    } else if (loop.bound > left) {
      refuse(Rule::kCoverage, level_name(loop.level), {}, name, static_cast<double>(loop.bound),
             static_cast<double>(left), where + " is more than the " + std::to_string(left) + " iterations left there");
    }
    left = rounded_up(left, loop.bound);
    product = times(product, loop.bound);
  }
  if (left != 1)
    refuse(Rule::kCoverage, {}, {}, name, static_cast<double>(size(d)), number(product),
           "the loops of " + name + " cover " + text(product) + " of its " + std::to_string(size(d)) + " iterations");
}

/// A dim is padded to the next multiple of its spatial factor and no further.
void Judge::check_padding(std::size_t d, const std::vector<ChainLoop>& loops) {
  Wide spatial = 1;
  for (const ChainLoop& loop : loops)
    if (loop.spatial) spatial = times(spatial, loop.bound);
  const Count unpadded = layer_.dims[d].size;
  const std::string& name = layer_.dims[d].name;
  if (spatial > unpadded) {
    refuse(Rule::kCoverage, {}, {}, name, number(spatial), static_cast<double>(unpadded),
           "the spatial loops of " + name + " run over " + text(spatial) + ", more than its size " +
               std::to_string(unpadded));
    return;
  }
  const auto factor = static_cast<Count>(spatial);
  const Wide wanted = times(rounded_up(unpadded, factor), factor);
  if (size(d) != wanted)
    refuse(Rule::kFactorization, {}, {}, name, static_cast<double>(size(d)), number(wanted),
           name + " is padded from " + std::to_string(unpadded) + " to " + std::to_string(size(d)) +
               "; the next multiple of its spatial factor " + std::to_string(factor) + " is " + text(wanted));
}

// 3. Every tensor has a home: the outermost memory that may hold it, and does.
void Judge::check_homes() {
  for (const Tensor& tensor : layer_.tensors) {
    const auto role = static_cast<std::size_t>(tensor.role);
    const auto x = static_cast<std::size_t>(&tensor - layer_.tensors.data());
    bool home = false;
    for (std::size_t k = 0; k < accelerator_.levels.size(); ++k) {
      const Level& level = accelerator_.levels[k];
      if (!level.is_memory()) continue;
      const Memory& memory = level.memory();
      const bool kept = (mapping_.levels[k].keeps >> x & 1) != 0;
      if (kept && !memory.may_keep[role])
        refuse(Rule::kKeep, level.name, tensor.name, {}, 1, 0, level.name + " cannot hold " + tensor.name);
      const bool first = memory.may_keep[role] && !std::exchange(home, home || memory.may_keep[role]);
      if (kept || !memory.may_keep[role]) continue;
      if (first) {
        refuse(Rule::kKeep, level.name, tensor.name, {}, 0, 1,
               tensor.name + " bypasses " + level.name + ", the outermost memory that holds it");
      } else if (!memory.may_bypass[role]) {
        refuse(Rule::kKeep, level.name, tensor.name, {}, 0, 1, tensor.name + " may not bypass " + level.name);
      }
    }
    if (!home) refuse(Rule::kKeep, {}, tensor.name, {}, 0, 1, "no memory of the accelerator can hold " + tensor.name);
  }
}

}  // namespace legality

std::string_view to_string(Violation::Rule rule) {
  using Rule = Violation::Rule;
  switch (rule) {
    case Rule::kShape: return "shape";
    case Rule::kCoverage: return "coverage";
    case Rule::kFactorization: return "factorization";
    case Rule::kKeep: return "keep";
    case Rule::kCapacity: return "capacity";
    case Rule::kFanout: return "fanout";
    case Rule::kTile: return "tile";
    case Rule::kOrder: return "order";
    case Rule::kLoops: return "loops";
    case Rule::kParallel: return "parallel";
    case Rule::kArrayShape: return "array-shape";
  }
  return "?";
}

std::vector<Violation> check_legality(const Layer& layer, const Accelerator& accelerator,
                                      const Flexibility& flexibility, Factorization rule, const Mapping& mapping) {
  return legality::Judge(layer, accelerator, flexibility, rule, mapping).check();
}

}  // namespace pliant
