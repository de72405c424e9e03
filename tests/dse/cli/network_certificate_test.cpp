// SPDX-License-Identifier: Apache-2.0
// Certificates of networks: honest ones are clean, and every spoiled one is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "support/ran_command.h"
#include "support/spoiled_networks.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

using nlohmann::json;

/// A skip connection over two layers, an operator that is not in place, and a buffer in which not all of it fits.
constexpr const char* kResidualNetwork = R"(pliant: workload
name: residual
layers:
  - {layer: stem, conv: {M: 8, C: 4, P: 8, Q: 8, R: 3, S: 3}}
  - {layer: wide, count: 2, conv: {M: 16, C: 8, P: 8, Q: 8}}
  - {layer: narrow, count: 2, conv: {M: 8, C: 16, P: 8, Q: 8}}
  - {layer: last, gemm: {M: 1, N: 10, K: 8}}
graph:
  - {layer: stem}
  - repeat: 2
    from: stem
    nodes:
      - {layer: wide, from: previous}
      - {layer: narrow, from: wide}
      - {op: add, name: sum, from: [previous, narrow]}
  - {op: pool, name: pool, words: 8, from: sum}
  - {layer: last, from: pool}
)";

constexpr const char* kSmallMachine = R"(pliant: accelerator
name: small
word_bits: 8
bits: {inputs: 8, weights: 8, outputs: 8, partial_sums: 16}
levels:
  - {memory: DRAM, capacity: unbounded, read_pj: 60, bandwidth: 8}
  - {memory: Buffer, capacity: 1800, read_pj: 3, bandwidth: 32}
  - {fanout: PEs, rows: 4, cols: 4}
  - {memory: Register, capacity: 16, read_pj: 0.2}
  - {compute: MAC, mac_pj: 0.1, leak_pj_per_cycle: 0.01}
flexibility:
  orders: {DRAM: [[M, N, C, K, P, Q, R, S]], Buffer: [[M, N, P, Q, C, K, R, S]]}
  loops: {Register: []}
  parallel: {PEs: {rows: [C, K], cols: [M, N]}}
)";

