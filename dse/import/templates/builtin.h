// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/import/templates/expression.h"

namespace pliant {

/// A function that every expression knows; nothing for other names. Throws ExpressionError for wrong arguments.
std::optional<Worth> call_builtin(const std::string& name, const std::vector<Worth>& arguments);

}  // namespace pliant
