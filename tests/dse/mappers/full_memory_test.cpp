// SPDX-License-Identifier: Apache-2.0
// A memory that others have filled needs no search to say that nothing fits; one with room for a word of each does.
#include <gtest/gtest.h>

#include "core/input/load.h"
#include "dse/mappers/network_lines.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

/// A product on npu whose SRAM has so many words left; the inputs may live there besides.
NetworkLayer with_room(Count words, bool inputs_live_there) {
  NetworkLayer layer;
  Task& task = layer.task;
  task.layer = parse_layer("gemm:M=8,N=12,K=16", "test");
  task.accelerator = load_accelerator(library(), "npu");
  Memory& sram = task.accelerator.levels[static_cast<std::size_t>(task.accelerator.find_level("SRAM"))].memory();
  sram.may_bypass.fill(false);
  sram.reserved_words[0] = *sram.capacity_words - words;
  if (inputs_live_there) {
    sram.resident[static_cast<std::size_t>(Role::kInput)] = true;
    Memory& outside = task.accelerator.levels.front().memory();
    outside.may_keep[static_cast<std::size_t>(Role::kInput)] = false;
  }
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  return layer;
}

TEST(FullMemory, IsKnownWithoutASearchAndAsASearchWouldFindIt) {
  const auto mapper = make_mapper("exact");
  const SearchOptions options;
  int known = 0, searched = 0;
  for (const bool inside : {false, true})
    for (Count words = 0; words <= 12; ++words) {
      const NetworkLayer layer = with_room(words, inside);
      for (const double slope : {0.0, 3.0, kInfinity}) {
        LayerLines lines(*mapper, layer, options);
        const bool found = lines.at(slope) != nullptr;
        EXPECT_EQ(found, !mapper->search(layer.task, options).infeasible) << words << " words";
        EXPECT_EQ(found, !lines.infeasible()) << words << " words";
        ++(lines.searches() == 0 ? known : searched);
      }
    }
  EXPECT_GE(known, 6) << "an empty memory was searched";
  EXPECT_GE(searched, 6);
}

}  // namespace
}  // namespace pliant
