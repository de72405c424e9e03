// SPDX-License-Identifier: Apache-2.0
// Every question of the command line, asked from C++; prints what `pliant ... --json` prints.
// Usage: pliant_ask NAME FOLDER; `map` and `sweep` leave in the folder what other questions read; `validate`
// wants vectors.jsonl there, such as tests/data/oracle_perfect.jsonl.
#include <pliant/pliant.h>

#include <fstream>
#include <iostream>
#include <map>

namespace {

/// The questions by name. An option is named as on the command line, without its dashes.
std::map<std::string, pliant::Question> questions(const std::string& folder) {
  const std::string gemm = "gemm:M=64,N=64,K=64", sweep = EXAMPLE_FOLDER "/sweep.yaml";
  return {
      {"show", {"show", {"accelerator", "eyeriss"}, {}}},
      {"map",
       {"map", {}, {{"accelerator", "eyeriss"}, {"layer", gemm}, {"save", folder + "/best.yaml"},
                    {"certificate", folder + "/proof.json"}}}},
      {"network", {"map", {}, {{"accelerator", "eyeriss"}, {"workload", "alexnet"}, {"objective", "runtime"}}}},
      {"eval", {"eval", {}, {{"accelerator", "eyeriss"}, {"layer", gemm}, {"mapping", folder + "/best.yaml"}}}},
      {"export",
       {"export", {"c"}, {{"accelerator", "eyeriss"}, {"layer", gemm}, {"mapping", folder + "/best.yaml"},
                          {"output", folder + "/loops"}}}},
      {"audit", {"audit", {folder + "/proof.json"}, {}}},
      {"verify", {"verify", {folder + "/map.json"}, {}}},
      {"serve", {"serve", {"llama3_2_1b"}, {{"accelerator", "npu"}, {"prompt", 64}, {"output", 4}}}},
      {"count", {"count", {}, {{"accelerator", "eyeriss"}, {"layer", gemm}, {"legal", true}}}},
      {"flexion", {"flexion", {}, {{"accelerator", "eyeriss"}, {"layer", gemm}, {"no-tuples", true}}}},
      {"sweep", {"sweep", {sweep}, {{"output", folder + "/sweep"}}}},
      {"design",
       {"design", {EXAMPLE_FOLDER "/space.yaml"}, {{"output", folder + "/design"}, {"gap", 0.01}, {"threads", 1}}}},
      {"pareto", {"pareto", {folder + "/sweep"}, {{"minimize", "area_um2,edp_pj_cycles"}}}},
      {"query", {"query", {folder + "/sweep"}, {{"where", {"class == 1111", "edp_pj_cycles > 0"}}, {"limit", 3}}}},
      {"report", {"report", {folder + "/sweep"}, {{"output", folder + "/report.html"}}}},
      {"import", {"import", {"scalesim", EXAMPLE_FOLDER "/topology.csv"}, {{"output", folder + "/imported"}}}},
      {"study", {"study", {"list"}, {}}},
      {"validate", {"validate", {folder + "/vectors.jsonl"}, {{"excused", true}}}},
  };
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: pliant_ask NAME FOLDER\n";
    return 2;
  }
  try {
    const pliant::Library library{EXAMPLE_CONFIGS};
    const pliant::Answer answer = pliant::ask(library, questions(argv[2]).at(argv[1]));
    std::ofstream(std::string(argv[2]) + "/" + argv[1] + ".json") << answer.text;
    std::cout << answer.text;
    std::cerr << answer.remarks;
    return answer.code;
  } catch (const pliant::InputError& error) {
    for (const pliant::Diagnostic& diagnostic : error.diagnostics()) std::cerr << diagnostic.text() << "\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  return 2;
}
