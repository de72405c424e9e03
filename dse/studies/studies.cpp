// SPDX-License-Identifier: Apache-2.0
// The studies there are, one line each.
#include "dse/studies/all_studies.h"

#include <algorithm>

namespace pliant {

const std::vector<Study>& all_studies() {
  static const std::vector<Study> studies = {
      {"area", "flexibility paper, Table 3: what each axis costs", run_area_study},
      {"isolation", "flexibility paper, Figures 7 to 12: one axis at a time", run_isolation_study},
  };
  return studies;
}

const Study* find_study(std::string_view name) {
  const auto& studies = all_studies();
  const auto found = std::ranges::find(studies, name, &Study::name);
  return found == studies.end() ? nullptr : &*found;
}

}  // namespace pliant
