// SPDX-License-Identifier: Apache-2.0
// Limits on time as deadlines of the mappings.
#include "dse/sweep/deadline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/arithmetic.h"
#include "dse/mappers/frontier.h"
#include "dse/mappers/mapper.h"
#include "dse/results/data_table.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/run_sweep.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

Constraint limit(const char* text) { return std::get<Constraint>(Constraint::parse(text)); }

Workload products() {
  return parse_workload_text("name: w\ninferences: 4\nlayers: [{layer: a, gemm: {M: 8, N: 8, K: 10}}]\n", "w.yaml");
}

double cycles_within(const std::vector<Constraint>& limits, double rows = 3) {
  return most_cycles(limits, products(), 1e6, [&](const std::string& name) -> std::optional<Constraint::Interval> {
    return name == "rows" ? std::optional(Constraint::Interval(1, rows)) : std::nullopt;
  });
}

TEST(Deadline, IsTheMostCyclesThatBreakNoLimit) {
  EXPECT_NEAR(cycles_within({limit("runtime_cycles <= 1234")}) / (1234), 1, 1e-8);
  EXPECT_NEAR(cycles_within({limit("latency_s <= 0.002")}) / (2000), 1, 1e-8);
  EXPECT_NEAR(cycles_within({limit("2*latency_s < 0.002"), limit("latency_s <= 5")}) / (1000), 1, 1e-8);
  EXPECT_NEAR(cycles_within({limit("inferences_per_s >= 8000")}) / (4 / 8000.0 * 1e6), 1, 1e-8);
  EXPECT_NEAR(cycles_within({limit("tops >= 1e-6")}) / (2 * 640 / 1e-6 * 1e-12 * 1e6), 1, 1e-8);
  // Of a box the design that allows most counts.
  EXPECT_NEAR(cycles_within({limit("runtime_cycles <= 100*rows")}) / (300), 1, 1e-8);
  EXPECT_EQ(cycles_within({limit("latency_s >= 0.002")}), kInfinity) << "no limit from above";
  EXPECT_EQ(cycles_within({limit("power_w <= 2"), limit("energy_pj <= 5")}), kInfinity);
  EXPECT_EQ(cycles_within({limit("runtime_cycles <= 0 - 1")}), 0);
  EXPECT_FALSE(limits_time(limit("power_w <= 2")));
  EXPECT_FALSE(limits_time(limit("latency_s * energy_pj <= 2")));
  EXPECT_FALSE(limits_time(limit("latency_s == 2")));
  EXPECT_TRUE(limits_time(limit("rows * latency_s <= 2")));
}

constexpr const char* kLayers[] = {"gemm:M=24,N=36,K=48", "gemm:M=60,N=16,K=90"};

Sweep space(const fs::path& folder, const std::string& more) {
  std::ofstream(folder / "s.yaml") << "accelerator: eyeriss\nobjective: energy\nflexion: false\nset: "
                                      "{GlobalBuffer.capacity: 2KiB}\nworkloads: "
                                      "[{name: two, layers: [\""
                                   << kLayers[0] << "\", \"" << kLayers[1] << "\"]}]\n"
                                   << more;
  return load_sweep(library(), folder / "s.yaml");
}

DataTable rows_of(const Sweep& sweep, const fs::path& dataset) {
  SweepRunOptions options;
  options.dataset = dataset;
  options.threads = 1;
  run_sweep(library(), sweep, options);
  std::vector<std::string> damaged;
  return read_table(dataset, TableKind::kDesigns, damaged);
}

double real_in(const DataTable& table, const char* column, std::size_t row) {
  return std::get<double>(table.find(column)->cells[row]);
}

// The least energy of two layers within a deadline, from all pairs of their frontiers.
TEST(Deadline, ARowHasTheLeastEnergyWithinIt) {
  const TemporaryFolder folder;
  const Sweep free = space(folder.path(), "");
  const DataTable open = rows_of(free, folder.path() / "open");
  const double slow = real_in(open, "runtime_cycles", 0);
  std::vector<Frontier> frontiers;
  DesignSpace designs(library(), std::make_shared<const Sweep>(free));
  const DesignPoint design = designs.design(0);
  for (const Workload::Entry& entry : free.workloads.front().layers)
    frontiers.push_back(
        search_frontier(*make_mapper("exact"),
                        {entry.layer, *design.accelerator, design.accelerator->flexibility_of(entry.layer),
                         Factorization::kPerfect, Objective::kEnergy},
                        {}));
  const double fastest = frontiers[0].points.front().totals.cycles + frontiers[1].points.front().totals.cycles;
  ASSERT_LT(fastest, slow);
  int between = 0;
  for (const double share : {0.0, 0.2, 0.5, 0.8, 1.0}) {
    const double deadline = std::floor(fastest + share * (slow - fastest));
    double least = kInfinity;
    for (const SearchResult& a : frontiers[0].points)
      for (const SearchResult& b : frontiers[1].points)
        if (a.totals.cycles + b.totals.cycles <= deadline)
          least = std::min(least, a.totals.energy_pj + b.totals.energy_pj);
    const DataTable table =
        rows_of(space(folder.path(), fmt::format("constraints: [runtime_cycles <= {}]\n", deadline)),
                folder.path() / fmt::format("within{}", share));
    EXPECT_EQ(to_text(table.find("status")->cells[0]), "solved");
    EXPECT_EQ(to_text(table.find("certified")->cells[0]), "true");
    EXPECT_EQ(to_text(table.find("mapped_as")->cells[0]), "layers");
    EXPECT_LE(real_in(table, "runtime_cycles", 0), deadline);
    EXPECT_NEAR(real_in(table, "energy_pj", 0) / least, 1, 1e-9) << deadline;
    between += real_in(table, "energy_pj", 0) > real_in(open, "energy_pj", 0) * (1 + 1e-9) ? 1 : 0;
  }
  EXPECT_GE(between, 2);
  const DataTable late = rows_of(
      space(folder.path(), fmt::format("constraints: [runtime_cycles <= {}]\n", fastest - 1)), folder.path() / "late");
  EXPECT_EQ(to_text(late.find("status")->cells[0]), "over_limit");
  EXPECT_EQ(real_in(late, "runtime_cycles", 0), fastest) << "the row says how fast it could be";
}

// Where the file does not say what mappings are chosen by, the goals do.
TEST(Deadline, TheObjectiveFollowsTheGoals) {
  const auto objective = [](const std::string& more) {
    return parse_sweep_text(library(), "accelerator: npu\nworkloads: [alexnet]\n" + more, "s.yaml").objectives;
  };
  EXPECT_EQ(objective(""), std::vector{Objective::kEdp});
  EXPECT_EQ(objective("minimize: [area_um2, energy_pj]\n"), std::vector{Objective::kEnergy});
  EXPECT_EQ(objective("minimize: [area_um2, latency_s]\n"), std::vector{Objective::kRuntime});
  EXPECT_EQ(objective("minimize: [area_um2, energy_pj, latency_s]\n"), std::vector{Objective::kEdp});
  EXPECT_EQ(objective("minimize: [area_um2, energy_pj]\nobjective: edp\n"), std::vector{Objective::kEdp});
  const Sweep other = parse_sweep_text(
      library(), "accelerator: npu\nworkloads: [alexnet]\nminimize: [area_um2, energy_pj]\nobjective: edp\n", "s.yaml");
  EXPECT_NE(objective_words(other).find("objective edp: designs count with mappings of least edp"), std::string::npos);
}

}  // namespace
}  // namespace pliant
