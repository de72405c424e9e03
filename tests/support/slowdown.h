// SPDX-License-Identifier: Apache-2.0
// How much slower the program is under a sanitizer: tests that give it some time give it so many times as much.
#pragma once

namespace pliant::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlowdown = 20;
#else
inline constexpr double kSlowdown = 1;
#endif

}  // namespace pliant::tests
