// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iosfwd>

#include "dse/answers/arguments.h"
#include "dse/mappers/claim.h"

namespace pliant {

/// `pliant verify DIR`: re-prices every row of a dataset and re-proves a sample. Returns the exit code.
int verify_dataset_command(const std::filesystem::path& dataset, const Arguments& arguments, ProofOptions proof,
                           std::ostream& out, std::ostream& err);

}  // namespace pliant
