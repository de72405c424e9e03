// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: which flexibility do today's chips lack? Chips as their files say they are, and with one axis, or
// all of them, set free: least EDP of networks of matrix products, layer by layer, every mapping proven. Convolutions
// are left out: with everything free their proofs do not end in seconds on all chips.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/flexibility_class.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/solved_once.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr std::array kTodaysChips = {"a100", "h100", "h200", "b200", "mi300x", "tpu_v4", "tpu_v5e"};
constexpr std::array kTodaysNetworks = {"bert_base_seq512", "llm_llama3_2_1b_prefill_1k", "llm_llama3_2_1b_prefill_8k",
                                        "llm_llama3_2_1b_decode_1k"};
/// What is set free, as bits of a class; the other axes stay as the chip has them.
constexpr std::array kSetFree = {"1000", "0100", "0010", "0001", "1111"};

Accelerator set_free(const Accelerator& chip, const char* bits) {
  const FlexibilityClass wanted = *parse_flexibility_class(bits);
  LeftOut stay;
  for (std::size_t a = 0; a < kAxisCount; ++a) stay.axes[a] = !wanted.flexible[a];
  stay.fusion = true;
  return apply_class(chip, wanted, stay);
}

/// Least EDP of each layer by itself, then energies and cycles of all.
double network_edp(const StudyContext& context, const Accelerator& chip, const Workload& network,
                   const SolvedOnce& solved) {
  std::vector<std::array<double, 2>> all(network.layers.size());
  for_each_task(context, fmt::format("{} on {}", network.name, chip.name), all.size(),
                [&](std::size_t i, const StudyContext& alone) {
                  const Workload::Entry& entry = network.layers[i];
                  const SearchResult found = solve(alone, chip, {.layer = entry.layer}, solved);
                  if (!found.certified)
                    throw StudyError(fmt::format("{} on {}: not proven", entry.layer.name, chip.name));
                  const auto count = static_cast<double>(entry.count);
                  all[i] = {found.totals.energy_pj * count, found.totals.cycles * count};
                });
  double energy = 0, cycles = 0;
  for (const auto& [pj, steps] : all) {
    energy += pj;
    cycles += steps;
  }
  return energy * cycles;
}

std::string set_free_name(std::string_view bits) {
  return bits == "1111" ? "all" : std::string(1, "TOPS"[bits.find('1')]);
}

Chart lacks_chart(DataTable table) {
  Chart chart{"lacks", "What chips of today would gain if an axis were free: EDP divided by", {}, std::move(table)};
  chart.spec = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 80}, {"opacity", 1}}},
      {"width", 200},
      {"height", 150},
      {"encoding",
       {{"y", {{"field", "chip"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"x", {{"field", "gain"}, {"type", "quantitative"}, {"scale", {{"zero", false}}}, {"title", "EDP divided by"}}},
        {"color", {{"field", "free"}, {"type", "nominal"}, {"sort", {"T", "O", "P", "S"}}, {"title", "set free"}}},
        {"facet",
         {{"field", "network"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}, {"columns", 2}}}}}};
  return chart;
}

}  // namespace

StudyResult run_lacks_study(const StudyContext& context) {
  StudyResult result;
  DataTable gains = table_of({"chip", "network", "free", "gain"});
  const SolvedOnce solved;  // an axis that a chip has free already asks nothing new
  for (const char* network_name : kTodaysNetworks) {
    const Workload network = load_workload(context.library, network_name);
    for (const char* name : kTodaysChips) {
      if (context.quick && std::string_view(name) != "tpu_v5e") continue;
      const Accelerator chip = load_accelerator(context.library, name);
      network_edp(context, set_free(chip, "1111"), network, solved);  // first: others may take its optima over
      const double as_it_is = network_edp(context, chip, network, solved);
      for (const char* bits : kSetFree) {
        const double gain = as_it_is / network_edp(context, set_free(chip, bits), network, solved);
        result.found(fmt::format("{} on {}: EDP divided by, {} free", network.name, name, set_free_name(bits)), gain);
        add_row(gains, std::string(name), network.name, set_free_name(bits), gain);
      }
    }
  }
  if (context.quick) return result;
  result.charts.push_back(lacks_chart(gains));
  result.tables.emplace_back("gains", std::move(gains));
  return result;
}

}  // namespace pliant
