// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/goma_fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <string_view>

#include "core/input/source_text.h"
#include "costmodel/report.h"
#include "dse/studies/study_csv.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/random_draws.h"

namespace pliant {
namespace {

constexpr std::size_t kRandomSets = 60;

/// The GEMMs of the fidelity set, each with its tilings.
struct GemmTilings {
  Layer gemm;
  std::vector<GomaTiling> tilings;
};
std::vector<GemmTilings> read_tilings(const StudyContext& context) {
  std::map<std::string, Layer> gemms;
  for (const Workload::Entry& entry : load_workload(context.library, "goma_llama3_2_1b_1k").layers)
    gemms.emplace(entry.layer.name, entry.layer);
  const std::filesystem::path file = context.library.configs() / "studies" / "goma_tilings.csv";
  std::vector<GemmTilings> all;
  for (const StudyCsvRow& row :
       read_study_csv(read_source(file), file.string(),
                      {"gemm", "tiling", "M0", "N0", "K0", "M1", "N1", "K1", "M2", "N2", "K2", "M3", "N3", "K3"})) {
    const auto gemm = gemms.find(row.text(0));
    if (gemm == gemms.end()) row.fail(0, "unknown", "a GEMM of goma_llama3_2_1b_1k");
    if (all.empty() || all.back().gemm.name != row.text(0)) all.push_back({gemm->second, {}});
    GomaTiling& tiling = all.back().tilings.emplace_back();
    for (std::size_t d = 0; d < 3; ++d) {
      double tile = 1;
      for (std::size_t stage = 4; stage-- > 0;) {
        const std::size_t field = 2 + 3 * stage + d;
        const double factor = std::strtod(row.text(field).c_str(), nullptr);
        if (factor < 1) row.fail(field, "not a factor", "1 or more");
        tiling[stage][d] = tile *= factor;
      }
      if (tile != static_cast<double>(gemm->second.dims[d].size))
        row.fail(2 + d, "the factors do not make the GEMM", "factors whose product is its size");
    }
  }
  return all;
}

double words_of(const std::array<double, 3>& tile) { return tile[0] * tile[1] + tile[0] * tile[2] + tile[1] * tile[2]; }

/// The same with tilings that nobody chose: is 99.26 % a property of the formula, or of the paper's tilings?
void random_tilings(const StudyContext& context, const Accelerator& accelerator, const std::vector<GemmTilings>& gemms,
                    StudyResult& result) {
  std::vector<GomaFidelity> sets(kRandomSets);
  for_each_task(context, "random tilings of the fidelity set", kRandomSets, [&](std::size_t set, const StudyContext&) {
    for (std::size_t gemm = 0; gemm < gemms.size(); ++gemm)
      for (const std::size_t which : {0, 1}) {
        const std::uint64_t seed = (set * gemms.size() + gemm) * 2 + which + 1;
        const Layer& layer = gemms[gemm].gemm;
        sets[set].add(layer, accelerator, random_goma_tiling(layer, accelerator, seed), all_goma_choices());
      }
  });
  std::vector<double> identical, mean_error;
  for (const GomaFidelity& set : sets) {
    identical.push_back(set.percent(set.identical));
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

std::vector<GomaChoice> all_goma_choices() {
  std::vector<GomaChoice> choices;
  for (int choice = 0; choice < 9 * 64; ++choice) {
    GomaChoice& one = choices.emplace_back();
    one.walking = {choice % 3, choice / 3 % 3};
    for (std::size_t d = 0; d < 3; ++d) {
      one.in_sram[d] = (choice / 9 >> d & 1) != 0;
      one.in_regfile[d] = (choice / 72 >> d & 1) != 0;
    }
  }
  return choices;
}

std::vector<GomaChoice> paper_goma_choices() {
  // "SR": in SRAM and register file, "S": SRAM only, "R": register file only, "-": neither; by normal x, y, z.
  constexpr std::array<std::array<std::string_view, 3>, 16> kBypasses = {{{"SR", "SR", "SR"},
                                                                          {"-", "-", "-"},
                                                                          {"SR", "R", "SR"},
                                                                          {"SR", "S", "SR"},
                                                                          {"SR", "SR", "R"},
                                                                          {"SR", "SR", "S"},
                                                                          {"R", "SR", "SR"},
                                                                          {"S", "SR", "SR"},
                                                                          {"S", "S", "SR"},
                                                                          {"R", "R", "R"},
                                                                          {"S", "S", "R"},
                                                                          {"S", "-", "S"},
                                                                          {"-", "S", "S"},
                                                                          {"-", "-", "R"},
                                                                          {"-", "R", "-"},
                                                                          {"R", "-", "-"}}};
  std::vector<GomaChoice> choices;
  for (int axes = 0; axes < 9; ++axes)
    for (const auto& bypass : kBypasses) {
      GomaChoice& one = choices.emplace_back();
      one.walking = {axes / 3, axes % 3};
      for (std::size_t d = 0; d < 3; ++d) {
        one.in_sram[d] = bypass[d].find('S') != std::string_view::npos;
        one.in_regfile[d] = bypass[d].find('R') != std::string_view::npos;
      }
    }
  return choices;
}

void GomaFidelity::add(const Layer& gemm, const Accelerator& accelerator, const GomaTiling& tiling,
                       const std::vector<GomaChoice>& choices) {
  const GomaEnergies per_access = goma_energies(accelerator);
  for (const GomaChoice& choice : choices) {
    const GomaMapping m{tiling, choice.walking, choice.in_sram, choice.in_regfile};
    const double ours = price(gemm, accelerator, to_mapping(m, gemm)).totals.energy_pj;
    const GomaMapping moving = with_moving_axes(m);
    const double theirs = goma_energy(moving, per_access, as_published(moving));
    const auto same = [&](double value) { return std::abs(value - ours) <= 1e-9 * ours; };
    literal += same(goma_energy(m, per_access, as_published(m))) ? 1 : 0;
    identical += same(theirs) ? 1 : 0;
    repaired += same(goma_energy(m, per_access, as_walked(m))) ? 1 : 0;
    errors.push_back(same(theirs) ? 0 : 100 * std::abs(theirs - ours) / std::max(theirs, ours));
    energies.push_back({theirs, ours});
    difference += std::abs(theirs - ours) / static_cast<double>(gemm.macs());
    total += ours / static_cast<double>(gemm.macs());
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
  const std::vector<GemmTilings> gemms = read_tilings(context);
  GomaFidelity fidelity;
  for (const GemmTilings& one : gemms)
    for (const GomaTiling& tiling : one.tilings) fidelity.add(one.gemm, accelerator, tiling, paper_goma_choices());
  result.found("mappings of the fidelity set", fidelity.mappings());
  result.found("closed form identical to the model (% of mappings)", fidelity.percent(fidelity.identical));
  result.found("closed form identical to the model (mappings)", fidelity.identical);
  result.found("closed form, walking axes taken literally, identical to the model (mappings)", fidelity.literal);
  result.found("closed form, mean relative error (%)", fidelity.mean_error());
  result.found("closed form, consistency of energy with the model (%)", 100 - fidelity.mean_error());
  std::vector<double> errors = fidelity.errors;
  std::ranges::sort(errors);
  const auto percentile = [&](double share) {
    return errors[static_cast<std::size_t>(share * (fidelity.mappings() - 1))];
  };
  result.found("closed form, median of the relative error (%)", percentile(0.5));
  result.found("closed form, p95 of the relative error (%)", percentile(0.95));
  result.found("closed form, p99 of the relative error (%)", percentile(0.99));
  result.found("closed form, energy-weighted error (%)", 100 * fidelity.difference / fidelity.total);
  result.found("closed form with both repairs identical (% of mappings)", fidelity.percent(fidelity.repaired));
  DataTable table = table_of({"gemm", "mapping", "closed_form_pj", "model_pj"});
  const std::size_t of_gemm = fidelity.energies.size() / gemms.size();
  for (std::size_t i = 0; i < fidelity.energies.size(); ++i)
    add_row(table, gemms[i / of_gemm].gemm.name, static_cast<std::int64_t>(i % of_gemm), fidelity.energies[i][0],
            fidelity.energies[i][1]);
  result.tables.emplace_back("fidelity", std::move(table));
  if (context.wants_samples()) random_tilings(context, accelerator, gemms, result);
}

}  // namespace pliant
