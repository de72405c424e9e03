// SPDX-License-Identifier: Apache-2.0
// Timeloop v4: architecture, problem, mapping, constraints and energy and area tables, in one or several YAML files.
#pragma once

#include <vector>

#include "dse/import/imported.h"

namespace pliant {

bool is_timeloop(const SourceFile& file);
void import_timeloop(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                     Imported& imported);

}  // namespace pliant
