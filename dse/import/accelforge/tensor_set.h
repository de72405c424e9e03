// SPDX-License-Identifier: Apache-2.0
// AccelForge names sets of tensors by expressions: `~Intermediates`, `input | output`, `~MainMemory`. For one einsum of
// two operands they are sets of roles.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/layer.h"

namespace pliant::accelforge {

/// Bit r stands for Role r.
using RoleSet = unsigned;
inline constexpr RoleSet kAllRoles = (1U << kRoles) - 1;

/// `kept`: what each memory so far keeps. Throws ExpressionError.
RoleSet read_tensor_set(std::string_view text, const std::map<std::string, RoleSet>& kept);

/// The dims of a family whose loops reuse all these tensors: a tensor is the same along the dims that do not index it.
std::vector<std::string> dims_that_reuse(RoleSet roles, Operation family);

}  // namespace pliant::accelforge
