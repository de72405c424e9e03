// SPDX-License-Identifier: Apache-2.0
// Every question that Pliant answers, one row each. A face reads a question, has it answered here and passes it on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dse/answers/arguments.h"
#include "dse/answers/face.h"

namespace pliant {

struct AnsweredCommand {
  std::string_view name;
  int most_words = 0;  ///< how many words without an option it takes
  /// Exit codes: 0 done, 1 something is wrong with the data, 3 no mapping exists, 4 an audit could not decide, 130
  /// stopped. InputError for bad input, StorageError where files fail.
  int (*answer)(const Arguments& arguments, Face& face) = nullptr;
};
const std::vector<AnsweredCommand>& answered_commands();

/// nullptr when there is none.
const AnsweredCommand* find_answered(std::string_view name);

/// Answers on the face. Bad input and files that fail are told on its err, with exit codes 2 and 1.
int answer(const AnsweredCommand& command, const Arguments& arguments, Face& face);
/// The same, of `map --accelerator eyeriss ...`; an unknown command is bad input as well.
int answer(const std::vector<std::string>& words, Face& face);

/// What is wrong, a line each.
void tell_mistakes(const InputError& error, std::ostream& err);
/// "unknown command ..."; beside the answered ones a face may have `more`.
InputError unknown_command(const std::string& name, std::vector<std::string> more = {});

int answer_audit(const Arguments& arguments, Face& face);
int answer_count(const Arguments& arguments, Face& face);
int answer_design(const Arguments& arguments, Face& face);
int answer_eval(const Arguments& arguments, Face& face);
int answer_export(const Arguments& arguments, Face& face);
int answer_flexion(const Arguments& arguments, Face& face);
int answer_import(const Arguments& arguments, Face& face);
int answer_map(const Arguments& arguments, Face& face);
int answer_pareto(const Arguments& arguments, Face& face);
int answer_query(const Arguments& arguments, Face& face);
int answer_report(const Arguments& arguments, Face& face);
int answer_serve(const Arguments& arguments, Face& face);
int answer_show(const Arguments& arguments, Face& face);
int answer_study(const Arguments& arguments, Face& face);
int answer_sweep(const Arguments& arguments, Face& face);
int answer_validate(const Arguments& arguments, Face& face);
int answer_verify(const Arguments& arguments, Face& face);

}  // namespace pliant
