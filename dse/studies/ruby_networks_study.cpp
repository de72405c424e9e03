// SPDX-License-Identifier: Apache-2.0
// The Ruby paper's networks: ResNet-50 on Eyeriss-like and Simba-like arrays (Figures 10, 12), DeepBench (Figure 11)
// and AlexNet's second layer (Figure 9). Perfect factors against spatial remainders, both proven optimal, so what is
// left between them is the map-space and no search; and both by random search, as in the paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/arithmetic.h"
#include "costmodel/report.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/best_of_searches.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

constexpr int kPaperThreads = 24;  ///< of the paper's search; ours have the seeds 1, 2, ...

/// Ruby-S over PFM, layer by layer and for the sums.
struct Gains {
  DataTable table;          ///< layer, edp, energy, cycles
  std::vector<double> edp;  ///< by layer
  double network_edp = 1, network_energy = 1, network_cycles = 1;
  bool certified = true;

  double most() const { return 100 * (1 - *std::ranges::min_element(edp)); }
  std::ptrdiff_t worse() const {
    return std::ranges::count_if(edp, [](double ratio) { return ratio > 1; });
  }
  double mean() const {
    double sum = 0;
    for (const double ratio : edp) sum += 1 - ratio;
    return 100 * sum / static_cast<double>(edp.size());
  }
};

Gains gains_of(const SweepData& data, const std::string& objective) {
  Gains gains;
  gains.table = table_of({"layer", "edp", "energy", "cycles"});
  const auto rows = [&](const char* rule) {
    return data.layers.where({{"factorization", rule}, {"objective", objective}});
  };
  const std::vector<std::size_t> pfm = rows("pfm"), ruby = rows("ruby-s");
  for (std::size_t i = 0; i < pfm.size(); ++i) {
    const auto ratio = [&](const char* column) {
      return data.layers.number(ruby[i], column) / data.layers.number(pfm[i], column);
    };
    gains.edp.push_back(ratio("edp_pj_cycles"));
    add_row(gains.table, data.layers.text(pfm[i], "layer"), gains.edp.back(), ratio("energy_pj"),
            ratio("runtime_cycles"));
  }
  const auto network = [&](const char* column) {
    return data.designs.number({{"factorization", "ruby-s"}, {"objective", objective}}, column) /
           data.designs.number({{"factorization", "pfm"}, {"objective", objective}}, column);
  };
  gains.network_edp = network("edp_pj_cycles");
  gains.network_energy = network("energy_pj");
  gains.network_cycles = network("runtime_cycles");
  for (std::size_t row = 0; row < data.designs.size(); ++row)
    gains.certified = gains.certified && data.designs.number(row, "certified") == 1;
  return gains;
}

/// The same sweep, searched as the paper searched it: what is left of the gain, and how often Ruby-S seems to lose. The
/// paper: "3000 consecutive valid mappings that do not improve EDP across 24 threads". That may be 3000 in all, one
/// stream of mappings, or 3000 of every thread, the best of 24 streams.
void found_at_random(const StudyContext& context, StudyResult& result, const std::string& sweep_name,
                     const std::string& what) {
  double saved = 0, worse = 0;
  BestOfSearches pfm, ruby;
  for (int seed = 1; seed <= kPaperThreads; ++seed) {
    const SweepData data = run_study_sweep(
        context, sweep_name, [&](Sweep& sweep) { search_at_random(sweep, seed); },
        fmt::format("{}_random_{}", sweep_name, seed));
    pfm.add(data.layers, {{"factorization", "pfm"}});
    ruby.add(data.layers, {{"factorization", "ruby-s"}});
    const Gains gains = gains_of(data, "edp");
    saved += 100 * (1 - gains.network_edp) / kPaperThreads;
    worse += static_cast<double>(gains.worse()) / kPaperThreads;
  }
  result.found(fmt::format("{}: EDP saved, random search, 3000 in all (%)", what), saved);
  result.found(fmt::format("{}: layers where Ruby-S is worse, random search, 3000 in all", what), worse);
  result.found(fmt::format("{}: EDP saved, random search, 3000 of each of 24 threads (%)", what),
               100 * (1 - ruby.network_edp() / pfm.network_edp()));
  result.found(fmt::format("{}: layers where Ruby-S is worse, random search, 3000 of each of 24 threads", what),
               static_cast<double>(ruby.layers_worse_than(pfm)));
}

