// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dse/answers/arguments.h"
#include "dse/answers/face.h"

namespace pliant {

/// `pliant validate --measured FILE`: exit code 0, 1 when a kernel is faster than its bound, 130 after Ctrl-C.
int validate_measured(const Arguments& arguments, Face& face);

}  // namespace pliant
