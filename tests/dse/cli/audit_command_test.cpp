// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

class AuditCommand : public testing::Test {
 protected:
  std::string certificate(const std::vector<std::string>& task) const {
    std::vector<std::string> args{"map", "--certificate", file_.string()};
    args.insert(args.end(), task.begin(), task.end());
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  Ran audit(const nlohmann::json& altered, const std::vector<std::string>& more = {}) const {
    std::ofstream(file_) << altered.dump();
    std::vector<std::string> args{"audit", file_.string()};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "certificate.json";
};

const std::vector<std::string> kAudited{"--accelerator", "eyeriss", "--layer", "conv:M=32,C=16,P=14,Q=14,R=3,S=3"};

TEST_F(AuditCommand, AProofOfALargeMapSpaceIsClean) {
  const auto honest = nlohmann::json::parse(certificate(kAudited));
  const Ran ran = audit(honest);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("clean: "), std::string::npos) << ran.out;
  const auto report = nlohmann::json::parse(audit(honest, {"--json"}).out);
  EXPECT_EQ(report["verdict"], "clean");
  EXPECT_EQ(report["checked"], report["choices"]);
  EXPECT_GT(report["choices"].get<int>(), 20);
  EXPECT_EQ(report["mappings_enumerated"], 0);
}

TEST_F(AuditCommand, TheProgramAuditsWhatItHasJustClaimed) {
  std::vector<std::string> words{"map", "--audit"};
  words.insert(words.end(), kAudited.begin(), kAudited.end());
  const Ran ran = run(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("\naudited: "), std::string::npos) << ran.out;
  words.emplace_back("--json");
  const auto answer = nlohmann::json::parse(run(words).out);
  EXPECT_EQ(answer["audit"]["verdict"], "audited");
  EXPECT_EQ(answer["audit"]["checked"], answer["audit"]["choices"]);
  // Of a padded layer a large map-space is not decided, and the exit code says so.
  const Ran open = run({"map", "--audit", "--accelerator", "eyeriss", "--layer", "conv:M=31,C=17,P=13,Q=13,R=3,S=3",
                        "--factorization", "padding"});
  EXPECT_EQ(open.code, 4) << open.out << open.err;
  EXPECT_NE(open.out.find("undecided: "), std::string::npos) << open.out;
  const Ran mixed =
      run({"map", "--audit", "--accelerator", "eyeriss", "--layer", "gemm:M=4,N=4,K=4", "--mapper", "random"});
  EXPECT_EQ(mixed.code, 2);
  EXPECT_NE(mixed.err.find("--audit: the mapper random proves nothing"), std::string::npos) << mixed.err;
}

TEST_F(AuditCommand, ASampleIsCalledASample) {
  const auto honest = nlohmann::json::parse(certificate(kAudited));
  const Ran ran = audit(honest, {"--sample", "20%", "--seed", "3"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("sample clean: "), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("\nclean: "), std::string::npos) << ran.out;
}

TEST_F(AuditCommand, AlteredProofsOfALargeMapSpaceAreFound) {
  const auto honest = nlohmann::json::parse(certificate(kAudited));
  auto altered = honest;
  altered["claim"]["value"] = honest["claim"]["value"].get<double>() * 0.98;
  altered["claim"]["lower_bound"] = altered["claim"]["value"];
  EXPECT_EQ(audit(altered).code, 1);
  for (std::size_t i = 0; i < honest["parts"].size(); ++i) {
    altered = honest;
    altered["parts"].erase(i);
    EXPECT_EQ(audit(altered).code, 1) << "without part " << i + 1;
  }
  // The layer of another proof.
  altered = honest;
  altered["task"]["layer"] =
      nlohmann::json::parse(certificate({"--accelerator", "eyeriss", "--layer", "conv:M=32,C=32,P=14,Q=14,R=3,S=3"}))
          .at("task")
          .at("layer");
  EXPECT_EQ(audit(altered).code, 2) << "the mapping names its layer";
  // A mapping that is legal and priced honestly, but not the best: all bounds say that it is.
  const auto worse =
      nlohmann::json::parse(run({"map", "--accelerator", "eyeriss", "--layer", kAudited[3], "--mapper", "random",
                                 "--mapper-option", "victory=1", "--save", file_.string() + ".yaml", "--json"})
                                .out);
  std::ostringstream mapping;
  mapping << std::ifstream(file_.string() + ".yaml").rdbuf();
  std::filesystem::remove(file_.string() + ".yaml");
  altered = honest;
  altered["claim"]["mapping"] = mapping.str();
  altered["claim"]["value"] = altered["claim"]["lower_bound"] = worse["value"];
  const auto raise = [&](nlohmann::json& bound) {
    bound = std::max(bound.get<double>(), worse["value"].get<double>());
  };
  for (auto& part : altered["parts"]) {
    raise(part["lower_bound"]);
    if (part.contains("members"))
      for (auto& member : part["members"]) raise(member[2]);
  }
  const Ran found = audit(altered);
  EXPECT_EQ(found.code, 1) << found.out;
  EXPECT_NE(found.out.find("a mapping has the value"), std::string::npos) << found.out;
}

TEST_F(AuditCommand, BadInputIsLocatedAndExplained) {
  EXPECT_EQ(run({"audit"}).code, 2);
  EXPECT_EQ(run({"audit", "/no/such/file.json"}).code, 2);
  EXPECT_EQ(audit(nlohmann::json::object()).code, 2);
  EXPECT_EQ(audit(nlohmann::json::parse(certificate(kAudited)), {"--sample", "150%"}).code, 2);
  EXPECT_EQ(audit(nlohmann::json::object(), {"--sample", "a lot"}).code, 2);
  EXPECT_EQ(
      run({"map", "--accelerator", "eyeriss", "--workload", "resnet50", "--layers", "--certificate", file_.string()})
          .code,
      2);
  EXPECT_EQ(run({"map", "--accelerator", "eyeriss", "--layer", "gemm:M=4,N=4,K=4", "--mapper", "random",
                 "--certificate", file_.string()})
                .code,
            2);
}

}  // namespace
}  // namespace pliant
