// SPDX-License-Identifier: Apache-2.0
// `pliant map` and `pliant verify` as a user and as a script see them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

/// A file that goes away with the test.
struct Scratch {
  TemporaryFolder folder;
  std::filesystem::path path;
  explicit Scratch(const char* name) : path(folder.path() / name) {}
  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
};

const std::vector<std::string> kSmall = {"map", "--accelerator", "eyeriss", "--layer", "gemm:M=6,N=4,K=4"};

std::vector<std::string> with(std::vector<std::string> args, std::vector<std::string> more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(MapCommand, SaysWhatIsProvenAndDrawsTheNest) {
  const Ran ran = run(kSmall);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("certified optimum"), std::string::npos);
  EXPECT_NE(ran.out.find("MAC: Outputs[m, n] += Inputs[m, k] * Weights[k, n]"), std::string::npos);
  EXPECT_NE(ran.out.find("bound by"), std::string::npos);
}

TEST(MapCommand, ANetworkIsMappedAsAWhole) {
  const std::vector<std::string> args = {"map", "--accelerator", "flexref", "--workload", "ncf_neumf", "--network"};
  const Ran ran = run(with(args, {"--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto network = nlohmann::json::parse(ran.out)["network"];
  EXPECT_TRUE(network["certified"]);
  EXPECT_LE(network["value"].get<double>(), network["layers_alone"]["edp_pj_cycles"].get<double>() * (1 + 1e-12));
  double energy = 0;
  for (const auto& layer : network["layers"]) energy += layer["count"].get<double>() * layer["energy_pj"].get<double>();
  EXPECT_NEAR(energy / network["energy_pj"].get<double>(), 1, 1e-9);
  EXPECT_NE(run(args).out.find("certified optimum of the network"), std::string::npos);
  const Ran late = run(with(args, {"--objective", "energy", "--deadline", "1"}));
  EXPECT_EQ(late.code, 3);
  EXPECT_NE(late.err.find("take at most 1 cycles; the fastest take"), std::string::npos) << late.err;
  EXPECT_EQ(run(with(args, {"--deadline", "0"})).code, 2);
  // Within a deadline any objective of a network: the least EDP of those that are in time.
  const double cycles = network["runtime_cycles"].get<double>();
  const auto within = nlohmann::json::parse(run(with(args, {"--deadline", fmt::format("{}", cycles), "--json"})).out);
  EXPECT_NEAR(within["network"]["value"].get<double>() / network["value"].get<double>(), 1, 1e-9);
  EXPECT_EQ(run(with(kSmall, {"--network"})).code, 2);
}

constexpr const char* kBlocks = R"(name: net
layers:
  - {layer: a, gemm: {M: 64, N: 64, K: 64}}
  - {layer: b, count: 2, gemm: {M: 64, N: 64, K: 64}}
graph:
  - {layer: a}
  - {repeat: 2, from: a, nodes: [{layer: b, from: previous}, {op: add, name: sum, from: [previous, b]}]}
)";

TEST(MapCommand, ANetworkSaysWhichTensorsStay) {
  const Scratch file(".yaml");
  file.write(kBlocks);
  const std::vector<std::string> args = {"map", "--accelerator", "npu", "--workload", file.path.string(), "--network"};
  const Ran ran = run(with(args, {"--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto network = nlohmann::json::parse(ran.out)["network"];
  EXPECT_TRUE(network["certified"]);
  EXPECT_LT(network["value"].get<double>(), network["without_residency"]["value"].get<double>());
  double energy = 0;
  for (const auto& step : network["steps"]) energy += step["energy_pj"].get<double>();
  EXPECT_NEAR(energy / network["energy_pj"].get<double>(), 1, 1e-9);
  ASSERT_EQ(network["tensors"].size(), 5U);
  EXPECT_EQ(network["tensors"][0]["lives_in"], "SRAM");
  EXPECT_EQ(network["tensors"][0]["to_step"], 2);
  EXPECT_EQ(network["tensors"][4]["lives_in"], "outside");  // the network's output
  const std::string text = run(args).out;
  EXPECT_NE(text.find("certified optimum of the network over mappings and residency"), std::string::npos) << text;
  EXPECT_NE(text.find("tensors that stay on chip"), std::string::npos) << text;
  EXPECT_NE(text.find("partial sums of 32 bits in SRAM, 4 times its room"), std::string::npos) << text;
  EXPECT_EQ(run(with(args, {"--residency", "off"})).out.find("residency"), std::string::npos);
  EXPECT_EQ(run(with(args, {"--residency", "maybe"})).code, 2);
}

// What a layer of a network costs is what `pliant map` finds for it alone with the options that `set` lists.
TEST(MapCommand, EveryLayerOfANetworkIsATaskOfItsOwn) {
  const Scratch file(".yaml");
  file.write(kBlocks);
  const std::vector<std::string> on = {"map",         "--accelerator", "npu",   "--workload", file.path.string(),
                                       "--objective", "energy",        "--json"};
  const Ran ran = run(with(on, {"--network"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  int resident = 0;
  const nlohmann::json network = nlohmann::json::parse(ran.out)["network"];
  for (const auto& step : network["steps"]) {
    if (!step.contains("layer")) continue;
    std::vector<std::string> alone = with(on, {"--layer", step["layer"].get<std::string>()});
    for (const auto& setting : step["set"]) {
      alone.push_back("--set");
      alone.push_back(setting);
      resident += setting.get<std::string>().find(".resident=") != std::string::npos ? 1 : 0;
    }
    const Ran layer = run(alone);
    ASSERT_EQ(layer.code, 0) << layer.err;
    const nlohmann::json found = nlohmann::json::parse(layer.out);
    EXPECT_TRUE(found["certified"]);
    EXPECT_NEAR(found["energy_pj"].get<double>() * step["count"].get<double>() / step["energy_pj"].get<double>(), 1,
                1e-9);
  }
  EXPECT_GE(resident, 3);
}

TEST(MapCommand, WeightsStayAcrossInferences) {
  const Scratch file(".yaml");
  file.write(kBlocks);
  const std::vector<std::string> args = {"map", "--accelerator", "npu", "--workload", file.path.string(), "--network"};
  const auto network = [&](const std::string& inferences) {
    return nlohmann::json::parse(run(with(args, {"--json", "--inferences", inferences})).out)["network"];
  };
  const nlohmann::json once = network("1"), often = network("1000");
  EXPECT_FALSE(once.contains("weights"));
  EXPECT_TRUE(often["certified"]);
  ASSERT_EQ(often["weights"].size(), 3U);  // everything fits: a, and b in both rounds
  EXPECT_EQ(often["weights"][0]["words"], 64 * 64);
  EXPECT_LT(often["value"].get<double>(), once["value"].get<double>());
  EXPECT_NE(run(with(args, {"--inferences", "1000"})).out.find("weights that stay across 1000 inferences"),
            std::string::npos);
  EXPECT_EQ(run(with(args, {"--inferences", "0"})).code, 2);
  EXPECT_EQ(run(with(args, {"--inferences", "2", "--residency", "off"})).code, 2);
  EXPECT_EQ(run(with(kSmall, {"--inferences", "2"})).code, 2);
  const Ran unrelated =
      run({"map", "--accelerator", "npu", "--workload", "ncf_neumf", "--network", "--inferences", "2"});
  EXPECT_EQ(unrelated.code, 2);
  EXPECT_NE(unrelated.err.find("does not say which layers read what"), std::string::npos) << unrelated.err;
}

TEST(MapCommand, SeveralObjectivesGiveTheFrontier) {
  const std::vector<std::string> args = {
      "map",         "--accelerator", "eyeriss", "--layer", "conv:M=64,C=64,P=56,Q=56,R=3,S=3",
      "--objective", "runtime,energy"};
  const Ran ran = run(with(args, {"--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_TRUE(json["certified"]);
  const auto& points = json["frontier"];
  ASSERT_GE(points.size(), 2U);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i]["runtime_cycles"], points[i - 1]["runtime_cycles"]);
    EXPECT_LT(points[i]["energy_pj"], points[i - 1]["energy_pj"]);
  }
  EXPECT_NE(run(args).out.find("proven complete"), std::string::npos);
  const Scratch file(".json");
  file.write(ran.out);
  EXPECT_EQ(run({"verify", file.path.string()}).code, 0);
  auto worse = json;
  worse["frontier"][1] = worse["frontier"][0];  // legal, but not the least energy within so many cycles
  worse["frontier"][1]["runtime_cycles"] = points[1]["runtime_cycles"];
  file.write(worse.dump());
  EXPECT_NE(run({"verify", file.path.string()}).code, 0);
  EXPECT_EQ(run(with(args, {"--save", "x.yaml"})).code, 2);
}

TEST(MapCommand, JsonHasTheContractsFields) {
  const Ran ran = run(with(kSmall, {"--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["schema"], 3);
  for (const char* key :
       {"energy_pj", "runtime_cycles", "edp_pj_cycles", "area_um2", "utilization", "bound_by", "levels", "mapping",
        "objective", "value", "lower_bound", "gap", "certified", "mappings_covered", "mapper", "solve_seconds"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["certified"], true);
  EXPECT_EQ(json["gap"], 0);
  EXPECT_EQ(json["value"], json["lower_bound"]);
  EXPECT_TRUE(json["mappings_covered"].is_string());
  EXPECT_NE(json["mappings_covered"].get<std::string>().find_first_of("123456789"), std::string::npos);
}

TEST(MapCommand, HeuristicsClaimNothing) {
  for (const char* mapper : {"local", "genetic", "random"}) {
    const Ran ran = run(with(kSmall, {"--json", "--mapper", mapper}));
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json["certified"], false) << mapper;
    EXPECT_EQ(json["gap"], 1) << mapper;
  }
}

TEST(MapCommand, SavedMappingsEvaluateToTheSameNumbers) {
  const Scratch file(".yaml");
  const Ran mapped = run(with(kSmall, {"--json", "--save", file.path.string()}));
  ASSERT_EQ(mapped.code, 0) << mapped.err;
  const Ran priced = run(
      {"eval", "--accelerator", "eyeriss", "--layer", "gemm:M=6,N=4,K=4", "--mapping", file.path.string(), "--json"});
  ASSERT_EQ(priced.code, 0) << priced.err;
  const auto a = nlohmann::json::parse(mapped.out), b = nlohmann::json::parse(priced.out);
  for (const char* key : {"energy_pj", "runtime_cycles", "edp_pj_cycles", "utilization", "levels", "mapping"})
    EXPECT_EQ(a[key], b[key]) << key;
}

TEST(MapCommand, AllLayersOfAWorkload) {
  const Ran text = run({"map", "--accelerator", "eyeriss", "--workload", "alexnet", "--mapper", "random",
                        "--mapper-option", "victory=20"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("total: energy"), std::string::npos);
  const Ran ran = run({"map", "--accelerator", "eyeriss", "--workload", "alexnet", "--mapper", "random",
                       "--mapper-option", "victory=20", "--json"});
  const auto json = nlohmann::json::parse(ran.out);
  double energy = 0;
  for (const auto& layer : json["layers"]) energy += layer["count"].get<double>() * layer["energy_pj"].get<double>();
  EXPECT_NEAR(json["total"]["energy_pj"].get<double>(), energy, 1e-9 * energy);
}

TEST(MapCommand, NothingFits) {
  const std::vector<std::string> args = {"map",   "--accelerator",    "tpuv1", "--layer", "gemm:M=64,N=64,K=64",
                                         "--set", "DRAM.capacity=100"};
  const Ran ran = run(args);
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("DRAM holds 100 words"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("8192"), std::string::npos) << ran.err;  // inputs and outputs, 4096 words each
  const auto json = nlohmann::json::parse(run(with(args, {"--json"})).out);
  EXPECT_EQ(json["feasible"], false);
  EXPECT_EQ(json["conflict"][0]["level"], "DRAM");
  EXPECT_EQ(json["nearest_miss"][0]["available"], 100);
}

TEST(MapCommand, BadInputIsLocatedAndExplained) {
  EXPECT_EQ(run({"map", "--layer", "gemm:M=6,N=4,K=4"}).code, 2);
  const Ran mapper = run(with(kSmall, {"--mapper", "exat"}));
  EXPECT_EQ(mapper.code, 2);
  EXPECT_NE(mapper.err.find("did you mean exact"), std::string::npos);
  const Ran objective = run(with(kSmall, {"--objective", "edpp"}));
  EXPECT_EQ(objective.code, 2);
  EXPECT_NE(objective.err.find("did you mean edp"), std::string::npos);
  const Ran option = run(with(kSmall, {"--mapper", "local", "--mapper-option", "beams=3"}));
  EXPECT_EQ(option.code, 2);
  EXPECT_NE(option.err.find("did you mean beam"), std::string::npos);
  EXPECT_EQ(run(with(kSmall, {"--budget", "soon"})).code, 2);
  EXPECT_EQ(run(with(kSmall, {"--save", "/no/such/folder/m.yaml"})).code, 2);
}

TEST(VerifyCommand, ConfirmsAnHonestResult) {
  const Scratch file(".json");
  file.write(run(with(kSmall, {"--json"})).out);
  const Ran ran = run({"verify", file.path.string()});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("enumerated all"), std::string::npos);
  EXPECT_EQ(run({"verify", file.path.string(), "--limit", "1"}).code, 0);
}

TEST(VerifyCommand, CatchesEveryLie) {
  const auto honest = nlohmann::json::parse(run(with(kSmall, {"--json"})).out);
  const Scratch file(".json");
  const auto verdict = [&](const nlohmann::json& claim) {
    file.write(claim.dump());
    return run({"verify", file.path.string()}).code;
  };
  EXPECT_EQ(verdict(honest), 0);
  auto lie = honest;
  lie["energy_pj"] = honest["energy_pj"].get<double>() * 0.9;
  EXPECT_EQ(verdict(lie), 1);
  lie = honest;
  lie["lower_bound"] = honest["value"].get<double>() * 1.1;
  lie["certified"] = false;
  EXPECT_EQ(verdict(lie), 1);
  // A worse mapping with an honest price, called optimal.
  lie = nlohmann::json::parse(run(with(kSmall, {"--json", "--mapper", "random", "--mapper-option", "victory=1"})).out);
  ASSERT_GT(lie["value"].get<double>(), honest["value"].get<double>());
  EXPECT_EQ(verdict(lie), 0);
  lie["certified"] = true;
  lie["lower_bound"] = lie["value"];
  EXPECT_EQ(verdict(lie), 1);
  // An illegal mapping.
  lie = honest;
  lie["mapping"]["levels"][0]["temporal"].push_back({{"M", 2}});
  EXPECT_NE(verdict(lie), 0);
}

TEST(VerifyCommand, BadFiles) {
  const Scratch file(".json");
  EXPECT_EQ(run({"verify"}).code, 2);
  EXPECT_EQ(run({"verify", "/no/such/file.json"}).code, 2);
  for (const char* text : {"", "{", "[]", "{\"schema\": 2}", "{\"schema\": 1}", "{\"schema\": 1, \"task\": {}}",
                           "{\"schema\": 1, \"task\": {\"accelerator\": 3}}"}) {
    file.write(text);
    EXPECT_EQ(run({"verify", file.path.string()}).code, 2) << text;
  }
}

}  // namespace
}  // namespace pliant
