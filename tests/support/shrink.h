// SPDX-License-Identifier: Apache-2.0
// Makes a failing task smaller as long as it still fails, and prints what is left as files and commands.
#pragma once

#include <functional>
#include <string>

#include "dse/mappers/mapper.h"

namespace pliant::tests {

/// The smallest task that leaving things out one by one leads to; `fails` holds for it, as for the one given.
Task shrink(Task task, const std::function<bool(const Task&)>& fails);

/// Two files written by a shell, and the two `pliant map` commands whose answers differ.
std::string as_commands(const Task& task);

}  // namespace pliant::tests
