// SPDX-License-Identifier: Apache-2.0
// Datasets as others read them: pyarrow and DuckDB find the values that the library computes.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "costmodel/area.h"
#include "dse/mappers/mapper.h"
#include "dse/results/columns.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/run_sweep.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSweep = R"(accelerator: flexref
name: read_back
workloads:
  - name: net
    layers: ["conv:M=16,C=8,P=7,Q=7,R=3,S=3", "gemm:M=12,N=20,K=16"]
vary: {rows: [4, 16], Buffer.capacity: [16, 4Ki]}
flexibility: ["1011", "1111"]
)";

json loops(const std::vector<std::pair<std::string, Count>>& all) {
  json list = json::array();
  for (const auto& [dim, bound] : all) list.push_back({{"dim", dim}, {"bound", bound}});
  return list;
}

json mapping_json(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  json levels = json::array();
  for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
    const LevelMapping& level = mapping.levels[l];
    std::vector<std::pair<std::string, Count>> temporal, rows, cols;
    for (const Loop& loop : level.temporal) temporal.emplace_back(layer.dims[loop.dim].name, loop.bound);
    for (const SpatialLoop& loop : level.spatial)
      (loop.side == Side::kRows ? rows : cols).emplace_back(layer.dims[loop.dim].name, loop.bound);
    json keeps = json::array();
    for (std::size_t t = 0; t < layer.tensors.size(); ++t)
      if (level.keeps >> t & 1U) keeps.push_back(layer.tensors[t].name);
    levels.push_back({{"level", accelerator.levels[l].name},
                      {"temporal", loops(temporal)},
                      {"rows", loops(rows)},
                      {"cols", loops(cols)},
                      {"keeps", keeps},
                      {"padded", json::array()}});
  }
  return levels;
}

json read_back(const fs::path& dataset) {
  const std::string command = "'" + std::string(PLIANT_SOURCE_DIR) +
                              "/.venv/bin/python' -I '" PLIANT_SOURCE_DIR "/tests/dse/sweep/read_back.py' '" +
                              dataset.string() + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  EXPECT_EQ(::pclose(pipe), 0);
  return json::parse(text);
}

