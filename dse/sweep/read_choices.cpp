// SPDX-License-Identifier: Apache-2.0
// What multiplies the hardware points of a sweep file (flexibility, factorization, objective), and the mapper.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/flexibility_class.h"
#include "core/input/source_text.h"
#include "dse/combinations/combinations.h"
#include "dse/sweep/sweep_keys.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {
namespace {

constexpr std::string_view kAll = "all-16", kAllPartial = "all-16-partial";

/// False after noting a problem.
bool add_flexibility(SweepReading& reading, const Cursor& item, const std::string& text) {
  std::vector<std::string>& all = reading.sweep.flexibilities;
  if (std::ranges::find(all, text) != all.end()) {
    item.problem(fmt::format("{} is there twice", shorten(text, 60)), "each flexibility once");
    return false;
  }
  std::string resolved = text;
  if (text != "own") {
    if (!looks_like_class(text)) resolved = reading.beside(text);
    for (const SweepReading::Base& base : reading.bases) {
      try {
        const Accelerator changed = choose_flexibility(reading.library, resolved, base.accelerator);
        if (!looks_like_class(text)) reading.note_input("flexibility", text, write_flexibility(changed));
      } catch (const InputError& error) {
        const std::string meant = nearest(text, {std::string(kAll), std::string(kAllPartial), "own"});
        if (!looks_like_class(text) && !meant.empty()) {
          item.problem(fmt::format("no flexibility `{}`", shorten(text, 60)),
                       "own, all-16, all-16-partial, a class such as 1011, a shipped name or a file", meant);
        } else {
          reading.relay(item, error);
        }
        return false;
      }
    }
  }
  all.push_back(std::move(resolved));
  return true;
}

/// One word or a list of words, each once.
template <class Value>
void read_words(const Cursor& c, Keys words, const char* what, auto parse, std::vector<Value>& values) {
  for (const Cursor& item : one_or_list(c)) {
    const auto found = item.choice(words);
    if (!found) continue;
    const Value value = *parse(words[*found]);
    if (std::ranges::find(values, value) != values.end()) {
      item.problem("it is there twice", fmt::format("each {} once", what));
    } else {
      values.push_back(value);
    }
  }
}

void read_mapper_name(const Cursor& c, Keys names, Sweep& sweep) {
  if (const auto found = c.choice(names)) sweep.mapper = names[*found];
}

}  // namespace

void read_flexibilities(SweepReading& reading, const std::optional<Cursor>& c) {
  if (!c) {
    reading.sweep.flexibilities = {"own"};
    return;
  }
  if (c->node().is_sequence() && c->items().empty()) c->problem("no flexibility", "at least one");
  for (const Cursor& item : one_or_list(*c)) {
    const auto text = item.text("own, all-16, all-16-partial, a class, a shipped name or a file");
    if (!text) continue;
    if (*text != kAll && *text != kAllPartial) {
      add_flexibility(reading, item, *text);
      continue;
    }
    for (unsigned bits = 0; bits < 16; ++bits) {
      // The least flexible first; T is the leftmost bit. With nothing free, full and partial are the same design.
      const char* degree = bits == 0 ? "InFlex" : *text == kAllPartial ? "PartFlex" : "FullFlex";
      const std::vector<std::string>& known = reading.sweep.flexibilities;
      if (bits == 0 && std::ranges::find(known, "InFlex-0000") != known.end()) continue;
      if (!add_flexibility(reading, item, fmt::format("{}-{:04b}", degree, bits))) break;
    }
  }
}

void read_factorizations(SweepReading& reading, const std::optional<Cursor>& c) {
  static constexpr std::array<std::string_view, 5> kRules{"pfm", "ruby-s", "ruby-t", "ruby", "padding"};
  if (!c) {
    reading.sweep.factorizations = {Factorization::kPerfect};
    return;
  }
  read_words(*c, kRules, "rule", parse_factorization, reading.sweep.factorizations);
  if (c->node().is_sequence() && c->items().empty()) c->problem("no factorization", "at least one");
}

void read_objectives(SweepReading& reading, const std::optional<Cursor>& c) {
  if (!c) {
    reading.sweep.objectives = {Objective::kEdp};
    return;
  }
  const std::vector<std::string_view> names(objective_names().begin(), objective_names().end());
  read_words(*c, names, "objective", parse_objective, reading.sweep.objectives);
  if (c->node().is_sequence() && c->items().empty()) c->problem("no objective", "at least one");
}

void read_mapper(SweepReading& reading, const std::optional<Cursor>& c, const SweepOverrides& overrides) {
  Sweep& sweep = reading.sweep;
  const std::vector<std::string_view> names(mapper_names().begin(), mapper_names().end());
  sweep.mapper = names.front();
  if (c && c->node().is_map() && c->only_keys(keys::kSweepMapper)) {
    if (const auto name = c->require("name", "a mapper")) read_mapper_name(*name, names, sweep);
    if (const auto options = c->find("options"); options && options->expect_map("a map of the mapper's options")) {
      const std::vector<Cursor> entries = options->entries();
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (const auto text = entries[i].text("a number"))
          sweep.mapper_options.emplace_back(options->entry(i).key, *text);
    }
  } else if (c && !c->node().is_map()) {
    read_mapper_name(*c, names, sweep);
  }
  if (!overrides.mapper) return;
  sweep.mapper = *overrides.mapper;
  if (std::ranges::find(names, sweep.mapper) == names.end())
    throw InputError(Diagnostic{"--mapper", 0, 0, "", fmt::format("unknown mapper `{}`", sweep.mapper),
                                "one of " + join(names), nearest(sweep.mapper, mapper_names())});
}

void read_gap(SweepReading& reading, const std::optional<Cursor>& c, const SweepOverrides& overrides) {
  Sweep& sweep = reading.sweep;
  if (c) sweep.gap = c->real().value_or(0);
  if (c && sweep.gap >= 1) c->problem("a gap of the whole value", "a share below 1, such as 0.01");
  if (overrides.gap) sweep.gap = *overrides.gap;
  if (sweep.gap == 0) return;
  const Traits question = Traits{Trait::kSweep, Trait::kGap}.add(TraitGroup::kMappers, sweep.mapper);
  check_works(overrides.gap ? "pliant sweep" : reading.file, question, overrides.gap ? "--gap" : "gap");
}

}  // namespace pliant
