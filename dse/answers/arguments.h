// SPDX-License-Identifier: Apache-2.0
// What a command is asked, checked against its rows of the option table. Mistakes are worded here, once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "dse/answers/option_table.h"

namespace pliant {

/// A mistake on a command's line; `command` as in "pliant query", `option` as in "--sort" or empty.
InputError bad_option(std::string_view command, std::string option, std::string what, std::string expected = {},
                      std::string did_you_mean = {});

/// `name` with its dashes; `command` without `pliant`.
InputError unknown_option(std::string_view command, const std::string& name);

/// Values by option, without dashes; a flag has none.
using GivenOptions = std::map<std::string, std::vector<std::string>, std::less<>>;

class Arguments {
 public:
  /// InputError for unknown options, values that are missing or of the wrong kind, and more words than the command
  /// takes. `command` without `pliant`; `words` are those that belong to no option.
  Arguments(std::string_view command, GivenOptions given, std::vector<std::string> words, int most_words);

  const std::string& command() const { return command_; }           ///< "pliant map"
  const std::vector<std::string>& words() const { return words_; }  ///< in order
  std::optional<std::string> word() const;                          ///< the first
  bool has(std::string_view option) const;                          ///< it was given
  std::optional<std::string> text(std::string_view option) const;   ///< what was given, else the default
  std::vector<std::string> texts(std::string_view option) const;
  std::optional<std::uint64_t> whole(std::string_view option) const;
  std::optional<double> real(std::string_view option) const;
  std::optional<double> seconds(std::string_view option) const;
  std::optional<double> share(std::string_view option) const;
  int threads() const;                    ///< at least 1
  std::vector<Setting> settings() const;  ///< of --set

  InputError bad(std::string option, std::string what, std::string expected = {}, std::string did_you_mean = {}) const {
    return bad_option(command_, std::move(option), std::move(what), std::move(expected), std::move(did_you_mean));
  }
  InputError missing(std::string_view option, std::string expected) const;
  /// "unknown mapper `exat`; expected one of ...; did you mean exact?"
  InputError unknown(std::string option, std::string_view kind, const std::string& word,
                     const std::vector<std::string>& known) const;

 private:
  const OptionInfo& info(std::string_view option) const;

  std::string command_;
  std::vector<OptionInfo> options_;
  GivenOptions given_;
  std::vector<std::string> words_;
};

/// A line such as `--accelerator eyeriss --set=rows=8 -o DIR word`; after `--` everything is a word. No guessing: an
/// abbreviation that works today is an error when a longer option appears.
Arguments read_arguments(std::string_view command, const std::vector<std::string>& line, int most_words);

/// "1s", "250ms", "2m", "0.5": seconds; nullopt when it is no duration.
std::optional<double> parse_seconds(std::string_view text);

/// "1%", "0.01": a share from 0 to below 1; nullopt when it is none.
std::optional<double> parse_share(std::string_view text);

}  // namespace pliant
