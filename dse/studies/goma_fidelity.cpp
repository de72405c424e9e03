// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/goma_fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "costmodel/report.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/random_draws.h"

namespace pliant {
namespace {

constexpr std::size_t kRandomSets = 60;

/// GEMMs of the fidelity set: all of the model but lm_head, a matrix-vector product.
std::vector<Layer> gemms_of_the_set(const StudyContext& context) {
  std::vector<Layer> gemms;
  for (const Workload::Entry& entry : load_workload(context.library, "llm_llama3_2_1b_1k").layers)
    if (entry.layer.dims[0].size > 1) gemms.push_back(entry.layer);
  return gemms;
}

/// Tiles of at most these sizes.
GomaTiling tiling_of(const Layer& gemm, const std::array<std::array<double, 3>, 3>& most) {
  GomaTiling tiling;
  for (std::size_t d = 0; d < 3; ++d) {
    tiling[0][d] = static_cast<double>(gemm.dims[d].size);
    for (std::size_t p = 1; p < tiling.size(); ++p) tiling[p][d] = std::min(tiling[p - 1][d], most[p - 1][d]);
  }
  return tiling;
}

double words_of(const std::array<double, 3>& tile) { return tile[0] * tile[1] + tile[0] * tile[2] + tile[1] * tile[2]; }

/// The same with tilings that nobody chose: is 99.26 % a property of the formula, or of the paper's tilings?
void random_tilings(const StudyContext& context, const Accelerator& accelerator, const std::vector<Layer>& gemms,
                    StudyResult& result) {
  std::vector<GomaFidelity> sets(kRandomSets);
  for_each_task(context, "random tilings of the fidelity set", kRandomSets, [&](std::size_t set, const StudyContext&) {
    for (std::size_t gemm = 0; gemm < gemms.size(); ++gemm)
      for (const std::size_t which : {0, 1}) {
        const std::uint64_t seed = (set * gemms.size() + gemm) * 2 + which + 1;
        sets[set].add(gemms[gemm], accelerator, random_goma_tiling(gemms[gemm], accelerator, seed));
      }
  });
  std::vector<double> identical, mean_error;
  for (const GomaFidelity& set : sets) {
    identical.push_back(set.identical_percent());
    mean_error.push_back(set.mean_error());
  }
  std::ranges::sort(identical);
  std::ranges::sort(mean_error);
  const auto found = [&](const std::string& what, const std::vector<double>& sorted) {
    result.found(what + ", least of 60 sets of random tilings", sorted.front());
    result.found(what + ", median of 60 sets of random tilings",
                 (sorted[kRandomSets / 2 - 1] + sorted[kRandomSets / 2]) / 2);
    result.found(what + ", largest of 60 sets of random tilings", sorted.back());
  };
  found("closed form identical to the model (% of mappings)", identical);
  found("closed form, mean relative error (%)", mean_error);
  const double repaired = std::accumulate(sets.begin(), sets.end(), 0.0, [](double sum, const GomaFidelity& set) {
    return sum + 100 * set.repaired / set.mappings() / kRandomSets;
  });
  result.found("closed form with both repairs identical (% of mappings), 60 sets of random tilings", repaired);
}

}  // namespace

void GomaFidelity::add(const Layer& gemm, const Accelerator& accelerator, const GomaTiling& tiling) {
  const GomaEnergies per_access = goma_energies(accelerator);
  GomaMapping m;
  m.tile = tiling;
  for (int choice = 0; choice < 9 * 64; ++choice) {
    m.walking = {choice % 3, choice / 3 % 3};
    for (std::size_t d = 0; d < 3; ++d) {
      m.in_sram[d] = (choice / 9 >> d & 1) != 0;
      m.in_regfile[d] = (choice / 72 >> d & 1) != 0;
    }
    const double ours = price(gemm, accelerator, to_mapping(m, gemm)).totals.energy_pj;
    const double theirs = goma_energy(m, per_access, as_published(m));
    const auto same = [&](double value) { return std::abs(value - ours) <= 1e-9 * ours; };
    identical += same(theirs) ? 1 : 0;
    repaired += same(goma_energy(m, per_access, as_walked(m))) ? 1 : 0;
    errors.push_back(same(theirs) ? 0 : 100 * std::abs(theirs - ours) / ours);
    energies.push_back({theirs, ours});
    difference += std::abs(theirs - ours);
    total += ours;
  }
}

double GomaFidelity::mean_error() const { return std::accumulate(errors.begin(), errors.end(), 0.0) / mappings(); }

GomaTiling random_goma_tiling(const Layer& gemm, const Accelerator& accelerator, std::uint64_t seed) {
  const auto capacity = [&](int level) {
    return static_cast<double>(accelerator.levels[static_cast<std::size_t>(level)].memory().capacity_words.value());
  };
  constexpr int kSram = 1, kArray = 2, kRegFile = 3;
  const auto units = static_cast<double>(accelerator.levels[kArray].fanout().units());
  std::array<std::vector<std::array<Count, 3>>, 3> chains;  // by dim: SRAM, array, register file
  for (std::size_t d = 0; d < 3; ++d)
    for (const Count sram : divisors(gemm.dims[d].size))
      for (const Count array : divisors(sram))
        for (const Count regfile : divisors(array)) chains[d].push_back({sram, array, regfile});
  std::mt19937_64 random = random_stream(seed, 0);
  for (int draw = 0; draw < 1'000'000; ++draw) {
    GomaTiling tiling;
    double used = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::array<Count, 3>& chain = chains[d][below(random, chains[d].size())];
      tiling[0][d] = static_cast<double>(gemm.dims[d].size);
      for (std::size_t p = 0; p < chain.size(); ++p) tiling[p + 1][d] = static_cast<double>(chain[p]);
      used *= tiling[2][d] / tiling[3][d];
    }
    if (used == units && words_of(tiling[1]) <= capacity(kSram) && words_of(tiling[3]) <= capacity(kRegFile))
      return tiling;
  }
  throw StudyError(fmt::format("no tiling of {} fills {} and fits", gemm.name, accelerator.name));
}

