// SPDX-License-Identifier: Apache-2.0
// Time as searches see it. Whoever has limits of time is given a clock; a test gives one that it drives itself.
#pragma once

namespace pliant {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double wall_seconds() const = 0;  ///< since a moment of its own; never goes back
  virtual double cpu_seconds() const = 0;   ///< of the calling thread
};

/// The clocks of the machine.
const Clock& real_clock();

}  // namespace pliant
