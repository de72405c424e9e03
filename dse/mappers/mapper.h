// SPDX-License-Identifier: Apache-2.0
// The one interface of every search: a task in, the best mapping found and what is proven about it out.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/clock.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "costmodel/task.h"
#include "dse/audit/certificate.h"

namespace pliant {

struct CostReport;

struct Budget {
  double seconds = 0;             ///< 0 = none
  std::uint64_t evaluations = 0;  ///< 0 = the mapper's own default
  std::size_t memory_bytes = std::size_t{512} << 20;
};

struct Progress {
  double best_value = 0;
  double lower_bound = 0;
  std::uint64_t evaluations = 0;
  double seconds = 0;
};

/// A search inside work that is parallel already: threads of that work which are idle help, no others.
inline constexpr int kThreadsOfCaller = 0;

struct SearchOptions {
  Budget budget;
  /// A mapping is good enough when none is better by more than this share of its value: the search ends when that is
  /// proven. Unlike a budget it ends at the same place on every machine. `exact` only; 0 = the optimum.
  double gap = 0;
  std::uint64_t seed = 1;
  int threads = 1;                                   ///< results never depend on it
  std::function<void(const Progress&)> on_progress;  ///< called now and then from the searching thread
  std::stop_token stop;                              ///< asks the search to end early with its incumbent
  /// Options of one mapper by name ("population=200"); unknown names are an InputError naming the known ones.
  std::vector<std::pair<std::string, std::string>> extra;
  bool record_parts = false;           ///< fill in SearchResult::parts (`exact` only)
  const Clock* clock = &real_clock();  ///< that the budget is measured by
};

/// Why a search ended.
enum class EndedBy : std::uint8_t {
  kNothing,  ///< still searching
  kProof,
  kProofWithinHints,  ///< of the mappings that the accelerator's hints leave
  kBudget,
  kStopped,
  kMemory,
  kEffort,
  kEvaluations,
  kGenerations,
  kVictoryCondition,
  kLocalOptimum,
  kNoLegalStart,
  kNoValidMappingDrawn,
  kProofWithinGap,    ///< that none is better by more than SearchOptions::gap
  kMixedConventions,  ///< the search ended, but bounds are proven for the presets of conventions only
};
std::string_view to_string(EndedBy ended_by);  ///< "proof", "budget", ...; empty for kNothing
inline constexpr std::size_t kEndedByCount = 15;

/// What a search found. `mapping` is empty when nothing legal was found.
struct SearchResult {
  std::optional<Mapping> mapping;
  Totals totals;
  double value = 0;         ///< objective value of the mapping, re-priced by the model
  double lower_bound = 0;   ///< proven; 0 when the mapper proves nothing
  bool certified = false;   ///< gap is 0 and proven
  bool infeasible = false;  ///< proven that no legal mapping exists
  /// Decimal: mappings the proof covers. An enumeration counts the legal ones, a proof over the whole map-space all
  /// factor chains x orders x bypasses (flex/mapspace/count.h), those that a limit rules out included.
  std::string mappings_covered;
  std::uint64_t evaluations = 0;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of the calling thread, as run_mapper saw it
  EndedBy ended_by = EndedBy::kNothing;
  /// When asked for: every choice of the map-space, and what closes it. Empty when a hint has left choices out.
  std::vector<audit::Part> parts;
  /// 0 when certified, (value - lower_bound) / value otherwise.
  double gap() const;
};

/// Every mapping was looked at or shown not to be better, by more than the gap asked for.
inline bool proven(const SearchResult& result) {
  return result.certified || result.infeasible || result.ended_by == EndedBy::kProofWithinGap;
}

/// Contract: deterministic for a seed whatever the thread count; every mapping returned is legal (checked again by the
/// caller with the independent checker) and priced by the cost model; never prints; ends within 10% of the time budget.
class Mapper {
 public:
  virtual ~Mapper() = default;
  virtual std::string_view name() const = 0;
  virtual SearchResult search(const Task& task, const SearchOptions& options) const = 0;
};

/// Known mappers by name; an unknown name gives nullptr (the caller answers with mapper_names()).
std::unique_ptr<Mapper> make_mapper(std::string_view name);
const std::vector<std::string>& mapper_names();

/// search() plus what every caller wants: the result is re-priced and re-checked; throws std::logic_error when a
/// mapper returned something illegal or mispriced (a programming error). `priced` receives the whole report of the
/// mapping, when there is one.
SearchResult run_mapper(const Mapper& mapper, const Task& task, const SearchOptions& options,
                        CostReport* priced = nullptr);

}  // namespace pliant
