// SPDX-License-Identifier: Apache-2.0
// The shipped flexibilities of real accelerators load on the reference design and belong to the class they state.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "support/checked_space.h"

namespace pliant {
namespace {

TEST(Presets, BelongToTheClassTheyState) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const Accelerator reference = load_accelerator(library, "flexref");
  const std::map<std::string, std::string> classes{
      {"nvdla", "1000"},         {"tpu", "1000"},          {"shidiannao", "0000"}, {"eyeriss", "1001"},
      {"maeri", "1011"},         {"simba", "1010"},        {"eyeriss_v2", "1011"}, {"flexflow", "0010"},
      {"study_shape_a", "1101"}, {"study_shape_b", "1101"}};
  const std::vector<Layer> layers{make_conv("conv", {.M = 8, .C = 8, .P = 4, .Q = 4, .R = 3, .S = 3}),
                                  make_gemm("gemm", {.M = 8, .N = 8, .K = 8})};
  const std::vector<std::string> names = library.flexibility_names();
  EXPECT_EQ(names.size(), classes.size());
  for (const std::string& name : names) {
    const Accelerator design = choose_flexibility(library, name, reference);
    ASSERT_TRUE(classes.contains(name)) << name;
    for (const Layer& layer : layers) {
      const Flexibility& flexibility = design.flexibility_of(layer);
      EXPECT_EQ(class_of(design, flexibility).bits(), classes.at(name)) << name << " " << layer.name;
      const MapSpace space(layer, design, flexibility);
      Sampler sampler(space);
      std::mt19937_64 random(1);
      EXPECT_TRUE(testing::draw_mapping(space, sampler, random).has_value()) << name << " " << layer.name;
    }
  }
}

}  // namespace
}  // namespace pliant
