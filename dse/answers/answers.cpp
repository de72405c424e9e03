// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/input/source_text.h"
#include "dse/results/atomic_file.h"

namespace pliant {

const std::vector<AnsweredCommand>& answered_commands() {
  constexpr int kMostFiles = 10'000;
  static const std::vector<AnsweredCommand> all{
      {"show", 2, answer_show},         {"map", 0, answer_map},
      {"eval", 0, answer_eval},         {"serve", 1, answer_serve},
      {"flexion", 0, answer_flexion},   {"count", 0, answer_count},
      {"validate", 1, answer_validate}, {"sweep", 1, answer_sweep},
      {"design", 1, answer_design},     {"import", kMostFiles, answer_import},
      {"export", 1, answer_export},     {"study", 1, answer_study},
      {"pareto", 1, answer_pareto},     {"query", 1, answer_query},
      {"report", 1, answer_report},     {"audit", 1, answer_audit},
      {"verify", 1, answer_verify},
  };
  return all;
}

const AnsweredCommand* find_answered(std::string_view name) {
  const auto found = std::ranges::find(answered_commands(), name, &AnsweredCommand::name);
  return found == answered_commands().end() ? nullptr : &*found;
}

void tell_mistakes(const InputError& error, std::ostream& err) {
  for (const Diagnostic& diagnostic : error.diagnostics()) err << diagnostic.text() << "\n";
}

InputError unknown_command(const std::string& name, std::vector<std::string> more) {
  std::vector<std::string> known;
  for (const AnsweredCommand& command : answered_commands()) known.emplace_back(command.name);
  known.insert(known.end(), more.begin(), more.end());
  return bad_option("pliant", "", fmt::format("unknown command `{}`", name), "one of " + join(known),
                    nearest(name, known));
}

int answer(const AnsweredCommand& command, const Arguments& arguments, Face& face) {
  try {
    return command.answer(arguments, face);
  } catch (const InputError& error) {
    tell_mistakes(error, face.err);
    return 2;
  } catch (const StorageError& error) {
    face.err << error.what() << "\n";
    return 1;
  }
}

int answer(const std::vector<std::string>& words, Face& face) {
  try {
    const std::string name = words.empty() ? "" : words.front();
    const AnsweredCommand* const command = find_answered(name);
    if (command == nullptr) throw unknown_command(name);
    return answer(*command, read_arguments(name, {words.begin() + 1, words.end()}, command->most_words), face);
  } catch (const InputError& error) {
    tell_mistakes(error, face.err);
    return 2;
  }
}

}  // namespace pliant
