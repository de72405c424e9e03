// SPDX-License-Identifier: Apache-2.0
// Two readers of the same texts: that of everything else, and the auditor's own.
#include "dse/audit/task_reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/input/load.h"
#include "dse/audit/certificate.h"
#include "support/random_cases.h"
#include "support/shipped_library.h"

namespace pliant::audit {
namespace {

std::vector<std::string> shipped(const char* folder) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs" / folder))
    if (entry.path().extension() == ".yaml" || entry.path().extension() == ".csv")
      names.push_back(entry.path().stem().string());
  return names;
}

TEST(TaskReader, ShippedAcceleratorsAreReadAlike) {
  int read = 0;
  for (const std::string& name : shipped("accelerators")) {
    SCOPED_TRACE(name);
    Accelerator accelerator = load_accelerator(library(), name);
    for (const Operation operation : {Operation::kConv, Operation::kGemm, Operation::kEinsum, Operation::kDepthwise}) {
      // As a certificate writes it: the rules in force and no classes.
      Accelerator machine = accelerator;
      machine.flexibility = accelerator.flexibility_of(operation);
      machine.flexibility.name.clear();
      machine.flexibility_for.clear();
      machine.baseline = {};
      machine.partial.clear();
      machine.fusion.clear();
      const std::string text = write_accelerator(machine);
      EXPECT_EQ(difference(own_accelerator(text), machine), "");
      EXPECT_EQ(difference(own_accelerator(text), parse_accelerator_text(library(), text, "text")), "");
      ++read;
    }
  }
  EXPECT_GT(read, 60);
}

TEST(TaskReader, ShippedLayersAreReadAlike) {
  int read = 0;
  for (const std::string& name : shipped("workloads"))
    for (const Workload::Entry& entry : load_workload(library(), name).layers) {
      SCOPED_TRACE(name + " " + entry.layer.name);
      const std::string text = write_layer(entry.layer);
      EXPECT_EQ(difference(own_layer(text), entry.layer), "");
      EXPECT_EQ(difference(own_layer(text), parse_layer_text(text, "text")), "");
      ++read;
    }
  EXPECT_GT(read, 500);
}

TEST(TaskReader, RandomTasksAreReadAlike) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.most_mappings = 3'000,
                                                               .holes = seed % 6 == 0,
                                                               .bursts = seed % 3 == 1,
                                                               .buses = seed % 3 == 0,
                                                               .residents = seed % 4 == 0,
                                                               .widths = seed % 2 == 0,
                                                               .finished = seed % 5 == 2,
                                                               .networks = seed % 5 == 0,
                                                               .arrays = seed % 5 == 1});
    SCOPED_TRACE(random.text);
    Accelerator machine = random.task.accelerator;
    machine.flexibility = random.task.flexibility;
    machine.flexibility.name.clear();
    machine.flexibility_for.clear();
    EXPECT_EQ(difference(own_accelerator(write_accelerator(machine)), machine), "") << write_accelerator(machine);
    EXPECT_EQ(difference(own_layer(write_layer(random.task.layer)), random.task.layer), "");
  }
}

/// What it does not understand it refuses, and a text of another machine is another machine.
TEST(TaskReader, DifferencesAreNamed) {
  Accelerator machine = load_accelerator(library(), "eyeriss");
  machine.flexibility = machine.flexibility_of(Operation::kConv);
  machine.flexibility_for.clear();
  machine.flexibility.name.clear();
  machine.baseline = {};
  machine.partial.clear();
  machine.fusion.clear();
  const std::string text = write_accelerator(machine);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return other;
  };
  EXPECT_EQ(difference(own_accelerator(changed("cols: 14", "cols: 13")), machine), "level SACols");
  EXPECT_EQ(difference(own_accelerator(changed("read_pj: 2.02", "read_pj: 2.03")), machine), "level GlobalBuffer");
  EXPECT_EQ(difference(own_accelerator(changed("[R, C, B]", "[R, B]")), machine), "the rules of WRegister");
  EXPECT_EQ(difference(own_accelerator(changed("conventions: physical", "conventions: timeloop")), machine),
            "its conventions");
  EXPECT_THROW(own_accelerator(changed("read_pj: 2.02", "read_joule: 2.02")), std::runtime_error);
  EXPECT_THROW(own_layer("pliant: layer\nlayer: a\nconv: {M: 2, K: 3}\n"), std::runtime_error);
}

}  // namespace
}  // namespace pliant::audit
