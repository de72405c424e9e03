// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>
#include <stdexcept>

#include "core/input/source_text.h"
#include "dse/results/stored_files.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {
namespace {

namespace options = boost::program_options;

constexpr std::uint64_t kMostThreads = 4096;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

/// What is expected of a value, when it is not that.
std::optional<std::string> expected_instead(OptionKind kind, const std::string& text) {
  switch (kind) {
    case OptionKind::kWhole:
      return parse_number<std::uint64_t>(text) ? std::nullopt : std::optional<std::string>("a whole number, 0 or more");
    case OptionKind::kReal: {
      const auto value = parse_number<double>(text);
      return value && *value >= 0 ? std::nullopt : std::optional<std::string>("a number, 0 or more");
    }
    case OptionKind::kDuration:
      return parse_seconds(text) ? std::nullopt
                                 : std::optional<std::string>("a number with ms, s, m or h, such as 1s; 0 = no limit");
    case OptionKind::kShare:
      return parse_share(text) ? std::nullopt : std::optional<std::string>("a share below 100%, such as 1% or 0.01");
    case OptionKind::kThreads: {
      const auto value = parse_number<std::uint64_t>(text);
      return value && *value <= kMostThreads ? std::nullopt
                                             : std::optional<std::string>("0 to 4096, where 0 means all cores");
    }
    default: return std::nullopt;
  }
}

/// What may be in object storage: datasets, caches and tables. An empty option is the command's word.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kPlaces{{{"sweep", "output"},
                                                                                 {"sweep", "cache"},
                                                                                 {"sweep", ""},
                                                                                 {"design", "output"},
                                                                                 {"design", "cache"},
                                                                                 {"pareto", ""},
                                                                                 {"pareto", "output"},
                                                                                 {"query", ""},
                                                                                 {"query", "output"},
                                                                                 {"report", ""},
                                                                                 {"report", "output"},
                                                                                 {"verify", ""}}};

/// Of an address that cannot stand here: what can. It would else become a folder `https:` of this machine.
std::optional<std::string> instead_of_address(std::string_view command, std::string_view option,
                                              std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0 ||
      !std::ranges::all_of(text.substr(0, colon), [](char c) { return (c >= 'a' && c <= 'z') || c == '3'; }))
    return std::nullopt;
  if (std::ranges::find(kPlaces, std::pair(command, option)) == kPlaces.end())
    return "a file or folder of this machine; only datasets and caches may be in object storage";
  if (is_address(text)) return std::nullopt;
  return "a folder of this machine, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER";
}

}  // namespace

InputError bad_option(std::string_view command, std::string option, std::string what, std::string expected,
                      std::string did_you_mean) {
  return InputError(Diagnostic{.file = std::string(command),
                               .key = std::move(option),
                               .what = std::move(what),
                               .expected = std::move(expected),
                               .did_you_mean = std::move(did_you_mean)});
}

InputError unknown_option(std::string_view command, const std::string& name) {
  std::vector<std::string> known;
  for (const OptionInfo& option : options_of(command)) known.push_back(fmt::format("--{}", option.name));
  return bad_option(fmt::format("pliant {}", command), name, "unknown option",
                    fmt::format("an option of pliant {} --help", command), nearest(name, known));
}

std::optional<double> parse_seconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr std::array<Unit, 5> kUnits{{{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}}};
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  const std::string_view name(at, static_cast<std::size_t>(end - at));
  const auto unit = std::ranges::find(kUnits, name, &Unit::name);
  if (error != std::errc() || unit == kUnits.end() || !(value >= 0)) return std::nullopt;
  return value * unit->seconds;
}

std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto value = parse_number<double>(text);
  const double share = value.value_or(-1) / (percent ? 100 : 1);
  return share >= 0 && share < 1 ? std::optional(share) : std::nullopt;
}

Arguments::Arguments(std::string_view command, GivenOptions given, std::vector<std::string> words, int most_words)
    : command_(fmt::format("pliant {}", command)),
      options_(options_of(command)),
      given_(std::move(given)),
      words_(std::move(words)) {
  for (const auto& [name, values] : given_) {
    const auto option = std::ranges::find(options_, name, &OptionInfo::name);
    if (option == options_.end()) throw unknown_option(command, "--" + name);
    const bool flag = option->kind == OptionKind::kFlag;
    if (flag && !values.empty()) throw bad("--" + name, fmt::format("`{}`", shorten(values[0], 60)), "no value");
    if (!flag && values.empty()) throw bad("--" + name, "no value", "one");
    if (option->kind != OptionKind::kTexts && values.size() > 1) throw bad("--" + name, "given twice", "one value");
    for (const std::string& text : values) {
      if (auto instead = instead_of_address(command, name, text))
        throw bad("--" + name, fmt::format("`{}`", shorten(text, 60)), std::move(*instead));
      if (auto expected = expected_instead(option->kind, text))
        throw bad("--" + name, fmt::format("`{}`", shorten(text, 60)), std::move(*expected));
    }
  }
  for (const std::string& word : words_)
    if (auto instead = instead_of_address(command, "", word))
      throw bad("", fmt::format("`{}`", shorten(word, 60)), std::move(*instead));
  if (words_.size() > static_cast<std::size_t>(most_words))
    throw bad("", fmt::format("`{}` is one word too many", shorten(words_[static_cast<std::size_t>(most_words)], 60)),
              most_words == 0 ? "options only" : fmt::format("what {} --help says", command_));
}

