// SPDX-License-Identifier: Apache-2.0
// A clock that goes on by a second with every look: how often a search looks at it, or when it must end.
#pragma once

#include <cstdint>

#include "core/clock.h"

namespace pliant::tests {

class CountedClock final : public Clock {
 public:
  double wall_seconds() const override { return static_cast<double>(++looks_); }
  double cpu_seconds() const override { return 0; }

 private:
  mutable std::uint64_t looks_ = 0;
};

}  // namespace pliant::tests
