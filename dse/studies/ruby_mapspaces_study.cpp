// SPDX-License-Identifier: Apache-2.0
// The Ruby paper's map-spaces: how large they are (Table I), the worked example (Figure 5), which of them holds the
// best mappings of its toy problems (Figure 7), and remainders against padding (Figure 8).
#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "dse/studies/all_studies.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/ruby_table.h"

namespace pliant {
namespace {

constexpr std::array kRules = {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                               Factorization::kRuby};

std::string name_of(Factorization rule) {
  switch (rule) {
    case Factorization::kPerfect: return "PFM";
    case Factorization::kRubyS: return "Ruby-S";
    case Factorization::kRubyT: return "Ruby-T";
    case Factorization::kRuby: return "Ruby";
    default: return std::string(to_string(rule));
  }
}

void sizes(StudyResult& result) {
  DataTable table = table_of({"size", "mapspace", "as_published", "distinct"});
  for (const Factorization rule : kRules) {
    for (const Count size : {3, 64, 100, 1000, 4096}) {
      const auto listed = ruby_table_as_published(size, rule).convert_to<double>();
      const auto distinct = ruby_table_distinct(size, rule).convert_to<double>();
      result.found(fmt::format("{} of D={}", name_of(rule), size), listed);
      result.found(fmt::format("{} of D={}, each distinct mapping once", name_of(rule), size), distinct);
      add_row(table, std::int64_t{size}, name_of(rule), listed, distinct);
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
    result.found(fmt::format("cycles of 100 elements over 6 PEs, {}", name_of(rule)), best.totals.cycles);
  }
}

struct ToyCase {
  const char* letter;
  const char* accelerator;
  const char* layer;
};
constexpr std::array kToyCases = {ToyCase{"a", "ruby_toy_5", "gemm:M=100,N=100,K=100"},
                                  ToyCase{"b", "ruby_toy_16", "gemm:M=100,N=100,K=100"},
                                  ToyCase{"c", "ruby_toy_8", "conv:M=64,C=64,P=28,Q=28,R=3,S=3"},
                                  ToyCase{"d", "ruby_toy_15", "conv:M=64,C=64,P=28,Q=28,R=3,S=3"}};

/// Legal mappings, every order of the loops counted.
double legal_mappings(const Accelerator& accelerator, const Layer& layer, Factorization rule) {
  const auto count = count_legal_mappings(layer, accelerator, accelerator.flexibility_of(layer), rule);
  if (!count) throw StudyError("the map-space of a toy is too large to count");
  return count->convert_to<double>();
}

/// Sample counts at which the curves of Figure 7 are read.
constexpr std::array<std::uint64_t, 13> kReadAt = {1, 3, 10, 30, 100, 200, 500, 1000, 2000, 3000, 5000, 7000, 10'000};

/// The best EDP of random mappings after each of kReadAt samples, geometric mean over 100 runs, as the paper searches.
std::vector<double> random_search_curve(const StudyContext& context, const Accelerator& accelerator, const ToyCase& toy,
                                        Factorization rule) {
  constexpr std::size_t kRuns = 100;
  StudyTask task{.layer = parse_layer(toy.layer, "study"), .factorization = rule};
  task.mapper = "random";
  task.evaluations = kReadAt.back();
  task.options = {{"victory", "1000000000"}};
  std::vector<std::vector<double>> best(kReadAt.size(), std::vector<double>(kRuns));
  for_each_task(context, fmt::format("toy study ({}), {}: random searches", toy.letter, name_of(rule)), kRuns,
                [&](std::size_t run, const StudyContext& alone) {
                  StudyTask seeded = task;
                  seeded.seed = run + 1;
                  seeded.on_progress = [&](const Progress& better) {
                    for (std::size_t i = 0; i < kReadAt.size(); ++i)
                      if (better.evaluations <= kReadAt[i]) best[i][run] = better.best_value;
                  };
                  best.back()[run] = solve(alone, accelerator, seeded).value;
                });
  std::vector<double> curve;
  curve.reserve(best.size());
  for (const std::vector<double>& runs : best) curve.push_back(geometric_mean(runs));
  return curve;
}

/// Optima of PFM and Ruby-S, proven.
std::array<double, 2> toy_optima(const StudyContext& context, const Accelerator& accelerator, const ToyCase& toy) {
  std::array<double, 2> optimum{};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const SearchResult best =
        solve(context, accelerator, {.layer = parse_layer(toy.layer, "study"), .factorization = kRules[i]});
    if (!best.certified) throw StudyError("an optimum of the toy study is not proven");
    optimum[i] = best.value;
  }
  return optimum;
}

Chart toy_chart(DataTable table) {
  Chart chart{"fig07_toys", "Toy problems: best EDP, PFM's optimum = 1", {}, std::move(table)};
  chart.spec = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 70}}},
                {"encoding",
                 {{"x", {{"field", "case"}, {"type", "nominal"}}},
                  {"xOffset", {{"field", "mapspace"}, {"sort", nullptr}}},
                  {"y", {{"field", "beside_pfm_optimum"}, {"type", "quantitative"}, {"title", "EDP"}}},
                  {"color", {{"field", "mapspace"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"shape", {{"field", "search"}, {"type", "nominal"}, {"title", nullptr}}}}}};
  return chart;
}

Chart curve_chart(DataTable table) {
  Chart chart{"fig07_curves", "Toy problems: best EDP of random search, PFM's optimum = 1", {}, std::move(table)};
  chart.spec = {
      {"mark", {{"type", "line"}, {"point", true}}},
      {"width", 260},
      {"encoding",
       {{"x", {{"field", "samples"}, {"type", "quantitative"}, {"scale", {{"type", "log"}}}}},
        {"y",
         {{"field", "beside_pfm_optimum"}, {"type", "quantitative"}, {"scale", {{"type", "log"}}}, {"title", "EDP"}}},
        {"color", {{"field", "mapspace"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"facet", {{"field", "case"}, {"type", "nominal"}, {"columns", 2}, {"title", nullptr}}}}},
      {"resolve", {{"scale", {{"y", "independent"}}}}}};
  return chart;
}

/// The first sample count from which one curve stays below another; nothing when it does not end below it.
std::optional<std::uint64_t> samples_until_below(const std::vector<double>& curve, const std::vector<double>& other) {
  std::optional<std::uint64_t> from;
  for (std::size_t i = kReadAt.size(); i-- > 0 && curve[i] < other[i];) from = kReadAt[i];
  return from;
}

/// Proven optima first; then, as the paper does it, random searches.
void toy_study(const StudyContext& context, StudyResult& result) {
  DataTable table = table_of({"case", "mapspace", "search", "edp_pj_cycles", "beside_pfm_optimum"});
  DataTable curves = table_of({"case", "mapspace", "samples", "beside_pfm_optimum"});
  for (const ToyCase& toy : kToyCases) {
    const Accelerator accelerator = load_accelerator(context.library, toy.accelerator);
    const std::array<double, 2> optimum = toy_optima(context, accelerator, toy);
    const auto add = [&](Factorization rule, const char* search, double edp) {
      add_row(table, std::string(toy.letter), name_of(rule), std::string(search), edp, edp / optimum[0]);
    };
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      add(kRules[i], "optimum", optimum[i]);
      if (std::string_view(toy.letter) == "a")
        result.found(fmt::format("(a) mappings of {}", name_of(kRules[i])),
                     legal_mappings(accelerator, parse_layer(toy.layer, "study"), kRules[i]));
    }
    result.found(fmt::format("({}) best EDP of Ruby-S over best of PFM, proven", toy.letter), optimum[1] / optimum[0]);
    if (context.quick) continue;
    std::array<std::vector<double>, 4> curve;
    std::array<double, 4> mean{};
    for (std::size_t r = 0; r < kRules.size(); ++r) {
      curve[r] = random_search_curve(context, accelerator, toy, kRules[r]);
      mean[r] = curve[r].back();
      add(kRules[r], "10,000 samples", mean[r]);
      for (std::size_t i = 0; i < kReadAt.size(); ++i)
        add_row(curves, std::string(toy.letter), name_of(kRules[r]), static_cast<std::int64_t>(kReadAt[i]),
                curve[r][i] / optimum[0]);
    }
    for (std::size_t r = 1; r < kRules.size(); ++r)
      if (const auto samples = samples_until_below(curve[r], curve[0]))
        result.found(fmt::format("({}) samples after which {} stays below PFM", toy.letter, name_of(kRules[r])),
                     static_cast<double>(*samples));
    for (std::size_t r = 1; r < kRules.size(); ++r)
      result.found(fmt::format("({}) EDP after 10,000 samples, {} over PFM", toy.letter, name_of(kRules[r])),
                   mean[r] / mean[0]);
    for (std::size_t r = 2; r < kRules.size(); ++r)
      result.found(fmt::format("({}) EDP after 10,000 samples, {} over Ruby-S", toy.letter, name_of(kRules[r])),
                   mean[r] / mean[1]);
  }
  result.charts.push_back(toy_chart(table));
  result.charts.push_back(curve_chart(curves));
  result.tables.emplace_back("toys", std::move(table));
  result.tables.emplace_back("toy_curves", std::move(curves));
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
  toy_study(context, result);
  padding(context, result);
  return result;
}

}  // namespace pliant
