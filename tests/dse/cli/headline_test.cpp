// SPDX-License-Identifier: Apache-2.0
// What the README says full flexibility is worth beside the best inflexible design of `npu`, and the designs that study
// `serving` takes for the best ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/file_text.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

nlohmann::json told(const std::vector<std::string>& words) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return nlohmann::json::parse(ran.out);
}

double edp(std::vector<std::string> words) {
  const std::vector<std::string> more = {"--layers", "--objective", "edp", "--json", "--threads", "2"};
  words.insert(words.begin(), "map");
  words.insert(words.end(), more.begin(), more.end());
  const nlohmann::json total = told(words)["total"];
  EXPECT_TRUE(total["certified"]);
  return total["edp_pj_cycles"];
}

double edp_of_class(const char* network, const char* flexibility) {
  return edp({"--accelerator", "npu", "--workload", network, "--flexibility", flexibility});
}

std::string readme() { return text_of(PLIANT_SOURCE_DIR "/README.md"); }

TEST(Headline, BertBesideTheBestInflexibleDesign) {
  const TemporaryFolder folder;
  const nlohmann::json best = told({"design", "inflexible_npu_bert", "-o", (folder.path() / "out").string(), "--json"});
  EXPECT_TRUE(best["certified"]);
  EXPECT_EQ(best["designs"], 940896);
  const double value = best["frontier"][0]["values"][0];
  EXPECT_LT(value, edp_of_class("bert_base_seq512", "InFlex-0000"));
  const std::string gain = fmt::format("{:.2f} on BERT", value / edp_of_class("bert_base_seq512", "1111"));
  EXPECT_NE(readme().find(gain), std::string::npos) << gain;
}

/// `pliant design inflexible_npu_mobilenet` finds this one of 1,088,640 in half a minute; here it is only priced.
TEST(Headline, MobileNetBesideTheBestInflexibleDesign) {
  std::vector<std::string> words = {"--accelerator", "npu_wired",     "--workload",
                                    "mobilenet_v2",  "--flexibility", "InFlex-0000"};
  for (const char* setting :
       {"row_dim=[C]", "col_dim=[M]", "depthwise_row=[C]", "depthwise_col=[P]", "tile_m=192", "tile_c=384", "tile_p=28",
        "tile_q=28", "outer=[P, Q, M, C, R, S]", "inner=[C, P, Q, M, R, S]", "unit=[M, C, R, S, P, Q]"})
    words.insert(words.end(), {"--set", setting});
  const double best = edp(words);
  const std::string gain = fmt::format("{:.2f} on MobileNetV2", best / edp_of_class("mobilenet_v2", "1111"));
  EXPECT_NE(readme().find(gain), std::string::npos) << gain;
}

/// Of designs that are equally good, whichever the search finds first.
TEST(Headline, TheDesignsOfStudyServingAreTheBest) {
  struct Best {
    const char* sram;
    const char* outer;
    const char* unit;
  };
  for (const Best& one : {Best{"2MiB", "[M, K, N]", "[M, K, N]"}, Best{"2360KiB", "[K, M, N]", "[M, N, K]"}}) {
    const TemporaryFolder folder;
    const nlohmann::json best = told({"design", "inflexible_npu_llama", "--set", std::string("sram=") + one.sram, "-o",
                                      (folder.path() / "out").string(), "--json"});
    EXPECT_TRUE(best["certified"]);
    std::vector<std::string> words = {"map",    "--layers",      "--objective", "energy",
                                      "--json", "--accelerator", "npu_wired"};
    words.insert(words.end(), {"--workload", "llm_llama3_2_1b_prefill_1k", "--flexibility", "InFlex-0000"});
    for (const std::string& setting :
         {std::string("sram=") + one.sram, std::string("gemm_m=512"), std::string("gemm_n=256"),
          std::string("gemm_k=2048"), std::string("gemm_outer=") + one.outer, std::string("gemm_inner=[M, N, K]"),
          std::string("gemm_unit=") + one.unit})
      words.insert(words.end(), {"--set", setting});
    const double value = best["frontier"][0]["values"][0];
    EXPECT_NEAR(told(words)["total"]["energy_pj"].get<double>(), value, 1e-9 * value);
  }
}

}  // namespace
}  // namespace pliant
