// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/mapper.h"

#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/mappers/checked_search.h"
#include "dse/mappers/exact/exact_mapper.h"
#include "dse/mappers/exhaustive/exhaustive_mapper.h"
#include "dse/mappers/genetic/genetic_mapper.h"
#include "dse/mappers/goma/goma_mapper.h"
#include "dse/mappers/infeasible.h"
#include "dse/mappers/local/local_mapper.h"
#include "dse/mappers/random/random_mapper.h"
#include "flex/mapspace/count.h"

namespace pliant {

namespace {

constexpr std::array<std::string_view, kEndedByCount> kEnds = {"",
                                                               "proof",
                                                               "proof within the hints",
                                                               "budget",
                                                               "stopped",
                                                               "memory",
                                                               "effort",
                                                               "evaluations",
                                                               "generations",
                                                               "victory condition",
                                                               "local optimum",
                                                               "no legal start",
                                                               "no valid mapping drawn",
                                                               "proof within the gap",
                                                               "mixed conventions"};

struct Entry {
  std::string_view name;
  std::unique_ptr<Mapper> (*make)();
};

// The mappers, one line each; the first is the default.
constexpr Entry kMappers[] = {
    {"exact", make_exact_mapper},   {"local", make_local_mapper},           {"genetic", make_genetic_mapper},
    {"random", make_random_mapper}, {"exhaustive", make_exhaustive_mapper}, {"goma", make_goma_mapper},
};

}  // namespace

std::string_view to_string(EndedBy ended_by) { return kEnds[static_cast<std::size_t>(ended_by)]; }

double SearchResult::gap() const { return certified || value == 0 ? 0 : (value - lower_bound) / value; }

std::unique_ptr<Mapper> make_mapper(std::string_view name) {
  for (const Entry& entry : kMappers)
    if (entry.name == name) return entry.make();
  return nullptr;
}

const std::vector<std::string>& mapper_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Entry& entry : kMappers) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

namespace {

/// A preset, or `timeloop` with runs, by which `exact` proves a part of it.
bool has_proven_bounds(const Conventions& conventions) {
  Conventions with_runs = Conventions::timeloop();
  with_runs.halo = Conventions::Halo::kRun;
  return conventions == with_runs || Conventions::preset(conventions.name());
}

/// The bounds of `exact` are proven for the presets of conventions. Of a mix it says what it found and claims nothing.
void claim_nothing_of_a_mix(const Mapper& mapper, const Task& task, SearchResult& result) {
  if (mapper.name() != kMappers[0].name || has_proven_bounds(task.accelerator.conventions)) return;
  result.parts.clear();
  if (proven(result)) result.ended_by = EndedBy::kMixedConventions;
  result.certified = result.infeasible = false;
  result.lower_bound = 0;
  result.mappings_covered.clear();
}

}  // namespace

SearchResult checked_search(const Mapper& mapper, const Task& task, const SearchOptions& options, CostReport* priced) {
  const double started = options.clock->cpu_seconds();
  SearchResult result;
  if (overlapping_outputs(task)) {
    result.infeasible = true;
    result.ended_by = EndedBy::kProof;
    return result;
  }
  result = mapper.search(task, options);
  result.cpu_seconds = options.clock->cpu_seconds() - started;
  if (task.accelerator.hints.min_utilization > 0) {
    result.parts.clear();
    // A hint prunes: what is proven of the rest says nothing about the whole map-space.
    if (result.infeasible) {
      Task whole = task;
      whole.accelerator.hints = {};
      return checked_search(mapper, whole, options, priced);
    }
    if (result.certified || result.ended_by == EndedBy::kProofWithinGap) result.ended_by = EndedBy::kProofWithinHints;
    result.certified = false;
    result.lower_bound = 0;
  }
  claim_nothing_of_a_mix(mapper, task, result);
  if (result.value == kInfinity) result.mapping.reset();  // too slow to count
  if (!result.mapping) return result;
  const auto fail = [&](const std::string& what) {
    throw std::logic_error(fmt::format("mapper {}, layer {}, accelerator {}: {}", mapper.name(), task.layer.name,
                                       task.accelerator.name, what));
  };
  const std::vector<Violation> violations =
      check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *result.mapping);
  if (!violations.empty()) fail("illegal mapping: " + violations.front().message);
  CostReport report = price(task.layer, task.accelerator, *result.mapping);
  const Totals totals = report.totals;
  const double value = task_value(task, totals);
  // Sums may be formed in another order; anything beyond rounding is a mistake.
  if (std::abs(value - result.value) > 1e-9 * std::abs(value))
    fail(fmt::format("objective {} priced as {}, the model says {}", to_string(task.objective), result.value, value));
  if (result.lower_bound > value * (1 + 1e-9))
    fail(fmt::format("lower bound {} above the value {} found", result.lower_bound, value));
  result.totals = totals;
  result.value = value;
  if (result.certified) result.lower_bound = value;
  if (priced != nullptr) *priced = std::move(report);
  return result;
}

SearchResult run_mapper(const Mapper& mapper, const Task& task, const SearchOptions& options, CostReport* priced) {
  SearchResult result = checked_search(mapper, task, options, priced);
  // A proof that did not count what it covers covers the whole map-space.
  if (proven(result) && result.mappings_covered.empty())
    result.mappings_covered =
        map_space_size(task.layer, task.accelerator, task.flexibility, task.factorization).total().str();
  return result;
}

}  // namespace pliant
