// SPDX-License-Identifier: Apache-2.0
// ZigZag: hardware, workload and mapping YAML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/input/cursor.h"
#include "dse/import/imported.h"

namespace pliant {

bool is_zigzag(const SourceFile& file);
void import_zigzag(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                   Imported& imported);

/// A list of layers, each an equation over named loops.
Workload read_zigzag_workload(const Cursor& list, const std::string& name, ImportLog& log);
/// Memories and an array of units; `mapping`, when given, says which loops each side of the array may hold.
std::optional<ImportedText> read_zigzag_hardware(const Cursor& root, const Cursor* mapping, ImportLog& log);
/// Our name of one of ZigZag's loops: OX is Q, K is M.
std::string dim_from_zigzag(const std::string& name);

}  // namespace pliant
