// SPDX-License-Identifier: Apache-2.0
// The studies there are, one line each.
#include <algorithm>

#include "dse/studies/all_studies.h"
#include "dse/studies/serving_study.h"

namespace pliant {

const std::vector<Study>& all_studies() {
  static const std::vector<Study> studies = {
      {"area", "flexibility", "Table 3: what each axis costs", run_area_study},
      {"isolation", "flexibility", "Figures 7 to 12: one axis at a time", run_isolation_study},
      {"ruby-mapspaces", "Ruby", "Table I and Figures 5, 7, 8: sizes, worked example, toys, padding",
       run_ruby_mapspaces_study},
      {"ruby-arrays", "Ruby", "Figures 13 and 14: arrays from 2x7 to 16x16", run_ruby_arrays_study},
      {"ruby-resnet50", "Ruby", "Figures 10 and 12: ResNet-50 on Eyeriss-like and Simba-like designs",
       run_ruby_resnet50_study},
      {"ruby-alexnet2", "Ruby", "Figure 9: AlexNet's second layer beside the hand mapping", run_ruby_alexnet2_study},
      {"ruby-deepbench", "Ruby", "Figure 11: DeepBench", run_ruby_deepbench_study},
      {"goma", "GOMA", "Figures 6 to 9, Tables II, III: 24 cases of LLM prefill, fidelity of the closed form",
       run_goma_study},
      {"quickflow", "QuickFlow", "Figure 6: 20 kernels on three accelerators, all mappers", run_quickflow_study},
      {"future-proofing", "flexibility", "Figure 13: AlexNet's design on later networks", run_future_proofing_study},
      {"ladder", "flexibility", "where its largest speedups come from: single layers, printed to proven",
       run_ladder_study},
      {"llm-future", "beyond the papers", "older designs on prefill and decode of language models",
       run_llm_future_study},
      {"enough", "beyond the papers", "the least flexibility within 1 % of all of it, by era, phase and bandwidth",
       run_enough_study},
      {"fusion", "beyond the papers", "fused tiles as an axis of flexibility, by class and by chip", run_fusion_study},
      {"serving", "beyond the papers",
       "tokens per joule of a served language model, by class, chip and what stays on chip", run_serving_study},
      {"silicon", "beyond the papers", "kernels timed on a chip beside bound, roofline and prediction",
       run_silicon_study},
      {"lacks", "beyond the papers", "which flexibility today's chips lack: one axis set free, or all",
       run_lacks_study},
  };
  return studies;
}

const Study* find_study(std::string_view name) {
  const auto& studies = all_studies();
  const auto found = std::ranges::find(studies, name, &Study::name);
  return found == studies.end() ? nullptr : &*found;
}

}  // namespace pliant
