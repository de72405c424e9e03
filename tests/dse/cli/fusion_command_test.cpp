// SPDX-License-Identifier: Apache-2.0
// `pliant map --fusion` as a user and as a script see it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using Words = std::vector<std::string>;

/// Two GEMMs of equal shape, a third, and a buffer of 2048 words of 8 bits.
class FusionCommand : public testing::Test {
 protected:
  void SetUp() override {
    write("machine.yaml", R"(pliant: accelerator
name: two_memories
word_bits: 8
conventions: physical
levels:
  - {memory: Main, capacity: unbounded, read_pj: 800, write_pj: 800}
  - {memory: Buffer, capacity: 2048, read_pj: 8, write_pj: 8}
  - {compute: MAC, mac_pj: 1}
)");
    write("chain.yaml", R"(pliant: workload
name: chain
layers:
  - {layer: a, gemm: {M: 64, N: 64, K: 64}}
  - {layer: b, gemm: {M: 64, N: 64, K: 64}}
graph:
  - {layer: a}
  - {op: activation, name: act, from: a}
  - {layer: b, from: act}
)");
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Words asked(const Words& more) const {
    Words words{"map",         "--accelerator", file("machine.yaml"), "--workload", file("chain.yaml"),
                "--objective", "energy"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  nlohmann::json network(const Words& more) const {
    Words words = asked(more);
    words.emplace_back("--json");
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out)["network"];
  }

 private:
  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

/// 47,022,080 pJ is what a public tool finds for this chain: rows and columns in two, a tile of 32 x 32.
TEST_F(FusionCommand, TellsGroupsAndWhatTheyGain) {
  const nlohmann::json tiles = network({"--fusion", "tiles"});
  EXPECT_TRUE(tiles["certified"]);
  EXPECT_EQ(tiles["value"], 47022080);
  EXPECT_EQ(tiles["fusion"], "tiles");
  EXPECT_EQ(tiles["whole_tensors"]["value"], network({})["value"]);
  EXPECT_EQ(tiles["without_residency"]["value"], network({"--fusion", "off"})["value"]);
  EXPECT_EQ(network({"--fusion", "off"})["value"], network({"--residency", "off"})["value"]);
  ASSERT_EQ(tiles["groups"].size(), 1U);
  const nlohmann::json& loops = tiles["groups"][0]["tiles"][0]["under"];
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(loops[0], (nlohmann::json{{"axis", "a.M"}, {"cuts", "M"}, {"rounds", 2}, {"tile", 32}}));
  EXPECT_EQ(loops[1], (nlohmann::json{{"axis", "a.N"}, {"cuts", "N"}, {"rounds", 2}, {"tile", 32}}));
  EXPECT_EQ(tiles["tensors"][0]["tiles"], true);
  double energy = 0;
  for (const auto& step : tiles["steps"]) energy += step["energy_pj"].get<double>();
  EXPECT_NEAR(energy / tiles["energy_pj"].get<double>(), 1, 1e-12);
  const std::string text = run(asked({"--fusion", "tiles"})).out;
  for (const char* part : {"certified optimum of the network over mappings, residency and tiles",
                           "a.M 2 x 32, a.N 2 x 32", "whole tensors on chip: energy 5.033165e+07 (certified)"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(FusionCommand, IsVerified) {
  Words words = asked({"--fusion", "tiles", "--json"});
  const std::string told = run(words).out;
  write("told.json", told);
  const Ran right = run({"verify", file("told.json")});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  EXPECT_NE(right.out.find("the network: proven again by another search"), std::string::npos) << right.out;
  // A run less, or a run that is cheaper than its mapping, is found.
  nlohmann::json fewer = nlohmann::json::parse(told);
  fewer["network"]["steps"][0]["runs"][0]["times"] = 3;
  write("told.json", fewer.dump());
  EXPECT_NE(run({"verify", file("told.json")}).code, 0);
  nlohmann::json cheaper = nlohmann::json::parse(told);
  cheaper["network"]["steps"][0]["runs"][0]["energy_pj"] = 1;
  write("told.json", cheaper.dump());
  EXPECT_NE(run({"verify", file("told.json")}).code, 0);
}

/// The axis F is legality: what the rules forbid is no choice, and verify finds a plan that breaks them.
TEST_F(FusionCommand, KeepsTheRulesOfTheDesign) {
  const std::string told = run(asked({"--fusion", "tiles", "--json"})).out;
  const double best = nlohmann::json::parse(told)["network"]["value"];
  const std::string machine = R"(pliant: accelerator
name: two_memories
word_bits: 8
conventions: physical
levels:
  - {memory: Main, capacity: unbounded, read_pj: 800, write_pj: 800}
  - {memory: Buffer, capacity: 2048, read_pj: 8, write_pj: 8}
  - {compute: MAC, mac_pj: 1}
flexibility: {fusion: )";
  write("told.json", told);
  double before = best;
  for (const char* rules : {"{Buffer: {depth: 1}}", "{Buffer: {dims: [N]}}", "none"}) {
    write("machine.yaml", machine + rules + "}\n");
    const Ran wrong = run({"verify", file("told.json")});
    EXPECT_NE(wrong.code, 0) << wrong.out;
    EXPECT_NE((wrong.out + wrong.err).find("Buffer may hold "), std::string::npos) << wrong.out << wrong.err;
    const nlohmann::json kept = network({"--fusion", "tiles"});
    EXPECT_TRUE(kept["certified"]);
    EXPECT_GE(kept["value"].get<double>(), before) << rules;
    before = kept["value"];
  }
  EXPECT_EQ(before, network({"--fusion", "whole"})["value"].get<double>());
  EXPECT_LT(best, before);
  EXPECT_NE(run(asked({"--fusion", "tiles"})).out.find("this design has no F"), std::string::npos);
  // A value that nothing the design can do has.
  nlohmann::json cheaper = nlohmann::json::parse(run(asked({"--fusion", "tiles", "--json"})).out);
  cheaper["network"]["groups"] = nlohmann::json::parse(told)["network"]["groups"];
  cheaper["network"]["steps"] = nlohmann::json::parse(told)["network"]["steps"];
  for (const char* key : {"value", "lower_bound", "energy_pj", "runtime_cycles", "edp_pj_cycles"})
    cheaper["network"][key] = nlohmann::json::parse(told)["network"][key];
  cheaper["network"]["groups"] = nlohmann::json::array();
  write("told.json", cheaper.dump());
  const Ran wrong = run({"verify", file("told.json")});
  EXPECT_NE(wrong.code, 0);
  EXPECT_NE((wrong.out + wrong.err).find("and nothing takes"), std::string::npos) << wrong.out << wrong.err;
}

/// A deadline between two corners: what is told keeps it, is no worse than with whole tensors, and has a bound. Without
/// F it is that of whole tensors, proven.
TEST_F(FusionCommand, KeepsADeadline) {
  write("machine.yaml", R"(pliant: accelerator
name: two_memories
word_bits: 8
conventions: physical
levels:
  - {memory: Main, capacity: unbounded, read_pj: 10, write_pj: 10, bandwidth: 4}
  - {memory: Buffer, capacity: 2048, read_pj: 8, write_pj: 8, bandwidth: 4, may_bypass: [inputs, weights]}
  - {fanout: Units, rows: 4, cols: 4, multicast: false}
  - {compute: MAC, mac_pj: 1}
)");
  const nlohmann::json free = network({"--fusion", "tiles"});
  int open = 0, with_groups = 0;
  for (const char* deadline : {"170000", "250000", "285696"}) {
    const nlohmann::json tiles = network({"--fusion", "tiles", "--deadline", deadline});
    const nlohmann::json whole = network({"--fusion", "whole", "--deadline", deadline});
    EXPECT_LE(tiles["runtime_cycles"].get<double>(), std::stod(deadline) * (1 + 1e-9));
    EXPECT_LE(tiles["value"].get<double>(), whole["value"].get<double>() * (1 + 1e-9));
    EXPECT_LE(tiles["lower_bound"].get<double>(), tiles["value"].get<double>());
    EXPECT_GE(tiles["lower_bound"].get<double>(), free["value"].get<double>() * (1 - 1e-9));
    EXPECT_EQ(tiles["certified"].get<bool>(), !tiles.contains("ended_by"));
    open += tiles["certified"].get<bool>() ? 0 : 1;
    with_groups += tiles["groups"].empty() ? 0 : 1;
    const nlohmann::json none = network({"--fusion", "tiles", "--deadline", deadline, "--set", "Buffer.fusion=none"});
    EXPECT_TRUE(none["certified"]);
    EXPECT_EQ(none["value"], whole["value"]);
  }
  EXPECT_GE(open, 1);
  EXPECT_GE(with_groups, 1);
  EXPECT_EQ(run(asked({"--fusion", "tiles", "--deadline", "1000"})).code, 3);
}

/// Two groups of two query heads each: keys and values of a group are held, heads pass one by one.
TEST_F(FusionCommand, HeadsPassOneByOne) {
  write("chain.yaml", R"(pliant: workload
name: attention
layers:
  - {layer: kv, count: 2, gemm: {M: 32, N: 32, K: 8}}
  - {layer: score, count: 4, gemm: {M: 32, N: 32, K: 16}}
  - {layer: context, count: 4, gemm: {M: 32, N: 16, K: 32}}
graph:
  - {layer: kv, name: k}
  - {layer: kv, name: v}
  - {layer: score, count: 4, from: {Weights: k}}
  - {op: softmax, name: weights, online: true, from: score}
  - {layer: context, count: 4, from: {Inputs: weights, Weights: v}}
)");
  Words words = asked({"--fusion", "tiles", "--json"});
  const std::string told = run(words).out;
  const nlohmann::json tiles = nlohmann::json::parse(told)["network"];
  EXPECT_TRUE(tiles["certified"]);
  ASSERT_EQ(tiles["groups"].size(), 1U);
  const nlohmann::json& loops = tiles["groups"][0]["tiles"][0]["under"];
  EXPECT_EQ(loops[0], (nlohmann::json{{"axis", "score.groups"}, {"rounds", 2}, {"tile", 1}}));
  int heads = 0;
  for (const auto& loop : loops) heads += loop["axis"] == "score.layers" && loop["rounds"] == 2 ? 1 : 0;
  EXPECT_EQ(heads, 1);
  write("told.json", told);
  const Ran right = run({"verify", file("told.json")});
  EXPECT_EQ(right.code, 0) << right.out << right.err;
  nlohmann::json fewer = nlohmann::json::parse(told);
  fewer["network"]["steps"][2]["runs"][0]["times"] = 1;
  write("told.json", fewer.dump());
  EXPECT_NE(run({"verify", file("told.json")}).code, 0);
}

TEST_F(FusionCommand, SaysWhatDoesNotWork) {
  const auto refused = [&](const Words& more, const std::string& why) {
    const Ran ran = run(asked(more));
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
  };
  refused({"--fusion", "some"}, "off, whole or tiles");
  refused({"--fusion", "tiles", "--inferences", "3"}, "beside layers that pass tiles on");
  refused({"--fusion", "tiles", "--network", "--mapper", "random"}, "the mapper random proves no bounds");
  refused({"--fusion", "tiles", "--residency", "off"}, "beside tensors that all live outside");
  refused({"--fusion", "off", "--residency", "on"}, "beside a residency that says something else");
  refused({"--fusion", "tiles", "--conventions", "timeloop"}, "physical conventions only");
}

}  // namespace
}  // namespace pliant
