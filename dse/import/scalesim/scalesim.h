// SPDX-License-Identifier: Apache-2.0
// SCALE-Sim: a topology is a CSV table of convolutions or GEMMs, a .cfg describes one systolic array.
#pragma once

#include <vector>

#include "dse/import/imported.h"

namespace pliant {

bool is_scalesim(const SourceFile& file);
void import_scalesim(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                     Imported& imported);

/// A topology as a workload, one layer a row.
Workload read_scalesim_topology(const SourceFile& file, ImportLog& log);
/// A configuration as an accelerator file.
ImportedText read_scalesim_configuration(const SourceFile& file, ImportLog& log);

}  // namespace pliant