void goma_fidelity(const StudyContext& context, StudyResult& result) {
  const Accelerator accelerator = load_accelerator(context.library, "goma_eyeriss");
  const std::vector<Layer> gemms = gemms_of_the_set(context);
  GomaFidelity fidelity;
  for (const Layer& gemm : gemms) {
    fidelity.add(gemm, accelerator, tiling_of(gemm, {{{128, 128, 32}, {64, 64, 4}, {4, 4, 4}}}));
    fidelity.add(gemm, accelerator, tiling_of(gemm, {{{256, 256, 64}, {32, 32, 32}, {8, 8, 2}}}));
  }
  result.found("mappings of the fidelity set", fidelity.mappings());
  result.found("closed form identical to the model (% of mappings)", fidelity.identical_percent());
  result.found("closed form identical to the model (mappings)", fidelity.identical);
  result.found("closed form, mean relative error (%)", fidelity.mean_error());
  std::vector<double> errors = fidelity.errors;
  std::ranges::sort(errors);
  const auto percentile = [&](double share) {
    return errors[static_cast<std::size_t>(share * (fidelity.mappings() - 1))];
  };
  result.found("closed form, median of the relative error (%)", percentile(0.5));
  result.found("closed form, p95 of the relative error (%)", percentile(0.95));
  result.found("closed form, p99 of the relative error (%)", percentile(0.99));
  result.found("closed form, energy-weighted error (%)", 100 * fidelity.difference / fidelity.total);
  result.found("closed form with both repairs identical (% of mappings)",
               100 * fidelity.repaired / fidelity.mappings());
  DataTable table = table_of({"gemm", "mapping", "closed_form_pj", "model_pj"});
  const std::size_t of_gemm = fidelity.energies.size() / gemms.size();
  for (std::size_t i = 0; i < fidelity.energies.size(); ++i)
    add_row(table, gemms[i / of_gemm].name, static_cast<std::int64_t>(i % of_gemm), fidelity.energies[i][0],
            fidelity.energies[i][1]);
  result.tables.emplace_back("fidelity", std::move(table));
  if (!context.quick) random_tilings(context, accelerator, gemms, result);
}

}  // namespace pliant
