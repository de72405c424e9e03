// SPDX-License-Identifier: Apache-2.0
// A mapping for other tools, so that it can be checked in the one the user trusts: as Timeloop's files, as ZigZag's, as
// C. What the other tool cannot say is an InputError.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"
#include "dse/import/write_import.h"

namespace pliant {

/// What is exported.
struct MappedLayer {
  const Layer& layer;
  const Accelerator& accelerator;
  const Mapping& mapping;
};

/// Architecture with its energies and areas, problem and mapping; they import back to the same numbers.
std::vector<WrittenFile> export_timeloop(const MappedLayer& mapped);
/// A spatial mapping and an order of all temporal loops.
std::vector<WrittenFile> export_zigzag(const MappedLayer& mapped);
/// Nested loops with the tensors' index expressions.
std::vector<WrittenFile> export_c(const MappedLayer& mapped);

struct ExportFormat {
  std::string_view name, writes;
  std::vector<WrittenFile> (*write)(const MappedLayer& mapped);
};
const std::vector<ExportFormat>& export_formats();

}  // namespace pliant
