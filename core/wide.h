// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pliant {

/// A 128-bit integer for products of two counts. ISO C++ has none, g++ and clang do on every 64-bit machine.
__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using)

}  // namespace pliant
