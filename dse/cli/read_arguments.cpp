// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/read_arguments.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <sstream>

namespace pliant {
namespace {

namespace options = boost::program_options;

constexpr const char* kWords = "words of the command";  ///< no option can have this name

/// `output,o`, as Boost wants it.
std::string boost_name(const OptionInfo& option) {
  return option.letter == '\0' ? std::string(option.name) : fmt::format("{},{}", option.name, option.letter);
}

/// Values stay text: their kinds are checked here, so that all mistakes read alike.
options::options_description described(const std::vector<OptionInfo>& all) {
  options::options_description described("options");
  for (const OptionInfo& option : all) {
    const std::string help(option.help);
    if (option.kind == OptionKind::kFlag) {
      described.add_options()(boost_name(option).c_str(), help.c_str());
      continue;
    }
    // Every occurrence is kept; only kTexts may have several.
    auto* value = options::value<std::vector<std::string>>()->composing();
    const std::string placeholder_text(placeholder(option.kind));
    value->value_name(option.fallback.empty() ? placeholder_text
                                              : fmt::format("{} (={})", placeholder_text, option.fallback));
    described.add_options()(boost_name(option).c_str(), value, help.c_str());
  }
  return described;
}

}  // namespace

std::string options_text(std::string_view command) {
  std::ostringstream text;
  text << described(options_of(command));
  return text.str();
}

Arguments read_arguments(std::string_view command, const std::vector<std::string>& args, int most_words) {
  const std::vector<OptionInfo> known = options_of(command);
  options::options_description all = described(known);
  all.add_options()(kWords, options::value<std::vector<std::string>>());
  options::positional_options_description positional;
  positional.add(kWords, -1);
  // No guessing: an abbreviation that works today is an error when a longer option appears.
  const int style = options::command_line_style::unix_style & ~options::command_line_style::allow_guessing;
  options::variables_map values;
  try {
    options::store(options::command_line_parser(args).options(all).positional(positional).style(style).run(), values);
  } catch (const options::unknown_option& error) {
    std::string name = error.get_option_name();
    if (!name.starts_with("--")) name.insert(0, name.starts_with("-") ? "-" : "--");
    throw unknown_option(command, name);
  } catch (const options::error& error) {
    throw bad_option(fmt::format("pliant {}", command), "", error.what(),
                     fmt::format("what pliant {} --help says", command));
  }
  GivenOptions given;
  for (const OptionInfo& option : known) {
    const std::string name(option.name);
    if (!values.count(name)) continue;
    std::vector<std::string>& texts = given[name];
    if (option.kind != OptionKind::kFlag) texts = values[name].as<std::vector<std::string>>();
  }
  std::vector<std::string> words;
  if (values.count(kWords)) words = values[kWords].as<std::vector<std::string>>();
  return {command, std::move(given), std::move(words), most_words};
}

}  // namespace pliant
