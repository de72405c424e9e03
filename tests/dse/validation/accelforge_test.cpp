// SPDX-License-Identifier: Apache-2.0
// Our model against the counts of the mappings that AccelForge's mapper found. There the tensors of one memory may
// start to be held at different loops; here a memory holds all its tensors at one place of the nest. For pricing, a
// memory that is mentioned twice becomes two, one inside the other: same energies, each keeps its own tensor.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/input/load.h"
#include "costmodel/report.h"

namespace pliant {
namespace {

using nlohmann::json;

int tensor_of(const Layer& layer, const std::string& role) {
  for (std::size_t x = 0; x < layer.tensors.size(); ++x)
    if (to_string(layer.tensors[x].role) == role) return static_cast<int>(x);
  throw std::runtime_error("no tensor " + role);
}

struct Priced {
  Layer layer;
  Accelerator accelerator;
  std::vector<std::string> memory_of;  ///< by level: the memory it is a part of, or ""
  CostReport report;
};

/// Lines of a nest, outermost first: `MEMORY tensor...`, `for DIM BOUND`, `rows|cols of FANOUT DIM BOUND`.
Priced price_nest(const json& record) {
  Priced priced;
  priced.layer = parse_layer(record.at("layer").get<std::string>(), "accelforge");
  const Layer& layer = priced.layer;
  const Accelerator given =
      load_accelerator(Library(PLIANT_SOURCE_DIR "/configs"), record.at("accelerator").get<std::string>());
  Accelerator& accelerator = priced.accelerator;
  accelerator = given;
  accelerator.levels.clear();
  Mapping mapping;
  std::map<std::string, int> mentions;
  const auto add_level = [&](const Level& level) {
    accelerator.levels.push_back(level);
    mapping.levels.emplace_back();
    priced.memory_of.push_back(level.is_memory() ? level.name : "");
  };
  for (const json& line : record.at("nest")) {
    std::istringstream words(line.get<std::string>());
    std::string word, of, dim;
    Count bound = 1;
    words >> word;
    if (word == "for") {
      words >> dim >> bound;
      mapping.levels.back().temporal.push_back({layer.find_dim(dim), bound});
    } else if (word == "rows" || word == "cols") {
      std::string name;
      words >> of >> name >> dim >> bound;
      if (accelerator.levels.back().name != name)
        add_level(given.levels[static_cast<std::size_t>(given.find_level(name))]);
      mapping.levels.back().spatial.push_back({layer.find_dim(dim), bound, word == "rows" ? Side::kRows : Side::kCols});
    } else {
      Level level = given.levels[static_cast<std::size_t>(given.find_level(word))];
      if (mentions[word]++ > 0) level.memory().leak_pj_per_cycle = 0;  // it is the same memory
      add_level(level);
      for (std::string role; words >> role;) mapping.levels.back().keeps |= TensorSet{1} << tensor_of(layer, role);
    }
  }
  add_level(given.levels.back());
  priced.memory_of.pop_back();
  priced.report = price(layer, accelerator, mapping);
  return priced;
}

std::vector<json> records() {
  std::vector<json> all;
  std::ifstream in(PLIANT_SOURCE_DIR "/tests/data/accelforge_mappings.jsonl");
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

TEST(AccelForge, PerfectMappingsHaveTheSameWordsEnergyAndCycles) {
  int compared = 0;
  for (const json& record : records()) {
    if (record.at("factorization") != "pfm") continue;
    SCOPED_TRACE(record.at("name").get<std::string>());
    const Priced priced = price_nest(record);
    for (const auto& [memory, tensors] : record.at("words").items()) {
      for (const auto& [role, words] : tensors.items()) {
        SCOPED_TRACE(memory + " " + role);
        const auto x = static_cast<std::size_t>(tensor_of(priced.layer, role));
        double reads = 0, writes = 0;
        for (std::size_t l = 0; l < priced.memory_of.size(); ++l) {
          if (priced.memory_of[l] != memory) continue;
          const TensorCost& cost = priced.report.levels[l].tensors[x];
          reads += cost.reads;
          writes += cost.fills + cost.updates;
        }
        EXPECT_EQ(reads, words.at("reads").get<double>());
        EXPECT_EQ(writes, words.at("writes").get<double>());
        ++compared;
      }
    }
    // The tool computes in single precision.
    EXPECT_NEAR(priced.report.totals.energy_pj / record.at("energy_pj").get<double>(), 1, 1e-6);
    EXPECT_NEAR(priced.report.totals.cycles / record.at("runtime_cycles").get<double>(), 1, 1e-6);
  }
  EXPECT_GT(compared, 30);
}

// With remainders it takes every PE to be busy all the time; the loop nest needs more steps than that.
TEST(AccelForge, RemaindersTakeTheStepsOfTheNest) {
  int compared = 0;
  for (const json& record : records()) {
    if (record.at("factorization") == "pfm") continue;
    SCOPED_TRACE(record.at("name").get<std::string>());
    const Priced priced = price_nest(record);
    const double theirs = record.at("runtime_cycles");
    EXPECT_NEAR(theirs, priced.report.macs / priced.report.units, 1e-6 * theirs);
    EXPECT_GT(priced.report.totals.steps, theirs);
    EXPECT_LT(priced.report.totals.steps, 1.05 * theirs);
    EXPECT_NEAR(priced.report.totals.energy_pj / record.at("energy_pj").get<double>(), 1, 0.01);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

}  // namespace
}  // namespace pliant
