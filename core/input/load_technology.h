// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/input/library.h"
#include "core/input/technology.h"

namespace pliant {

Technology load_technology(const Library& library, std::string_view name);
Technology parse_technology_text(std::string_view text, std::string_view name);

/// The shipped tables, each read when first asked for. Not for several threads at once.
class TechnologyTables {
 public:
  explicit TechnologyTables(const Library& library) : library_(library) {}
  const Technology& get(const std::string& name);  ///< InputError as load_technology

 private:
  const Library& library_;
  std::map<std::string, Technology> read_;
};

}  // namespace pliant
