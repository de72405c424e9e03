// SPDX-License-Identifier: Apache-2.0
// The configurations of the source tree.
#pragma once

#include "core/input/load.h"

namespace pliant {

inline const Library& library() {
  static const Library shipped(PLIANT_SOURCE_DIR "/configs");
  return shipped;
}

}  // namespace pliant
