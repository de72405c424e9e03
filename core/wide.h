// SPDX-License-Identifier: Apache-2.0
// 128 bits: a product of two Counts always fits.
#pragma once

namespace pliant {

__extension__ using Wide = __int128;

}  // namespace pliant
