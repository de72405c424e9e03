// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "dse/import/imported.h"

namespace pliant {

struct WrittenFile {
  std::string name;  ///< "resnet18.workload.yaml"
  std::string text;
};

/// Files in our formats; each starts with a comment for every choice made and everything left out in its sources.
std::vector<WrittenFile> write_import(const Imported& imported);

}  // namespace pliant
