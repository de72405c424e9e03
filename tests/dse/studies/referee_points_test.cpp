// SPDX-License-Identifier: Apache-2.0
// Facts that a second reading of the studies established or asked for: each is answered on a page, in numbers that
// stand there, and the page that lists them has a line for each.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/file_text.h"

namespace pliant {
namespace {

struct Point {
  const char* listed;  ///< the line of docs/studies/referee.md begins so
  const char* page;    ///< of docs/studies
  std::vector<const char*> said;
};

const std::vector<Point>& points() {
  static const std::vector<Point> all = {
      {"GOMA's fidelity study has public tilings", "goma.md", {"8064", "8004", "99.26", "0.099"}},
      {"its authors repaired the same two situations later", "goma.md", {"MODEL_NOTES.md"}},
      {"192 certified optima are public", "goma.md", {"| all | 192 | 184 | 8 |", "audit clean"}},
      {"energies of the other templates", "goma.md", {"recovered from the printed optima", "1.40883"}},
      {"idle processing elements", "goma.md", {"2.9 %"}},
      {"54 GEMMs were not the paper's", "goma.md", {"query heads that share a key head are one product"}},
      {"what `--mapper goma` proves", "goma.md", {"is what it proves"}},
      {"Ruby's Fig. 7 (a) in tilings", "ruby-mapspaces.md", {"5,346", "9,261"}},
      {"QuickFlow's accuracy can be checked", "quickflow.md", {"51 run", "0.59 to 2.04", "9 agree within 0.1 %"}},
      {"the tie best for the future was taken", "future-proofing.md", {"No foresight", "ties.png"}},
      {"the same for language models", "llm-future.md", {"Over designs that were equally good", "llm_ties.png"}},
      {"a model that always says 1.00", "README.md", {"would have"}},
      {"Fig. 13: most exact entries are printed 1.00", "future-proofing.md", {"are printed as 1.00"}},
      {"energies of Fig. 9 with DRAM at 0 pJ", "isolation.md", {"0.59 (L16) and 0.52 (L21)"}},
      {"T without a limit is depthwise only", "isolation.md", {"depthwise layers only"}},
      {"Fig. 11's FullFlex-1111 is below the bound", "ladder.md", {"0.085 and 0.068"}},
      {"the public tools undercut the bound", "ladder.md", {"less than the compute bound on all ten layers"}},
      {"T as a tile of a PE", "ladder.md", {"97.9 %", "0.0043", "48.0", "28.7"}},
      {"Table 3 is an input", "README.md", {"| flexibility | Table 3 | 13 | 2 | 2 |  |  | 9 |"}},
      {"409.6 bytes per cycle was chosen", "isolation.md", {"*fitted*"}},
      {"L29's remark on busy PEs", "isolation.md", {"16 of"}},
      {"\"cannot be checked\" for public tools", "README.md", {"not attempted"}},
      {"about 45 missing rows", "summary.md", {"Eyeriss: time of the best of four tools", "(a) tilings of Ruby-T"}},
      {"Table III's 233", "summary.md", {"the text prints 233"}},
      {"remarks a hundred times", "summary.md", {"| note | |"}},
      {"no finding in five minutes", "README.md", {"**1. ", "**10. ", "ladder.png", "bandwidth_curves.png"}},
      {"conclusions under a factor of 3 in area", "area.md", {"each overhead off by up to 3"}},
      {"the distribution network is left out", "area.md", {"| Benes network |", "9.85 %"}},
      {"power of flexible designs", "area.md", {"2.03 times InFlex's"}},
      {"reconfiguration between layers", "area.md", {"255 bits", "19,694", "reconfiguration.png"}},
      {"classes, residency and fused tiles", "fusion.md", {"F hardly overlaps", "fusion_classes.png"}},
      {"LLMs on a real design, tokens/J, error bars", "serving.md", {"serving_classes.png", "when energies are off"}},
      {"iso-area", "serving.md", {"9.8 % more", "| 0000 with as much area |"}},
      {"the cheapest partial flexibility, by era", "enough.md", {"enough.png", "No case needs O"}},
      {"which flexibility today's chips lack", "lacks.md", {"lacks.png", "What they lack is F"}},
      {"the README's headline uses a hand-written design", "../design-search.md", {"`inflexible_npu_bert`"}},
      {"peers on their inputs, by one command", "../../results/peers.md", {"bench/peers_table.py"}},
      {"chosen orders of Fig. 9 priced", "isolation.md", {"## Chosen orders", "CXYKRS, which FullFlex-0100 chose"}},
      {"DeepBench by domain", "ruby-deepbench.md", {"| Vision | 26 | 9.6 % |", "1.86 times as much"}},
      {"other tools on GOMA's cases", "goma.md", {"goma_factorflow.csv", "of ours nearly all is bypass"}},
      {"\"no energy overhead\" is compared under another objective", "area.md", {"0.096 and 0.93"}},
      {"P and S together, where \"significant\" is said", "future-proofing.md", {"by 2 % of the runtime"}},
      {"effects of a per cent that ours does not have", "isolation.md", {"nothing of the effect"}},
      {"rows that could only be exact", "README.md", {"could hardly be anything but exact"}},
      {"one bandwidth for every printed number",
       "isolation.md",
       {"no bandwidth gives the printed T, O and P together"}},
      {"experts with unequal loads", "../serving.md", {"`--skew S`"}},
      {"kept tables of one commit", "README.md", {"made_by.csv"}}};
  return all;
}

std::string page(const std::string& name) {
  return text_of(std::filesystem::path(PLIANT_SOURCE_DIR) / "docs" / "studies" / name);
}

/// Lines are wrapped where they are; a phrase may go over two.
std::string in_one_line(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
    const std::size_t next = text.find_first_not_of(' ', at + 1);
    text.replace(at, (next == std::string::npos ? text.size() : next) - at, " ");
  }
  return text;
}

TEST(RefereePoints, EachIsListedAndAnswered) {
  const std::string list = page("referee.md");
  for (const Point& point : points()) {
    EXPECT_NE(list.find(std::string("\n| ") + point.listed + " |"), std::string::npos) << point.listed;
    const std::string text = in_one_line(page(point.page));
    for (const char* said : point.said) EXPECT_NE(text.find(said), std::string::npos) << point.listed << ": " << said;
  }
  std::size_t lines = 0;
  const std::size_t first = list.find("| point | answer | where |"), last = list.find("\n\n", first);
  for (std::size_t at = list.find("\n| ", first); at < last; at = list.find("\n| ", at + 1)) ++lines;
  EXPECT_EQ(lines, points().size());
}

/// Ten findings, each with a picture that is there.
TEST(RefereePoints, FindingsHavePictures) {
  const std::string text = page("README.md");
  const std::size_t end = text.find("## How to run");
  int findings = 0;
  std::size_t at = 0;
  for (int n = 1; n <= 10; ++n) {
    const std::size_t begin = text.find("**" + std::to_string(n) + ". ", at);
    ASSERT_LT(begin, end) << n;
    const std::size_t picture = text.find("](../img/studies/", begin);
    ASSERT_LT(picture, end) << n;
    const std::size_t name = picture + std::string("](../img/studies/").size();
    const std::string file = text.substr(name, text.find(')', name) - name);
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(PLIANT_SOURCE_DIR) / "docs/img/studies" / file)) << file;
    at = picture;
    ++findings;
  }
  EXPECT_EQ(findings, 10);
}

}  // namespace
}  // namespace pliant
