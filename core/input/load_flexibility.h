// SPDX-License-Identifier: Apache-2.0
// Flexibility files and classes, put on an accelerator.
#pragma once

#include <string_view>

#include "core/accelerator.h"
#include "core/input/library.h"

namespace pliant {

/// The accelerator with the rules of a flexibility file instead of its own.
Accelerator load_flexibility(const Library& library, std::string_view name_or_path, Accelerator accelerator);
/// What --flexibility accepts: a class such as PartFlex-1011, a shipped flexibility's name, or a file.
Accelerator choose_flexibility(const Library& library, std::string_view class_or_file, Accelerator accelerator);
/// From memory: `name` stands for the file in diagnostics.
Accelerator parse_flexibility_text(std::string_view text, std::string_view name, Accelerator accelerator);

}  // namespace pliant
