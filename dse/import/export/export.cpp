// SPDX-License-Identifier: Apache-2.0
#include "dse/import/export/export.h"

namespace pliant {

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> all{
      {"timeloop", "Timeloop v4: architecture, problem, mapping, ERT and ART", export_timeloop},
      {"zigzag", "ZigZag: spatial mapping and temporal ordering", export_zigzag},
      {"c", "plain C loops", export_c},
  };
  return all;
}

}  // namespace pliant
