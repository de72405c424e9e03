// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/mapper_options.h"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "core/input/diagnostics.h"
#include "dse/combinations/combinations.h"

namespace pliant {

void read_mapper_options(std::string_view mapper, const SearchOptions& options,
                         const std::vector<MapperOption>& known) {
  if (options.gap != 0) check_works("pliant", Traits{Trait::kGap}.add(TraitGroup::kMappers, mapper));
  std::vector<std::string> names;
  for (const MapperOption& option : known) names.emplace_back(option.name);
  for (const auto& [name, text] : options.extra) {
    Diagnostic wrong;
    wrong.file = "--mapper-option";
    wrong.key = name;
    const MapperOption* found = nullptr;
    for (const MapperOption& option : known)
      if (option.name == name) found = &option;
    if (found == nullptr) {
      wrong.what = fmt::format("mapper {} has no such option", mapper);
      for (const std::string& each : names) wrong.expected += (wrong.expected.empty() ? "one of " : ", ") + each;
      if (names.empty()) wrong.expected = "no options";
      wrong.did_you_mean = nearest(name, names);
      throw InputError(wrong);
    }
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || at != end || !(value >= found->least && value <= found->most)) {
      wrong.what = fmt::format("'{}' is not a value for it", text);
      wrong.expected = fmt::format("a number from {} to {}", found->least, found->most);
      throw InputError(wrong);
    }
    *found->value = value;
  }
}

Deadline::Deadline(const SearchOptions& options, unsigned every)
    : options_(options), started_(options.clock->wall_seconds()), every_(every) {}

double Deadline::seconds() const { return options_.clock->wall_seconds() - started_; }

bool Deadline::look() {
  if (over_) return true;
  stopped_ = options_.stop.stop_requested();
  over_ = stopped_ || (options_.budget.seconds > 0 && seconds() >= options_.budget.seconds);
  return over_;
}

}  // namespace pliant
