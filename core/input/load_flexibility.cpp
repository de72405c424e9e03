// SPDX-License-Identifier: Apache-2.0
#include "core/input/load_flexibility.h"

#include <fmt/format.h>

#include "core/flexibility_class.h"
#include "core/input/cursor.h"
#include "core/input/flexibility_block.h"
#include "core/input/keys.h"
#include "core/input/source_text.h"

namespace pliant {

Accelerator parse_flexibility_text(std::string_view text, std::string_view name, Accelerator accelerator) {
  Diagnostics problems;
  const YamlNode tree = parse_yaml(text, name, problems);
  const Cursor root(tree, "", problems);
  check_kind(root, "flexibility");
  read_flexibility(root, keys::kFlexibilityFile, accelerator);
  if (root.node().is_map()) {
    if (const auto c = root.find("description")) c->text();
    if (const auto c = root.find("name")) {
      const auto given = c->name();
      if (given && accelerator.flexibility.name.empty()) accelerator.flexibility.name = *given;
    }
  }
  for (auto& [operation, own] : accelerator.flexibility_for) own.name = accelerator.flexibility.name;
  problems.throw_if_any();
  return accelerator;
}

Accelerator choose_flexibility(const Library& library, std::string_view class_or_file, Accelerator accelerator) {
  if (!looks_like_class(class_or_file)) return load_flexibility(library, class_or_file, std::move(accelerator));
  const auto refuse = [](std::string what, std::string expected) {
    return InputError(Diagnostic{.file = "--flexibility",
                                 .key = "class",
                                 .what = std::move(what),
                                 .expected = std::move(expected),
                                 .did_you_mean = {}});
  };
  const auto wanted = parse_flexibility_class(class_or_file);
  if (!wanted) throw refuse(fmt::format("`{}` is not a class", class_or_file), std::string(kClassSpelling));
  if (const auto problem = class_problem(accelerator, *wanted)) throw refuse(problem->what, problem->expected);
  return apply_class(std::move(accelerator), *wanted);
}

Accelerator load_flexibility(const Library& library, std::string_view name_or_path, Accelerator accelerator) {
  const std::filesystem::path file = library.find_flexibility(name_or_path);
  return parse_flexibility_text(read_source(file), file.string(), std::move(accelerator));
}

}  // namespace pliant
