// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pliant {

/// The `schema` of everything that --json prints (docs/json.md). Raised when a key changes its meaning.
///   2: seconds, watts and operations beside cycles and picojoules; a bus as what bounds a runtime.
///   3: counts of tensors are elements; the words that they take stand beside them. Networks have energy.
inline constexpr int kJsonSchema = 3;

}  // namespace pliant
