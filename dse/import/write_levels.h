// SPDX-License-Identifier: Apache-2.0
// An accelerator file for an imported machine, some of whose energies the foreign files do not state.
#pragma once

#include <set>
#include <string>

#include "core/accelerator.h"
#include "dse/import/imported.h"

namespace pliant {

/// The accelerator as a file. Memories and compute levels in `unstated` take their energies from the technology table
/// kImportTechnology (unbounded memories and compute units from fixed figures); one note says so.
ImportedText write_imported_accelerator(const Accelerator& accelerator, const std::set<int>& unstated,
                                        const Position& at, ImportLog& log);

}  // namespace pliant