Arguments read_arguments(std::string_view command, const std::vector<std::string>& line, int most_words) {
  const std::vector<OptionInfo> table = options_of(command);
  options::options_description described;
  for (const OptionInfo& option : table) {
    const std::string name =
        option.letter == '\0' ? std::string(option.name) : fmt::format("{},{}", option.name, option.letter);
    if (option.kind == OptionKind::kFlag)
      described.add_options()(name.c_str(), "");
    else
      described.add_options()(name.c_str(), options::value<std::string>(), "");
  }
  const auto no_value = [&](const std::string& name, const OptionInfo& option) {
    return bad_option(fmt::format("pliant {}", command), name, "no value", std::string(placeholder(option.kind)));
  };
  // Boost takes `--sort -column` for two options, and `--layer --json` for one.
  const auto next_word_is_the_value = [&](std::vector<std::string>& rest) {
    std::vector<options::option> found;
    const auto option =
        rest[0].starts_with("--") ? std::ranges::find(table, rest[0].substr(2), &OptionInfo::name) : table.end();
    if (option == table.end() || option->kind == OptionKind::kFlag) return found;
    if (rest.size() < 2 || rest[1].starts_with("--")) throw no_value(rest[0], *option);
    found.emplace_back(std::string(option->name), std::vector<std::string>{rest[1]});
    rest.erase(rest.begin(), rest.begin() + 2);
    return found;
  };
  // No guessing: an abbreviation that works today is an error when a longer option appears.
  const int style = options::command_line_style::unix_style & ~options::command_line_style::allow_guessing;
  GivenOptions given;
  std::vector<std::string> words;
  try {
    const auto parsed = options::command_line_parser(line)
                            .options(described)
                            .style(style)
                            .extra_style_parser(next_word_is_the_value)
                            .run();
    for (const options::option& said : parsed.options) {
      std::vector<std::string>& values = said.string_key.empty() ? words : given[said.string_key];
      values.insert(values.end(), said.value.begin(), said.value.end());
    }
  } catch (const options::unknown_option& error) {
    throw unknown_option(command, error.get_option_name());
  } catch (const options::error_with_option_name& error) {
    const std::string name = error.get_option_name();
    const auto option = std::ranges::find_if(table, [&](const OptionInfo& o) {
      return name == fmt::format("--{}", o.name) || name == fmt::format("-{}", o.letter);
    });
    if (option == table.end()) throw unknown_option(command, name);
    if (option->kind != OptionKind::kFlag) throw no_value(name, *option);
    const auto said = std::ranges::find_if(line, [&](const std::string& text) { return text.starts_with(name + "="); });
    throw bad_option(fmt::format("pliant {}", command), name,
                     said == line.end() ? "a value" : fmt::format("`{}`", shorten(said->substr(name.size() + 1), 60)),
                     "no value");
  }
  return {command, std::move(given), std::move(words), most_words};
}

const OptionInfo& Arguments::info(std::string_view option) const {
  const auto found = std::ranges::find(options_, option, &OptionInfo::name);
  if (found == options_.end()) throw std::logic_error(fmt::format("{} has no option {}", command_, option));
  return *found;
}

std::optional<std::string> Arguments::word() const {
  return words_.empty() ? std::nullopt : std::optional(words_.front());
}

bool Arguments::has(std::string_view option) const { return given_.contains(info(option).name); }

std::optional<std::string> Arguments::text(std::string_view option) const {
  const OptionInfo& row = info(option);
  const auto given = given_.find(row.name);
  if (given != given_.end() && !given->second.empty()) return given->second.front();
  return row.fallback.empty() ? std::nullopt : std::optional<std::string>(row.fallback);
}

std::vector<std::string> Arguments::texts(std::string_view option) const {
  const auto given = given_.find(info(option).name);
  return given == given_.end() ? std::vector<std::string>{} : given->second;
}

std::optional<std::uint64_t> Arguments::whole(std::string_view option) const {
  const auto value = text(option);
  return value ? parse_number<std::uint64_t>(*value) : std::nullopt;
}

std::optional<double> Arguments::real(std::string_view option) const {
  const auto value = text(option);
  return value ? parse_number<double>(*value) : std::nullopt;
}

std::optional<double> Arguments::seconds(std::string_view option) const {
  const auto value = text(option);
  return value ? parse_seconds(*value) : std::nullopt;
}

std::optional<double> Arguments::share(std::string_view option) const {
  const auto value = text(option);
  return value ? parse_share(*value) : std::nullopt;
}

int Arguments::threads() const {
  const auto given = static_cast<int>(whole("threads").value_or(0));
  return given > 0 ? given : usable_cores();
}

std::vector<Setting> Arguments::settings() const {
  std::vector<Setting> all;
  for (const std::string& text : texts("set")) all.push_back(parse_setting(text));
  return all;
}

InputError Arguments::missing(std::string_view option, std::string expected) const {
  return bad(fmt::format("--{}", option), "missing", std::move(expected));
}

InputError Arguments::unknown(std::string option, std::string_view kind, const std::string& word,
                              const std::vector<std::string>& known) const {
  return bad(std::move(option), fmt::format("unknown {} `{}`", kind, shorten(word, 60)), "one of " + join(known),
             nearest(word, known));
}

}  // namespace pliant