/// Of the cycles that Ruby-S saves, the part on pointwise and dense layers, in percent.
double share_on_pointwise_and_dense(const SweepData& data, const Workload& network) {
  double all = 0, pointwise = 0;
  for (const Workload::Entry& entry : network.layers) {
    const auto cycles = [&](const char* rule) {
      return data.layers.number({{"factorization", rule}, {"layer", entry.layer.name}}, "runtime_cycles");
    };
    const double saved = static_cast<double>(entry.count) * (cycles("pfm") - cycles("ruby-s"));
    all += saved;
    const auto size = [&](const char* dim) {
      const int at = entry.layer.find_dim(dim);
      return at < 0 ? Count{1} : entry.layer.dims[static_cast<std::size_t>(at)].size;
    };
    if (size("R") == 1 && size("S") == 1) pointwise += saved;
  }
  return 100 * pointwise / all;
}

/// DeepBench's names end in the domain that a workload is of: 16_Vision.
void found_by_domain(const Gains& gains, StudyResult& result) {
  constexpr const char* kVision = "Vision";
  std::map<std::string, std::vector<double>> by_domain;
  std::vector<double> others;
  for (std::size_t i = 0; i < gains.edp.size(); ++i) {
    const std::string layer = to_text(gains.table.columns[0].cells[i]), domain = layer.substr(layer.find('_') + 1);
    by_domain[domain].push_back(gains.edp[i]);
    if (domain != kVision) others.push_back(gains.edp[i]);
  }
  const auto saved = [](const std::vector<double>& all) {
    return 100 * (1 - std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size()));
  };
  for (const auto& entry : by_domain) {
    const std::string& domain = entry.first;
    const std::vector<double>& all = entry.second;
    const auto found = [&](const char* what, double value) { result.found(domain + ": " + what, value); };
    found("workloads", static_cast<double>(all.size()));
    found("mean EDP saved (%)", saved(all));
    found("EDP of Ruby-S over PFM, median", median(all));
    found("most EDP saved (%)", 100 * (1 - std::ranges::min(all)));
    found("workloads with less than 1 % saved",
          static_cast<double>(std::ranges::count_if(all, [](double ratio) { return ratio > 0.99; })));
  }
  result.found("other domains: mean EDP saved (%)", saved(others));
  result.found("EDP saved, other domains over Vision", saved(others) / saved(by_domain.at(kVision)));
}