TEST(ReadBack, PyarrowAndDuckDbFindWhatTheLibraryComputes) {
  if (!fs::exists(PLIANT_SOURCE_DIR "/.venv/bin/python")) GTEST_SKIP() << "no .venv; scripts/setup makes it";
  const Library library(fs::path(PLIANT_SOURCE_DIR) / "configs");
  const auto sweep = std::make_shared<const Sweep>(parse_sweep_text(library, kSweep, "read_back.yaml"));
  const TemporaryFolder folder;
  SweepRunOptions options;
  options.dataset = folder.path();
  run_sweep(library, *sweep, options);
  const json all = read_back(folder.path());

  EXPECT_EQ(all["layers"]["pyarrow"], all["layers"]["duckdb"]);
  EXPECT_EQ(all["designs"]["pyarrow"], all["designs"]["duckdb"]);
  EXPECT_EQ(all["layers"]["units"]["energy_pj"], "pJ");
  EXPECT_EQ(all["designs"]["units"]["area_um2"], "um2");
  EXPECT_EQ(all["layers"]["metadata"]["pliant.schema"], std::to_string(kTableSchema));

  // Solve every task again and compare value by value.
  DesignSpace space(library, sweep);
  const auto mapper = make_mapper(sweep->mapper);
  const json& rows = all["layers"]["pyarrow"];
  const Workload& net = sweep->workloads.front();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(space.size()) * net.layers.size());
  std::size_t at = 0, solved = 0;
  for (std::int64_t i = 0; i < space.size(); ++i) {
    const DesignPoint design = space.design(i);
    double energy = 0, cycles = 0;
    bool whole = true;
    for (const Workload::Entry& entry : net.layers) {
      const json& row = rows[at++];
      SCOPED_TRACE(row.dump());
      EXPECT_EQ(row["design_id"], i);
      EXPECT_EQ(row["layer"], entry.layer.name);
      EXPECT_EQ(row["set_rows"], i < 4 ? 4 : 16);
      const Task task{entry.layer, *design.accelerator, design.accelerator->flexibility_of(entry.layer),
                      design.factorization, design.objective};
      const SearchResult found = run_mapper(*mapper, task, {});
      whole = whole && found.mapping.has_value();
      EXPECT_EQ(row["status"] == "solved", found.mapping.has_value());
      if (!found.mapping) {
        EXPECT_TRUE(row["energy_pj"].is_null());
        EXPECT_FALSE(row["reason"].is_null());
        continue;
      }
      ++solved;
      energy += found.totals.energy_pj;
      cycles += found.totals.cycles;
      EXPECT_EQ(row["energy_pj"].get<double>(), found.totals.energy_pj);
      EXPECT_EQ(row["runtime_cycles"].get<double>(), found.totals.cycles);
      EXPECT_EQ(row["edp_pj_cycles"].get<double>(), found.totals.edp());
      EXPECT_EQ(row["utilization"].get<double>(), found.totals.utilization);
      EXPECT_EQ(row["certificate"]["certified"], found.certified);
      EXPECT_EQ(row["certificate"]["lower_bound"].get<double>(), found.lower_bound);
      EXPECT_EQ(row["mapping"], mapping_json(entry.layer, *design.accelerator, *found.mapping));
      double sum = 0;
      for (const json& level : row["energy_by_level"]) sum += level["energy_pj"].get<double>();
      EXPECT_NEAR(sum, found.totals.energy_pj, 1e-9 * sum);
      double in_memories = 0;
      for (const json& memory : row["memories"]) {
        in_memories += memory["leakage_pj"].get<double>();
        for (const json& tensor : memory["tensors"]) in_memories += tensor["energy_pj"].get<double>();
      }
      EXPECT_NEAR(in_memories + row["energy_by_level"].back()["energy_pj"].get<double>(), sum, 1e-9 * sum);
      // The outermost memory gives every tensor of the layer at least once.
      for (const json& tensor : row["memories"][0]["tensors"])
        EXPECT_GT(tensor["reads"].get<double>() + tensor["updates"].get<double>(), 0) << tensor.dump();
      Count macs = 1;
      for (const json& dim : row["dims"]) macs *= dim["bound"].get<Count>();
      EXPECT_EQ(macs, row["macs"].get<Count>());
    }
    const json& row = all["designs"]["pyarrow"][static_cast<std::size_t>(i)];
    EXPECT_EQ(row["area_um2"].get<double>(), area_um2(*design.accelerator).total());
    double parts = 0;
    for (const json& part : row["area_by_component"]) {
      EXPECT_GT(part["area_um2"].get<double>(), 0) << part.dump();
      parts += part["area_um2"].get<double>();
    }
    EXPECT_NEAR(parts, row["area_um2"].get<double>(), 1e-9 * parts);
    EXPECT_EQ(row["class"], i % 2 == 0 ? "1011" : "1111");
    EXPECT_LE(row["w_f"].get<double>(), 1);
    EXPECT_EQ(row["array_rows"], i < 4 ? 4 : 16);
    EXPECT_EQ(row["array_cols"], 64);
    EXPECT_LT(row["flexibility_area_um2"].get<double>(), row["area_um2"].get<double>());
    ASSERT_EQ(row["flexion_sets"].size(), 4U);
    for (const json& sets : row["flexion_sets"]) {
      EXPECT_LE(sets["a"].get<double>(), sets["c"].get<double>());
      EXPECT_LE(sets["a_and_w"].get<double>(),
                std::min(sets["a"].get<double>(), sets["w"].get<double>()) * (1 + 1e-12));
    }
    if (whole) {
      EXPECT_EQ(row["energy_pj"].get<double>(), energy);
      EXPECT_EQ(row["edp_pj_cycles"].get<double>(), energy * cycles);
    } else {
      EXPECT_TRUE(row["energy_pj"].is_null());
    }
  }
  EXPECT_GT(solved, 0U);
}

/// results/README.md is the dictionary of the columns.
TEST(ReadBack, EveryColumnIsInTheDictionary) {
  std::ostringstream stream;
  stream << std::ifstream(fs::path(PLIANT_SOURCE_DIR) / "results" / "README.md").rdbuf();
  const std::string text = stream.str();
  for (const TableKind table : {TableKind::kLayers, TableKind::kDesigns}) {
    for (const ColumnInfo& column : column_infos(table)) {
      const std::string line = "| `" + std::string(column.name) + "` | " + std::string(column.unit) + " | " +
                               std::string(column.meaning) + " |";
      EXPECT_NE(text.find(line), std::string::npos) << "results/README.md lacks: " << line;
    }
  }
}

}  // namespace
}  // namespace pliant
