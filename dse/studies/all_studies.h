// SPDX-License-Identifier: Apache-2.0
// One function for each study; studies.cpp lists them.
#pragma once

#include "dse/studies/study.h"

namespace pliant {

StudyResult run_area_study(const StudyContext& context);
StudyResult run_isolation_study(const StudyContext& context);
StudyResult run_ruby_mapspaces_study(const StudyContext& context);
StudyResult run_ruby_arrays_study(const StudyContext& context);
StudyResult run_ruby_resnet50_study(const StudyContext& context);
StudyResult run_ruby_alexnet2_study(const StudyContext& context);
StudyResult run_ruby_deepbench_study(const StudyContext& context);
StudyResult run_goma_study(const StudyContext& context);
StudyResult run_quickflow_study(const StudyContext& context);
StudyResult run_future_proofing_study(const StudyContext& context);
StudyResult run_ladder_study(const StudyContext& context);
StudyResult run_llm_future_study(const StudyContext& context);
StudyResult run_enough_study(const StudyContext& context);
StudyResult run_fusion_study(const StudyContext& context);
StudyResult run_silicon_study(const StudyContext& context);
StudyResult run_lacks_study(const StudyContext& context);

}  // namespace pliant
