// SPDX-License-Identifier: Apache-2.0
// The Ruby paper's map-spaces: how large they are (Table I), the worked example (Figure 5), which of them holds the
// best mappings of its toy problems (Figure 7), and remainders against padding (Figure 8).
#include <fmt/format.h>

#include <algorithm>

#include "dse/studies/all_studies.h"
#include "dse/studies/ruby_toys.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/ruby_table.h"

namespace pliant {
namespace {

void sizes(StudyResult& result) {
  DataTable table = table_of({"size", "mapspace", "as_published", "distinct"});
  for (const Factorization rule : kRubyRules) {
    for (const Count size : {3, 64, 100, 1000, 4096}) {
      const auto listed = ruby_table_as_published(size, rule).convert_to<double>();
      const auto distinct = ruby_table_distinct(size, rule).convert_to<double>();
      result.found(fmt::format("{} of D={}", ruby_name(rule), size), listed);
      result.found(fmt::format("{} of D={}, each distinct mapping once", ruby_name(rule), size), distinct);
      add_row(table, std::int64_t{size}, ruby_name(rule), listed, distinct);
    }
  }
  Chart chart{"table1_sizes", "Mappings of one dim, as the authors' generator lists them", {}, table};
  chart.spec = {
      {"mark", {{"type", "line"}, {"point", true}}},
      {"encoding",
       {{"x", {{"field", "size"}, {"type", "quantitative"}, {"scale", {{"type", "log"}}}, {"title", "D"}}},
        {"y",
         {{"field", "as_published"}, {"type", "quantitative"}, {"scale", {{"type", "log"}}}, {"title", "mappings"}}},
        {"color", {{"field", "mapspace"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("sizes", std::move(table));
}

Layer vector_of(Count size) { return make_gemm(fmt::format("D{}", size), {.M = size}); }

/// 100 elements over 6 PEs.
void worked_example(const StudyContext& context, StudyResult& result) {
  const Accelerator toy = load_accelerator(context.library, "ruby_toy_6", {{"PEs.rows", "1"}, {"PEs.cols", "6"}});
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS}) {
    const SearchResult best =
        solve(context, toy, {.layer = vector_of(100), .factorization = rule, .objective = Objective::kRuntime});
    result.found(fmt::format("cycles of 100 elements over 6 PEs, {}", ruby_name(rule)), best.totals.cycles);
  }
}

/// One dim on 16 PEs: perfect factors, padding up to the next multiple of 16, remainders; all optima proven.
void padding(const StudyContext& context, StudyResult& result) {
  const Accelerator toy = load_accelerator(context.library, "ruby_toy_16");
  DataTable table = table_of({"size", "strategy", "edp_over_ruby_s"});
  double worst_padding = 1;
  for (Count size = 97; size <= 160; ++size) {
    const auto edp = [&](Count d, Factorization rule) {
      return solve(context, toy, {.layer = vector_of(d), .factorization = rule}).value;
    };
    const double ruby = edp(size, Factorization::kRubyS);
    const double perfect = edp(size, Factorization::kPerfect) / ruby;
    const double padded = edp((size + 15) / 16 * 16, Factorization::kPerfect) / ruby;
    worst_padding = std::max(worst_padding, padded);
    for (const auto& [strategy, value] : {std::pair{"PFM", perfect}, std::pair{"padding", padded}}) {
      add_row(table, std::int64_t{size}, std::string(strategy), value);
    }
    if (size == 127 || size == 113) {
      result.found(fmt::format("D={} EDP of padding over Ruby-S", size), padded);
      result.found(fmt::format("D={} EDP of PFM over Ruby-S", size), perfect);
    }
  }
  const SearchResult padded = solve(context, toy, {.layer = vector_of(128), .objective = Objective::kRuntime});
  result.found("D=127 padded to 128, cycles", padded.totals.cycles);
  result.found("D=113 padded to 128, wasted share (%)", 100.0 * 15 / 128);
  result.found("largest EDP of padding over Ruby-S, D from 97 to 160", worst_padding);
  Chart chart{"fig08_padding", "One dim on 16 PEs", {}, table};
  chart.spec = {{"mark", {{"type", "line"}, {"point", true}}},
                {"width", 560},
                {"encoding",
                 {{"x", {{"field", "size"}, {"type", "quantitative"}, {"scale", {{"zero", false}}}, {"title", "D"}}},
                  {"y",
                   {{"field", "edp_over_ruby_s"},
                    {"type", "quantitative"},
                    {"scale", {{"type", "log"}}},
                    {"title", "EDP, Ruby-S = 1"}}},
                  {"color", {{"field", "strategy"}, {"type", "nominal"}, {"title", nullptr}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("padding", std::move(table));
}

}  // namespace

StudyResult run_ruby_mapspaces_study(const StudyContext& context) {
  StudyResult result;
  sizes(result);
  worked_example(context, result);
  ruby_toys(context, result);
  padding(context, result);
  return result;
}

}  // namespace pliant
