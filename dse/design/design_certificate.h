// SPDX-License-Identifier: Apache-2.0
// The certificate of a design search: what dse/audit checks, written from what the search has kept.
#pragma once

#include <filesystem>

#include "dse/audit/design_certificate.h"
#include "dse/design/design_search.h"

namespace pliant {

/// InputError, one sentence, where the proof of such a search cannot be written down.
void check_certificate(const Library& library, const Sweep& sweep, const Shard& shard);

/// The space as a certificate has it; check_certificate() has nothing against it.
audit::DesignTask design_task(const Library& library, const Sweep& sweep);

/// `found` was searched with `proven`, to its end. StorageError when the folder cannot be written.
void write_design_certificate(const Library& library, const Sweep& sweep, double gap, const DesignFrontier& found,
                              const ProvenBounds& proven, const std::filesystem::path& folder);

}  // namespace pliant
