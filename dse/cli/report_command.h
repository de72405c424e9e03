// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace pliant {

/// `pliant report DATASET`: the dataset as one HTML page, or its charts as pictures.
int report_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace pliant
