// SPDX-License-Identifier: Apache-2.0
// The auditor's own reading of a layer and of an accelerator: YAML by the library, what it means by code of its own,
// written after docs/certificates.md. core/input, by which everything else reads, must not mislead it: what both read
// is compared, and a certificate that they read in two ways is refused.
#pragma once

#include <string>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant::audit {

/// Texts in the form that certificates have; std::runtime_error where a text is not.
Layer own_layer(const std::string& text);
Accelerator own_accelerator(const std::string& text);

/// What differs in anything that a mapping, its legality or its cost depends on; empty: nothing.
std::string difference(const Layer& own, const Layer& other);
std::string difference(const Accelerator& own, const Accelerator& other);

}  // namespace pliant::audit
