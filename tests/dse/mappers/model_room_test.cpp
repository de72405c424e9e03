// SPDX-License-Identifier: Apache-2.0
// Networks against the memory that their weights come from, counted by hand.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/mappers/model_room.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

Accelerator chip(const char* capacity) {
  return parse_accelerator_text(library(),
                                std::string("pliant: accelerator\nname: chip\nword_bits: 16\nbits: {weights: 8}\n"
                                            "levels:\n  - {memory: HBM, capacity: ") +
                                    capacity + ", read_pj: 1}\n  - {compute: MAC, mac_pj: 1}\n",
                                "chip.yaml");
}

/// 3 layers of 40 x 50 weights of a byte, and one of 10 x 20: 6200 bytes. The first has most activations: 30 x 40
/// inputs and 30 x 50 outputs of two bytes, 5400 bytes.
Workload network() {
  Workload w;
  w.name = "two";
  w.layers = {{make_gemm("wide", {.M = 30, .N = 50, .K = 40}), 3}, {make_gemm("last", {.M = 1, .N = 20, .K = 10}), 1}};
  return w;
}

TEST(ModelRoom, CountsTheWeightsOfAllLayersAndTheActivationsOfOne) {
  EXPECT_FALSE(model_too_large(network(), chip("unbounded")));
  EXPECT_FALSE(model_too_large(network(), chip("5800")));  // words of two bytes
  const auto little = model_too_large(network(), chip("5799"));
  ASSERT_TRUE(little);
  EXPECT_EQ(little->weights_bytes, 6200);
  EXPECT_EQ(little->activations_bytes, 5400);
  EXPECT_EQ(little->capacity_bytes, 11598);
  EXPECT_EQ(little->chips(), 2);
  EXPECT_EQ(model_too_large(network(), chip("1000"))->chips(), 6);
}

TEST(ModelRoom, SaysHowManyChipsThereMustBe) {
  EXPECT_EQ(model_room_text({"HBM", 80.0 * (1 << 30), 141e9, 1e6}),
            "141 GB of weights do not fit into HBM (85.9 GB): 2 chips");
  EXPECT_EQ(model_room_text({"DRAM", 1e6, 0.9e6, 0.2e6}),
            "0.9 MB of weights and 0.2 MB of activations do not fit into DRAM (1 MB): 2 chips");
}

/// An operand that another layer makes is no weight of the network.
TEST(ModelRoom, LeavesOutWhatLayersMake) {
  Workload w = network();
  WorkloadGraph graph;
  graph.nodes.resize(2);
  graph.nodes[0].layer = 0;
  graph.nodes[0].count = 3;
  graph.nodes[1].layer = 1;
  graph.nodes[1].from = {{0, w.layers[1].layer.find_tensor("Weights")}};
  w.graph = graph;
  EXPECT_EQ(model_too_large(w, chip("1000"))->weights_bytes, 6000);
}

}  // namespace
}  // namespace pliant
