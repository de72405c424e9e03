// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/ruby_toys.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/arithmetic.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/legal_count.h"

namespace pliant {
namespace {

// As in the paper.
constexpr std::size_t kSamples = 10'000;
constexpr std::size_t kRuns = 100;

struct ToyCase {
  std::string_view letter;
  const char* what;
  const char* accelerator;
  const char* layer;
};
constexpr std::array kToyCases = {
    ToyCase{"a", "(a) 100 x 100 x 100 product on 5 PEs", "ruby_toy_5", "gemm:M=100,N=100,K=100"},
    ToyCase{"b", "(b) the same on 16 PEs", "ruby_toy_16", "gemm:M=100,N=100,K=100"},
    ToyCase{"c", "(c) 3 x 3 convolution on 8 PEs", "ruby_toy_8", "conv:M=64,C=64,P=28,Q=28,R=3,S=3"},
    ToyCase{"d", "(d) the same on 15 PEs", "ruby_toy_15", "conv:M=64,C=64,P=28,Q=28,R=3,S=3"}};

/// Where the drawn curves have their points.
constexpr std::array<std::size_t, 15> kDrawnAt = {1,   3,   10,   30,   60,   100,  200,     300,
                                                  500, 700, 1000, 2000, 3000, 6000, kSamples};

/// Tilings of three equal dims over memory, a line of units and buffer, the unit of the paper's Table I: for each dim
/// the units it takes and the tile of the buffer. A spatial remainder lets units take what they do not divide, a
/// temporal one lets tiles be of any size.
double tilings(Count size, Count units, Factorization rule) {
  const bool any_tile = rule == Factorization::kRubyT || rule == Factorization::kRuby;
  const bool any_units = rule == Factorization::kRubyS || rule == Factorization::kRuby;
  const auto of_dim = [&](Count taken) {
    double tiles = 0;
    for (Count tile = 1; tile <= size; ++tile) {
      if (!any_tile && size % tile != 0) continue;
      const Count left = ceil_div(size, tile);
      tiles += (any_units ? left >= taken : left % taken == 0) ? 1 : 0;
    }
    return tiles;
  };
  double all = 0;
  for (Count a = 1; a <= units; ++a)
    for (Count b = 1; a * b <= units; ++b)
      for (Count c = 1; a * b * c <= units; ++c) all += of_dim(a) * of_dim(b) * of_dim(c);
  return all;
}

/// Legal mappings, every order of the loops counted.
double legal_mappings(const Accelerator& accelerator, const Layer& layer, Factorization rule) {
  const auto count = count_legal_mappings(layer, accelerator, accelerator.flexibility_of(layer), rule);
  if (!count) throw StudyError("the map-space of a toy is too large to count");
  return count->convert_to<double>();
}

/// Optima of PFM and Ruby-S, proven.
std::array<double, 2> toy_optima(const StudyContext& context, const Accelerator& accelerator, const Layer& layer) {
  std::array<double, 2> optimum{};
  for (std::size_t i = 0; i < optimum.size(); ++i) {
    const SearchResult best = solve(context, accelerator, {.layer = layer, .factorization = kRubyRules[i]});
    if (!best.certified) throw StudyError("an optimum of the toy study is not proven");
    optimum[i] = best.value;
  }
  return optimum;
}

void found_on_curves(std::string_view letter, const std::array<SearchCurve, 4>& curve, StudyResult& result) {
  const auto over = [&](std::size_t rule, std::size_t other) {
    result.found(fmt::format("({}) EDP after 10,000 samples, {} over {}", letter, ruby_name(kRubyRules[rule]),
                             ruby_name(kRubyRules[other])),
                 curve[rule].back() / curve[other].back());
  };
  for (std::size_t rule = 1; rule < kRubyRules.size(); ++rule) over(rule, 0);
  for (std::size_t rule = 2; rule < kRubyRules.size(); ++rule) over(rule, 1);
  for (std::size_t rule = 1; rule < kRubyRules.size(); ++rule)
    if (const auto samples = samples_until_below(curve[rule], curve[0]))
      result.found(fmt::format("({}) samples from which on {} stays below PFM", letter, ruby_name(kRubyRules[rule])),
                   static_cast<double>(*samples));
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

/// From 30 samples on: before that the curves fall by factors and nothing could be told apart.
Chart curve_chart(DataTable table) {
  Chart chart{"fig07_curves", "Toy problems: best EDP of random search, PFM's optimum = 1", {}, std::move(table)};
  chart.spec = {
      {"title", {{"subtitle", "PFM: factors divide their dim; Ruby: remainders in space (S), in time (T) or in both"}}},
      {"transform", {{{"filter", "datum.samples >= 30"}}}},
      {"mark", {{"type", "line"}, {"point", true}}},
      {"width", 300},
      {"height", 200},
      {"encoding",
       {{"x",
         {{"field", "samples"},
          {"type", "quantitative"},
          {"scale", {{"type", "log"}, {"nice", false}}},
          {"title", "mappings sampled, geometric mean of 100 runs"}}},
        {"y",
         {{"field", "beside_pfm_optimum"}, {"type", "quantitative"}, {"scale", {{"zero", false}}}, {"title", "EDP"}}},
        {"color", {{"field", "mapspace"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"facet", {{"field", "case"}, {"type", "nominal"}, {"columns", 2}, {"title", nullptr}}}}},
      {"resolve", {{"scale", {{"y", "independent"}}}}}};
  return chart;
}

}  // namespace

std::string ruby_name(Factorization rule) {
  switch (rule) {
    case Factorization::kPerfect: return "PFM";
    case Factorization::kRubyS: return "Ruby-S";
    case Factorization::kRubyT: return "Ruby-T";
    case Factorization::kRuby: return "Ruby";
    default: return std::string(to_string(rule));
  }
}

SearchCurve random_search_curve(const StudyContext& context, const Accelerator& accelerator, const Layer& layer,
                                Factorization rule, std::size_t runs, std::size_t samples) {
  StudyTask task{.layer = layer, .factorization = rule};
  task.mapper = "random";
  task.evaluations = samples;
  task.options = {{"victory", "1000000000"}};
  std::vector<SearchCurve> curves(runs, SearchCurve(samples));
  for_each_task(context, fmt::format("random searches of {} on {}, {}", layer.name, accelerator.name, ruby_name(rule)),
                runs, [&](std::size_t run, const StudyContext& alone) {
                  StudyTask seeded = task;
                  seeded.seed = run + 1;
                  // Told at every improvement, the first mapping among them: it holds until the next.
                  seeded.on_progress = [&](const Progress& better) {
                    std::fill(curves[run].begin() + static_cast<std::ptrdiff_t>(better.evaluations - 1),
                              curves[run].end(), better.best_value);
                  };
                  solve(alone, accelerator, seeded);
                });
  SearchCurve mean(samples);
  std::vector<double> values(runs);
  for (std::size_t i = 0; i < samples; ++i) {
    std::ranges::transform(curves, values.begin(), [&](const SearchCurve& curve) { return curve[i]; });
    mean[i] = geometric_mean(values);
  }
  return mean;
}

std::optional<std::size_t> samples_until_below(const SearchCurve& curve, const SearchCurve& other) {
  std::size_t samples = curve.size();
  while (samples > 0 && curve[samples - 1] < other[samples - 1]) --samples;
  if (samples == curve.size()) return std::nullopt;
  return samples + 1;
}

void ruby_toys(const StudyContext& context, StudyResult& result) {
  DataTable table = table_of({"case", "mapspace", "search", "edp_pj_cycles", "beside_pfm_optimum"});
  DataTable points = table_of({"case", "mapspace", "samples", "beside_pfm_optimum"});
  for (const ToyCase& toy : kToyCases) {
    const Accelerator accelerator = load_accelerator(context.library, toy.accelerator);
    const Layer layer = parse_layer(toy.layer, "study");
    const std::array<double, 2> optimum = toy_optima(context, accelerator, layer);
    const std::string letter(toy.letter);
    const auto add = [&](Factorization rule, const char* search, double edp) {
      add_row(table, letter, ruby_name(rule), std::string(search), edp, edp / optimum[0]);
    };
    for (std::size_t i = 0; i < optimum.size(); ++i) {
      add(kRubyRules[i], "optimum", optimum[i]);
      if (letter == "a")
        result.found(fmt::format("(a) mappings of {}, every order of the loops counted", ruby_name(kRubyRules[i])),
                     legal_mappings(accelerator, layer, kRubyRules[i]));
    }
    if (letter == "a")
      for (const Factorization rule : kRubyRules)
        result.found(fmt::format("(a) tilings of {}", ruby_name(rule)),
                     tilings(layer.dims[0].size, accelerator.macs_units(), rule));
    result.found(fmt::format("({}) best EDP of Ruby-S over best of PFM, proven", letter), optimum[1] / optimum[0]);
    if (letter == "b") {
      // Two dims fill the 16 PEs with perfect factors, 4 x 4. One alone does not: the paper's mismatch.
      const std::array<double, 2> alone = toy_optima(
          context, load_accelerator(context.library, toy.accelerator, {{"PEs.parallel", "{max_dims_per_side: 1}"}}),
          layer);
      result.found("(b) best EDP of Ruby-S over best of PFM, one dim on the line, proven", alone[1] / alone[0]);
    }
    if (!context.wants_samples()) continue;
    std::array<SearchCurve, 4> curve;
    for (std::size_t r = 0; r < kRubyRules.size(); ++r) {
      curve[r] = random_search_curve(context, accelerator, layer, kRubyRules[r], kRuns, kSamples);
      add(kRubyRules[r], "10,000 samples", curve[r].back());
      for (const std::size_t samples : kDrawnAt)
        add_row(points, std::string(toy.what), ruby_name(kRubyRules[r]), static_cast<std::int64_t>(samples),
                curve[r][samples - 1] / optimum[0]);
    }
    found_on_curves(letter, curve, result);
  }
  result.charts.push_back(toy_chart(table));
  result.tables.emplace_back("toys", std::move(table));
  if (!context.wants_samples()) return;
  result.charts.push_back(curve_chart(points));
  result.tables.emplace_back("toy_curves", std::move(points));
}

}  // namespace pliant
