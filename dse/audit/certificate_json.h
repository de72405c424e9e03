// SPDX-License-Identifier: Apache-2.0
// What a certificate says beside its task, as JSON: by itself, and as a proof inside the certificate of a network,
// whose task follows from where it stands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dse/audit/certificate.h"

namespace pliant::audit {

/// JSON has no infinity: what nothing can reach is written as null.
nlohmann::json bound_json(double value);
double bound_from(const nlohmann::json& value);

/// The keys `claim`, `keeps` and `parts`.
nlohmann::json proof_json(const Certificate& certificate);
/// The same back, for a task. InputError, or an exception of the JSON library, where something is wrong.
Certificate read_proof(const nlohmann::json& proof, Task task, const std::string& file);

/// The accelerator as a certificate writes it: its rules are complete as they stand. A class beside them would be
/// applied once more, with its own baseline.
Accelerator without_classes(Accelerator accelerator);

}  // namespace pliant::audit
