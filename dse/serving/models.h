// SPDX-License-Identifier: Apache-2.0
// Language models by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input/library.h"
#include "dse/import/llm/model.h"

namespace pliant::serving {

struct NamedModel {
  std::string name;
  LanguageModel model;
};

/// A configuration file as model hubs publish it, or a shipped name. InputError with near names otherwise.
NamedModel load_model(const Library& library, std::string_view name_or_path);
std::vector<std::string> model_names(const Library& library);

}  // namespace pliant::serving
