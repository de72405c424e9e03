// SPDX-License-Identifier: Apache-2.0
// `pliant sweep --certificates CONDITION`: proofs of the layer rows that the conditions choose.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <stop_token>

#include "dse/answers/arguments.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// Refuses what cannot have a certificate, before anything runs.
void check_certificates_option(const Arguments& arguments, const Sweep& sweep);

/// Writes DATASET/certificates/*.json and says how many. False when a chosen row was left out.
bool write_certificates(const Arguments& arguments, const Library& library, const Sweep& sweep,
                        const std::filesystem::path& dataset, const std::stop_token& stop, std::ostream& out,
                        std::ostream& err);

}  // namespace pliant
