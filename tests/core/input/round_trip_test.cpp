// SPDX-License-Identifier: Apache-2.0
// Every shipped file loads, and what is written from it loads to the same thing.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/input/load.h"

namespace pliant {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(PLIANT_SOURCE_DIR) / "configs";

TEST(RoundTrip, EveryShippedAccelerator) {
  const Library library(kConfigs);
  const auto names = library.accelerator_names();
  EXPECT_GE(names.size(), 15U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    try {
      const Accelerator loaded = load_accelerator(library, name);
      EXPECT_EQ(loaded.name, name);
      const std::string text = write_accelerator(loaded);
      const Accelerator again = parse_accelerator_text(library, text, "written.yaml");
      EXPECT_TRUE(again == loaded) << text;
      EXPECT_EQ(write_accelerator(again), text);
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(RoundTrip, EveryShippedWorkloadAndItsLayers) {
  const Library library(kConfigs);
  const auto names = library.workload_names();
  EXPECT_GE(names.size(), 20U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    try {
      const Workload loaded = load_workload(library, name);
      EXPECT_EQ(loaded.name, name);
      const std::string text = write_workload(loaded);
      EXPECT_TRUE(parse_workload_text(text, "written.yaml") == loaded) << text;
      for (const auto& [layer, count] : loaded.layers) {
        EXPECT_TRUE(parse_layer_text(write_layer(layer), "written.yaml") == layer) << write_layer(layer);
        EXPECT_EQ(parse_layer(layer.written_as, "--layer").dims, layer.dims);
      }
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(RoundTrip, EveryShippedTechnologyLoads) {
  const Library library(kConfigs);
  EXPECT_GE(library.technology_names().size(), 2U);
  for (const std::string& name : library.technology_names()) {
    const Technology table = load_technology(library, name);
    EXPECT_EQ(table.name, name);
    double last = 0;
    for (Count words = 1; words < Count{1} << 26; words *= 2) {
      EXPECT_GE(table.read_pj(words, 16), last);
      last = table.read_pj(words, 16);
    }
  }
}

TEST(RoundTrip, EveryShippedFlexibilityFitsItsAccelerator) {
  // A flexibility file is tried on every accelerator; it must fit at least one and come back the same from there.
  const Library library(kConfigs);
  for (const std::string& name : library.flexibility_names()) {
    SCOPED_TRACE(name);
    int fits = 0;
    for (const std::string& accelerator : library.accelerator_names()) {
      try {
        const Accelerator changed = load_flexibility(library, name, load_accelerator(library, accelerator));
        ++fits;
        EXPECT_TRUE(parse_flexibility_text(write_flexibility(changed), "written.yaml", changed) == changed);
      } catch (const InputError&) {
      }
    }
    EXPECT_GT(fits, 0);
  }
}

TEST(RoundTrip, MappingOfEveryKindOfLoop) {
  const Library library(kConfigs);
  const Accelerator eyeriss = load_accelerator(library, "eyeriss");
  const Layer layer = parse_layer("conv:M=8,C=4,P=6,Q=6,R=3,S=3", "--layer");
  Mapping mapping = empty_mapping(layer, eyeriss);
  mapping.levels[0].temporal = {{layer.find_dim("M"), 2}, {layer.find_dim("C"), 4}};
  mapping.levels[1].keeps = TensorSet{1} << layer.find_tensor("Inputs");
  mapping.levels[2].spatial = {{layer.find_dim("Q"), 6, Side::kRows}, {layer.find_dim("M"), 2, Side::kCols}};
  mapping.padded = {8, 4, 6, 8, 3, 3};
  const std::string text = write_mapping(layer, eyeriss, mapping, Factorization::kPadding);
  const MappingFile again = parse_mapping_text(text, "written.yaml", layer, eyeriss);
  EXPECT_TRUE(again.mapping == mapping) << text;
  EXPECT_EQ(again.factorization, Factorization::kPadding);
}

TEST(RoundTrip, EinsumWithAffineIndices) {
  const Layer layer = parse_layer_text(
      "layer: odd one\neinsum:\n  dims: {A: 4, B: 8, C: 2}\n  tensors:\n"
      "    - {name: Out, role: outputs, projection: [A, B]}\n"
      "    - {name: X, role: inputs, projection: [A, \"2*B + C\"]}\n"
      "    - {name: W, role: weights, projection: [C]}\n",
      "einsum.yaml");
  EXPECT_EQ(layer.macs(), 64);
  EXPECT_EQ(layer.tensors[1].ranks[1].terms[0].coefficient, 2);
  EXPECT_TRUE(parse_layer_text(write_layer(layer), "written.yaml") == layer) << write_layer(layer);
}

}  // namespace
}  // namespace pliant
