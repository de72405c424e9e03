// SPDX-License-Identifier: Apache-2.0
// ONNX: the matrix products of a trained network. Weights are skipped, never loaded; shapes are inferred.
#pragma once

#include <vector>

#include "dse/import/imported.h"

namespace pliant {

bool is_onnx(const SourceFile& file);
void import_onnx(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                 Imported& imported);

}  // namespace pliant
