// SPDX-License-Identifier: Apache-2.0
// Mapping files.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

struct MappingFile {
  Mapping mapping;
  Factorization factorization = Factorization::kPerfect;
};
MappingFile load_mapping(const std::filesystem::path& file, const Layer& layer, const Accelerator& accelerator);

/// From memory: `name` stands for the file in diagnostics.
MappingFile parse_mapping_text(std::string_view text, std::string_view name, const Layer& layer,
                               const Accelerator& accelerator);

}  // namespace pliant
