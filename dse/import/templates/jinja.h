// SPDX-License-Identifier: Apache-2.0
// Texts with the Jinja of Timeloop's and AccelForge's files: {{values}}, set, if, for, raw, assert, include_text(),
// include(). Every line of the result knows the line it came from.
#pragma once

#include <map>
#include <string>

#include "core/input/yaml_node.h"
#include "dse/import/imported.h"
#include "dse/import/templates/expression.h"

namespace pliant {

/// Renders the file with these variables and parses it as YAML with tags and merge keys. Positions are those of the
/// files that the text came from. InputError with a place for what is not understood.
YamlNode parse_template(const SourceFile& file, const std::map<std::string, std::string>& variables, ImportLog& log);

}  // namespace pliant