class NetworkCertificates : public testing::Test {
 protected:
  NetworkCertificates() {
    std::ofstream(file("network.yaml")) << kResidualNetwork;
    std::ofstream(file("machine.yaml")) << kSmallMachine;
  }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  std::vector<std::string> question(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"map",        "--accelerator",      file("machine.yaml"),
                                   "--workload", file("network.yaml"), "--network"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  json certificate(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = question(more);
    words.insert(words.end(), {"--certificate", file("proof.json")});
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(std::ifstream(file("proof.json")));
  }
  Ran audit(const json& certificate) const {
    std::ofstream(file("altered.json")) << certificate.dump();
    return run({"audit", file("altered.json")});
  }

  TemporaryFolder folder_;
};

TEST_F(NetworkCertificates, AreClean) {
  for (const std::vector<std::string>& asked : std::vector<std::vector<std::string>>{{},
                                                                                     {"--objective", "energy"},
                                                                                     {"--objective", "runtime"},
                                                                                     {"--objective", "ed2p"},
                                                                                     {"--residency", "off"},
                                                                                     {"--gap", "5%"},
                                                                                     {"--factorization", "ruby-s"}}) {
    const json honest = certificate(asked);
    const Ran ran = audit(honest);
    EXPECT_EQ(ran.code, 0) << asked.size() << ran.out << ran.err;
    EXPECT_NE(ran.out.find("clean: "), std::string::npos) << ran.out;
  }
}

TEST_F(NetworkCertificates, SomethingStaysAndNotEverythingFits) {
  const json honest = certificate();
  EXPECT_TRUE(honest["claim"]["certified"].get<bool>());
  std::set<std::string> places;
  for (const json& step : honest["claim"]["steps"]) places.insert(step["made_in"].get<std::string>());
  EXPECT_EQ(places, (std::set<std::string>{"Buffer", "outside"}));
}

TEST_F(NetworkCertificates, OfLayersThatHaveNothingToDoWithEachOther) {
  std::string text = kResidualNetwork;
  text.resize(text.find("graph:"));
  std::ofstream(file("network.yaml")) << text;
  EXPECT_EQ(audit(certificate()).code, 0);
  const json within = certificate({"--objective", "energy", "--deadline", "20000"});
  EXPECT_EQ(audit(within).code, 0);
  json raised = certificate();
  raised["claim"]["lower_bound"] = raised["claim"]["value"].get<double>() * (1 + 1e-6);
  EXPECT_EQ(audit(raised).code, 1);
}

TEST_F(NetworkCertificates, WithADeadlineClaimWhatTheirLinesProve) {
  const json fastest = certificate({"--objective", "runtime"});
  const double cycles = 1.05 * fastest["claim"]["cycles"].get<double>();
  json within = certificate({"--objective", "energy", "--deadline", std::to_string(cycles)});
  EXPECT_LE(within["claim"]["cycles"].get<double>(), cycles);
  EXPECT_EQ(audit(within).code, 0);
  within["task"]["most_cycles"] = 0.99 * within["claim"]["cycles"].get<double>();
  EXPECT_EQ(audit(within).code, 1);
}

/// A claim that does not follow from what is left is not contradicted by it; what another choice beats is.
TEST_F(NetworkCertificates, WhatDoesNotFollowIsUndecidedAndWhatIsBeatenIsWrong) {
  json bad = certificate();
  bad["slopes"] = json::array({0.0});
  Ran ran = audit(bad);
  EXPECT_EQ(ran.code, 4);
  EXPECT_NE(ran.out.find("UNDECIDED  the lines leave"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("WRONG"), std::string::npos) << ran.out;
  // The fewest cycles are no least EDP; said to be, the proofs' own mappings are better.
  json other = certificate({"--objective", "runtime"});
  const json best = certificate();
  other["task"]["objective"] = "edp";
  const double value = other["claim"]["energy_pj"].get<double>() * other["claim"]["cycles"].get<double>();
  ASSERT_GT(value, best["claim"]["value"].get<double>() * 1.001);
  for (const char* key : {"value", "lower_bound"}) other["claim"][key] = value;
  other["slopes"] = best["slopes"];
  other["variants"] = best["variants"];
  ran = audit(other);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_NE(ran.out.find("WRONG      a choice has the value"), std::string::npos) << ran.out;
}

TEST_F(NetworkCertificates, SpoiledOnesAreRefused) {
  const json honest = certificate();
  ASSERT_EQ(audit(honest).code, 0);
  std::mt19937_64 random(7);
  constexpr std::size_t kDraws = 1000;
  const char* asked = std::getenv("PLIANT_SPOILINGS");
  const std::size_t each = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 2;
  for (std::size_t tried = 0; tried < each * tests::kSpoilings.size(); ++tried) {
    const auto& [name, spoil] = tests::kSpoilings[tried % tests::kSpoilings.size()];
    json bad = honest;
    std::size_t draws = 1;
    for (; !spoil(bad, random) && draws < kDraws; ++draws) bad = honest;
    ASSERT_LT(draws, kDraws) << name;
    const Ran ran = audit(bad);
    EXPECT_TRUE(tests::is_refused(name, ran.code)) << name << ": " << ran.code << "\n" << ran.out << ran.err;
  }
}

TEST_F(NetworkCertificates, TheProgramAuditsItsOwnClaim) {
  const Ran ran = run(question({"--audit"}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("audited: "), std::string::npos) << ran.out;
  const Ran said = run(question({"--audit", "--json"}));
  const json answer = json::parse(said.out);
  EXPECT_EQ(answer["audit"]["verdict"], "audited");
  EXPECT_EQ(answer["audit"]["checked"], answer["audit"]["choices"]);
  const Ran refused = run(question({"--audit", "--inferences", "10"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--audit: of a network with weights that stay"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace pliant
