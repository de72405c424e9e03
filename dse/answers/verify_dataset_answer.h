// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "dse/answers/arguments.h"
#include "dse/answers/face.h"
#include "dse/mappers/claim.h"

namespace pliant {

/// `pliant verify DIR`: re-prices every row of a dataset and re-proves a sample. Returns the exit code.
int answer_verify_dataset(const std::filesystem::path& dataset, const Arguments& arguments, ProofOptions proof,
                          Face& face);

}  // namespace pliant
