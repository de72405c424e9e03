// SPDX-License-Identifier: Apache-2.0
// Language models from the configuration JSON that model hubs publish beside the weights.
#pragma once

#include <vector>

#include "dse/import/imported.h"

namespace pliant {

bool is_llm(const SourceFile& file);
void import_llm(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log, Imported& imported);

}  // namespace pliant
