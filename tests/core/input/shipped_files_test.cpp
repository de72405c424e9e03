// SPDX-License-Identifier: Apache-2.0
// Shipped files say what their sources say: MAC and weight totals of published networks, sizes, limits and areas of
// published designs. (round_trip_test.cpp loads every file and writes it back.)
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/input/load.h"
#include "core/input/technology.h"
#include "core/layer.h"
#include "core/legality.h"
#include "core/mapping.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = PLIANT_SOURCE_DIR;

const Library& shipped() {
  static const Library library(kSource / "configs");
  return library;
}

std::vector<std::string> stems(const fs::path& folder, const std::string& extension) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

Count total_macs(const Workload& workload) {
  Count total = 0;
  for (const auto& entry : workload.layers) total += entry.count * entry.layer.macs();
  return total;
}

Count total_weights(const Workload& workload) {
  Count total = 0;
  for (const auto& entry : workload.layers) {
    for (std::size_t t = 0; t < entry.layer.tensors.size(); ++t) {
      if (entry.layer.tensors[t].role == Role::kWeight) {
        total += entry.count * entry.layer.tensor_words(static_cast<int>(t));
      }
    }
  }
  return total;
}

double component_area(const Accelerator& accelerator) {
  double area = accelerator.base_area_um2;
  for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
    const Level& level = accelerator.levels[i];
    const auto copies = static_cast<double>(accelerator.instances(static_cast<int>(i)));
    if (level.is_memory()) area += copies * level.memory().area_um2;
    if (level.is_fanout()) area += copies * level.fanout().area_um2;
    if (level.is_compute()) area += copies * level.compute().area_um2;
  }
  return area;
}

TEST(ShippedAccelerators, AreComplete) {
  for (const std::string& name : shipped().accelerator_names()) {
    SCOPED_TRACE(name);
    const Accelerator accelerator = load_accelerator(shipped(), name);
    EXPECT_FALSE(accelerator.description.empty());
    ASSERT_TRUE(accelerator.levels.back().is_compute());
    EXPECT_GT(accelerator.levels.back().compute().mac_pj, 0);
    ASSERT_TRUE(accelerator.levels.front().is_memory());
    EXPECT_GT(accelerator.levels.front().memory().read_pj, 0);
  }
}

TEST(ShippedTechnologies, SmallerNodesCostLess) {
  const std::vector<std::string> nodes{"cmos_65nm", "cmos_45nm", "cmos_28nm", "cmos_22nm", "cmos_15nm", "cmos_7nm"};
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const Technology older = load_technology(shipped(), nodes[i]), newer = load_technology(shipped(), nodes[i + 1]);
    for (Count words = 1; words <= Count{1} << 25; words *= 4) {
      EXPECT_GT(older.read_pj(words, 16), newer.read_pj(words, 16)) << nodes[i] << " " << words;
      EXPECT_GT(older.area_um2(words, 16), newer.area_um2(words, 16)) << nodes[i] << " " << words;
    }
  }
}

// The architectures of the Timeloop vectors are test data, not shipped by name.
TEST(TestData, ArchitecturesOfTheTimeloopVectorsLoad) {
  const auto names = stems(kSource / "tests/data/accelerators", ".yaml");
  EXPECT_EQ(names.size(), 12u);
  for (const std::string& name : names) {
    const fs::path file = kSource / "tests/data/accelerators" / (name + ".yaml");
    const Accelerator accelerator = load_accelerator(shipped(), file.string());
    EXPECT_EQ(accelerator.name, name);
    EXPECT_EQ(accelerator.conventions, Conventions::timeloop());
  }
}

struct Totals {
  std::string name;
  Count macs, weights;
};

