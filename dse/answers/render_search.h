// SPDX-License-Identifier: Apache-2.0
// What a search found, as text for people and as JSON for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "dse/answers/task_options.h"
#include "dse/answers/text_table.h"
#include "dse/mappers/infeasible.h"
#include "dse/mappers/mapper.h"

namespace pliant {

/// One layer searched.
struct SearchedLayer {
  const Task* task = nullptr;
  Count count = 1;
  SearchResult result;
  std::optional<Infeasibility> why;  ///< when nothing fits
};

/// The fields of `map` beyond those of `eval`: objective, value, lower_bound, gap, certified, mappings_covered, mapper,
/// solve_seconds, evaluations, ended_by; or, when nothing was found, feasible = false and why.
nlohmann::ordered_json search_json(const SearchedLayer& searched, std::string_view mapper);

/// The proof in a sentence or two, then cost and loop nest.
std::string search_text(const SearchedLayer& searched, std::string_view mapper, bool ascii);

/// The layers of a workload, a line each, printed as they are done.
class WorkloadTable {
 public:
  /// `has_clock`: rows also have latency, power and TOPS/W.
  WorkloadTable(std::size_t longest_name, bool has_clock);
  std::string header() const;
  std::string row(const SearchedLayer& searched) const;

 private:
  TextTable table_;
  std::vector<std::size_t> widths_;
};
/// The mappings of one layer that none beats in all objectives, a line each, fastest first.
std::string frontier_text(const std::vector<SearchedLayer>& points, bool certified, std::string_view mapper);

/// Time of a search: "12.3 ms", "4.5 s".
std::string readable_search_time(double seconds);

/// Conflicting limits and nearest miss.
std::string infeasible_text(const Task& task, const Infeasibility& why);

}  // namespace pliant