Chart layer_chart(std::string name, std::string title, DataTable table) {
  Chart chart{std::move(name), std::move(title), {}, std::move(table)};
  chart.spec = {{"transform", {{{"fold", {"edp", "energy", "cycles"}}, {"as", {"measure", "ratio"}}}}},
                {"mark", "bar"},
                {"width", 720},
                {"encoding",
                 {{"x", {{"field", "layer"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"xOffset", {{"field", "measure"}, {"sort", nullptr}}},
                  {"y", {{"field", "ratio"}, {"type", "quantitative"}, {"title", "Ruby-S, PFM = 1"}}},
                  {"color", {{"field", "measure"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}}}}};
  return chart;
}

}  // namespace

StudyResult run_ruby_resnet50_study(const StudyContext& context) {
  StudyResult result;
  Workload resnet;
  const SweepData on_eyeriss = run_study_sweep(context, "study_ruby_resnet50", [&](Sweep& sweep) {
    if (context.quick) keep_every(sweep, 6);
    resnet = sweep.workloads[0];
  });
  const Gains eyeriss = gains_of(on_eyeriss, "edp");
  if (!context.quick) {
    result.found("Eyeriss-like: EDP saved (%)", 100 * (1 - eyeriss.network_edp));
    result.found("Eyeriss-like: cycles saved (%)", 100 * (1 - eyeriss.network_cycles));
    result.found("Eyeriss-like: energy added (%)", 100 * (eyeriss.network_energy - 1));
    result.found("Eyeriss-like: most EDP saved on a layer (%)", eyeriss.most());
    result.found("Eyeriss-like: mean EDP saved over layers (%)", eyeriss.mean());
    result.found("Eyeriss-like: share of the saved cycles on pointwise and dense layers (%)",
                 share_on_pointwise_and_dense(on_eyeriss, resnet));
  }
  result.found("Eyeriss-like: layers of the sweep where Ruby-S is worse", static_cast<double>(eyeriss.worse()));
  result.found("Eyeriss-like: all optima proven", eyeriss.certified ? 1 : 0);
  result.charts.push_back(layer_chart("fig10_resnet50_eyeriss", "ResNet-50, Eyeriss-like 14x12", eyeriss.table));
  if (context.quick) return result;
  if (context.sampled) found_at_random(context, result, "study_ruby_resnet50", "Eyeriss-like");
  for (const auto& [pes, what] : {std::pair{"15", "Simba-like 15 PEs"}, std::pair{"9", "Simba-like 9 PEs of 3x3"}}) {
    const std::string sweep = fmt::format("study_ruby_simba_{}", pes);
    const Gains simba = gains_of(run_study_sweep(context, sweep), "edp");
    if (context.sampled) found_at_random(context, result, sweep, what);
    result.found(fmt::format("{}: EDP saved (%)", what), 100 * (1 - simba.network_edp));
    result.found(fmt::format("{}: most EDP saved on a layer (%)", what), simba.most());
    result.found(fmt::format("{}: layers where Ruby-S is worse", what), static_cast<double>(simba.worse()));
    result.found(fmt::format("{}: all optima proven", what), simba.certified ? 1 : 0);
    result.charts.push_back(
        layer_chart(fmt::format("fig12_resnet50_simba_{}", pes), fmt::format("ResNet-50, {}", what), simba.table));
  }
  return result;
}

StudyResult run_ruby_deepbench_study(const StudyContext& context) {
  StudyResult result;
  const SweepData data = run_study_sweep(context, "study_ruby_deepbench", [&](Sweep& sweep) {
    if (context.quick) keep_every(sweep, 19);
  });
  const Gains edp = gains_of(data, "edp");
  result.found("layers of the sweep where Ruby-S is worse", static_cast<double>(edp.worse()));
  result.found("all optima proven", edp.certified ? 1 : 0);
  if (!context.quick) {
    result.found("mean EDP saved over workloads (%)", edp.mean());
    result.found("most EDP saved on a workload (%)", edp.most());
    found_by_domain(edp, result);
    const auto cycles = [&](const char* rule) {
      return data.layers.where({{"factorization", rule}, {"objective", "runtime"}});
    };
    const std::vector<std::size_t> pfm = cycles("pfm"), ruby = cycles("ruby-s");
    double saved = 0;
    for (std::size_t i = 0; i < pfm.size(); ++i)
      saved += 1 - data.layers.number(ruby[i], "runtime_cycles") / data.layers.number(pfm[i], "runtime_cycles");
    result.found("mean latency saved over workloads, latency objective (%)",
                 100 * saved / static_cast<double>(pfm.size()));
  }
  result.charts.push_back(layer_chart("fig11_deepbench", "DeepBench, Eyeriss-like 14x12", edp.table));
  return result;
}

StudyResult run_ruby_alexnet2_study(const StudyContext& context) {
  StudyResult result;
  const Accelerator eyeriss = load_accelerator(context.library, "ruby_eyeriss");
  const Layer layer = parse_layer("conv:M=96,C=48,P=27,Q=27,R=5,S=5", "study");
  DataTable table = table_of({"mapspace", "objective", "edp_pj_cycles", "energy_pj", "cycles", "utilization"});
  const auto best = [&](Factorization rule, const char* name) {
    const SearchResult found = solve(context, eyeriss, {.layer = layer, .factorization = rule});
    add_row(table, std::string(name), std::string("edp"), found.value, found.totals.energy_pj, found.totals.cycles,
            found.totals.utilization);
    return found;
  };
  const SearchResult perfect = best(Factorization::kPerfect, "PFM");
  const SearchResult ruby = best(Factorization::kRubyS, "Ruby-S");
  // The hand mapping of the Eyeriss chip: its spatial loops are fixed, the rest is the best there is.
  const Accelerator strip =
      choose_flexibility(context.library, (context.library.configs() / "studies/strip_mining.yaml").string(), eyeriss);
  const SearchResult hand = solve(context, strip, {.layer = layer, .factorization = Factorization::kRubyS});
  // Each group of outputs of a row that runs in parallel is one access to the row.
  const auto row_accesses = [&](const SearchResult& found) {
    const int q = layer.find_dim("Q");
    Count group = 1;
    for (const LevelMapping& level : found.mapping->levels)
      for (const SpatialLoop& loop : level.spatial)
        if (loop.dim == q) group *= loop.bound;
    const Count row = layer.dims[static_cast<std::size_t>(q)].size;
    return static_cast<double>(ceil_div(row, group));
  };
  result.found("PFM accesses to a row of outputs", row_accesses(perfect));
  result.found("Ruby-S accesses to a row of outputs", row_accesses(ruby));
  result.found("EDP of strip mining over PFM", hand.value / perfect.value);
  result.found("PFM utilization (%)", 100 * perfect.totals.utilization);
  result.found("Ruby-S utilization (%)", 100 * ruby.totals.utilization);
  result.found("strip mining utilization (%)", 100 * hand.totals.utilization);
  result.found("Ruby-S EDP saved beside strip mining (%)", 100 * (1 - ruby.value / hand.value));
  result.found("Ruby-S energy saved beside strip mining (%)",
               100 * (1 - ruby.totals.energy_pj / hand.totals.energy_pj));
  result.found("Ruby-S EDP over PFM", ruby.value / perfect.value);
  // Of the energy that Ruby-S saves beside the hand mapping, the part at the global buffer; and its accesses.
  const CostReport by_ruby = price(layer, eyeriss, *ruby.mapping), by_hand = price(layer, eyeriss, *hand.mapping);
  const auto buffer = std::ranges::find(by_hand.levels, "GLB", &LevelCost::name) - by_hand.levels.begin();
  const auto accesses = [&](const CostReport& report) {
    double sum = 0;
    for (const TensorCost& one : report.levels[static_cast<std::size_t>(buffer)].tensors)
      sum += one.words_read + one.words_written;
    return sum;
  };
  const auto energy = [&](const CostReport& report) {
    return report.levels[static_cast<std::size_t>(buffer)].energy_pj;
  };
  result.found("accesses to the global buffer, Ruby-S over strip mining", accesses(by_ruby) / accesses(by_hand));
  result.found("share of the energy saved beside strip mining that the global buffer saves (%)",
               100 * (energy(by_hand) - energy(by_ruby)) / (by_hand.totals.energy_pj - by_ruby.totals.energy_pj));
  result.found("all optima proven", perfect.certified && ruby.certified && hand.certified ? 1 : 0);
  Chart chart{"fig09_alexnet2", "AlexNet layer 2, Eyeriss-like 14x12", {}, table};
  chart.spec = {{"mark", "bar"},
                {"encoding",
                 {{"x", {{"field", "mapspace"}, {"type", "nominal"}, {"title", nullptr}}},
                  {"y", {{"field", "utilization"}, {"type", "quantitative"}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("alexnet2", std::move(table));
  return result;
}

}  // namespace pliant