// Exact sums over the tables; they agree with the totals in circulation: 724 M, 714 M, 15.5 G, 4.09 G, 300 M, 315 M
// MACs and 61 M, 61.1 M, 138 M, 25.5 M, 3.5 M, 4.4 M weights.
TEST(ShippedWorkloads, NetworkTotalsArePublicOnes) {
  const std::vector<Totals> expected{
      {"alexnet", 724'406'816, 60'954'656},
      {"alexnet_single_tower", 714'188'480, 61'090'496},
      {"vgg16", 15'470'264'320, 138'344'128},
      {"resnet50", 4'089'184'256, 25'502'912},
      {"mobilenet_v2", 300'774'272, 3'469'760},
      {"mnasnet", 314'415'872, 4'344'392},
      {"bert_base_seq512", 48'318'382'080, 94'371'840},
  };
  for (const Totals& network : expected) {
    const Workload workload = load_workload(shipped(), network.name);
    EXPECT_EQ(total_macs(workload), network.macs) << network.name;
    EXPECT_EQ(total_weights(workload), network.weights) << network.name;
  }
}

TEST(ShippedWorkloads, NumbersOfRows) {
  const auto rows = [](std::string_view name) { return load_workload(shipped(), name).layers.size(); };
  EXPECT_EQ(rows("mnasnet"), 53u);
  EXPECT_EQ(rows("flexpaper_mnasnet"), 52u);
  EXPECT_EQ(rows("flexpaper_resnet50"), 53u);
  EXPECT_EQ(rows("flexpaper_mobilenet_v2"), 52u);
  EXPECT_EQ(rows("flexpaper_vgg16"), 13u);
  EXPECT_EQ(rows("deepbench_conv"), 76u);
  EXPECT_EQ(rows("quickflow_kernels"), 20u);
  for (const std::string& name : shipped().workload_names()) {
    if (name.starts_with("llm_")) {
      const bool experts = name.starts_with("llm_mixtral") || name.starts_with("llm_qwen3_30b_a3b");
      EXPECT_EQ(rows(name), experts ? 9u : 8u) << name;  // experts have a router
    }
  }
}

TEST(ShippedWorkloads, TheDesignsExampleLayerExists) {
  const Workload workload = load_workload(shipped(), "resnet50");
  const Workload::Entry* entry = workload.find("conv2_1b");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->count, 3);
  EXPECT_EQ(entry->layer, make_conv("conv2_1b", {.M = 64, .C = 64, .P = 56, .Q = 56, .R = 3, .S = 3}));
}

// The layers on which the flexibility paper's printed figures rest.
TEST(ShippedWorkloads, FlexibilityPaperLayers) {
  const Workload workload = load_workload(shipped(), "flexpaper_mnasnet");
  const auto same = [&](const std::string& name, const ConvShape& shape) {
    const Workload::Entry* entry = workload.find(name);
    return entry != nullptr && entry->layer == make_conv(name, shape);
  };
  EXPECT_TRUE(same("L15", {.M = 40, .C = 72, .P = 28, .Q = 28}));
  EXPECT_TRUE(same("L16", {.M = 120, .C = 40, .P = 28, .Q = 28}));
  EXPECT_TRUE(same("L21", {.M = 40, .C = 120, .P = 28, .Q = 28}));
  EXPECT_TRUE(same("L25", {.M = 480, .C = 80, .P = 14, .Q = 14}));
  EXPECT_TRUE(same("L29", {.M = 480, .C = 480, .P = 14, .Q = 14, .R = 5, .S = 5, .groups = 480}));
}

TEST(ShippedWorkloads, QuickFlowKernelsHaveTheirOddities) {
  const Workload workload = load_workload(shipped(), "quickflow_kernels");
  const auto layer = [&](const std::string& name) { return workload.find(name)->layer; };
  EXPECT_EQ(layer("QF_XIV"), make_conv("QF_XIV", {.M = 128,
                                                  .C = 128,
                                                  .P = 112,
                                                  .Q = 112,
                                                  .R = 9,
                                                  .S = 9,
                                                  .stride_p = 4,
                                                  .stride_q = 4,
                                                  .dilation_r = 3,
                                                  .dilation_s = 3}));
  EXPECT_EQ(layer("QF_XVI"),
            make_conv("QF_XVI", {.M = 256, .C = 128, .P = 32, .Q = 32, .R = 4, .S = 4, .transposed = true}));
  EXPECT_EQ(layer("QF_XIX"),
            make_conv("QF_XIX",
                      {.B = 128, .M = 72, .C = 72, .P = 28, .Q = 28, .R = 3, .S = 3, .stride_p = 2, .stride_q = 2}));
}

TEST(ShippedAccelerators, NumbersOfUnits) {
  const auto units = [](std::string_view name) { return load_accelerator(shipped(), name).macs_units(); };
  EXPECT_EQ(units("eyeriss"), 168);
  EXPECT_EQ(units("simba"), 256);
  EXPECT_EQ(units("tpuv1"), 65536);
  EXPECT_EQ(units("gemmini"), 256);
  EXPECT_EQ(units("ruby_eyeriss"), 168);
  EXPECT_EQ(units("ruby_simba_16"), 256);
  EXPECT_EQ(units("ruby_simba_15"), 240);
  EXPECT_EQ(units("ruby_simba_9"), 81);
  for (const Count pes : {5, 6, 8, 15, 16}) EXPECT_EQ(units("ruby_toy_" + std::to_string(pes)), pes);
  EXPECT_EQ(units("goma_eyeriss"), 256);
  EXPECT_EQ(units("goma_gemmini"), 256);
  EXPECT_EQ(units("goma_a100"), 65536);
  EXPECT_EQ(units("goma_tpuv1"), 65536);
  EXPECT_EQ(units("flexref"), 1024);
}

TEST(ShippedAccelerators, EnergiesOfTheSourceAreKeptToTheDigit) {
  const Accelerator eyeriss = load_accelerator(shipped(), "eyeriss");
  const Memory& buffer = eyeriss.levels[static_cast<std::size_t>(eyeriss.find_level("GlobalBuffer"))].memory();
  EXPECT_EQ(buffer.read_pj, 2.02);
  EXPECT_EQ(buffer.write_pj, 2.02);
  EXPECT_EQ(buffer.read_words_per_cycle, 16.0);
  EXPECT_EQ(buffer.write_words_per_cycle, 16.0);
  EXPECT_EQ(buffer.capacity_words, 131072);
}

// The mappings that FactorFlow's own model was asked about obey the loops, orders and fanouts of our files. Capacity is
// left out: that code measures strided input tiles without the stride.
TEST(ShippedAccelerators, LimitsAllowTheMappingsOfTheirSource) {
  std::ifstream in(kSource / "tests/data/quickflow_vectors.json");
  const nlohmann::json file = nlohmann::json::parse(in);
  const std::map<std::string, std::string> names{{"Eyeriss", "eyeriss"}, {"Simba", "simba"}, {"TPUv1", "tpuv1"}};
  const Workload kernels = load_workload(shipped(), "quickflow_kernels");
  ASSERT_EQ(file["vectors"].size(), 90U);
  for (const auto& vector : file["vectors"]) {
    const std::string kernel = "QF_" + vector["kernel"].get<std::string>();
    SCOPED_TRACE(vector["arch"].get<std::string>() + " " + kernel);
    const Accelerator accelerator = load_accelerator(shipped(), names.at(vector["arch"]));
    const Layer& layer = kernels.find(kernel)->layer;
    Mapping mapping = empty_mapping(layer, accelerator);
    for (const auto& entry : vector["mapping"]) {
      const auto level = static_cast<std::size_t>(accelerator.find_level(entry["level"].get<std::string>()));
      LevelMapping& loops = mapping.levels[level];
      const auto& factors = entry["factors"];
      if (accelerator.levels[level].is_fanout()) {
        for (const auto& [dim, bound] : factors.items())
          loops.spatial.push_back({layer.find_dim(dim), bound, Side::kCols});
      } else {
        for (const auto& dim : entry["loop_order_outer_to_inner"]) {
          loops.temporal.push_back({layer.find_dim(dim.get<std::string>()), factors[dim.get<std::string>()]});
        }
      }
    }
    for (const Violation& violation :
         check_legality(layer, accelerator, accelerator.flexibility_of(layer), Factorization::kPerfect, mapping)) {
      EXPECT_EQ(violation.rule, Violation::Rule::kCapacity) << violation.message;
    }
  }
}

// Table 3 of the flexibility paper at its reference point.
TEST(ShippedAccelerators, FlexibilityReferenceHasThePublishedArea) {
  const Accelerator reference = load_accelerator(shipped(), "flexref");
  EXPECT_NEAR(component_area(reference), 736'843, 0.01);
  EXPECT_EQ(reference.flexibility_area_um2, (std::array<double, 4>{31, 1615, 877, 212}));
}

}  // namespace
}  // namespace pliant
