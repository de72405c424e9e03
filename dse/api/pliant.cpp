// SPDX-License-Identifier: Apache-2.0
#include "dse/api/pliant.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <sstream>

#include "core/input/source_text.h"
#include "dse/answers/answers.h"
#include "dse/answers/progress_text.h"

namespace pliant {
namespace {

/// At most five lines of progress a second.
class ProgramFace : public Face {
 public:
  ProgramFace(std::ostream& out_stream, std::ostream& err_stream, const Library& shipped, const AskOptions& options)
      : Face(out_stream, err_stream, shipped), options_(options) {}

  std::stop_token begin_work(std::string_view, double) override { return options_.stop; }
  void begin_layer(const std::string& layer, std::size_t) override {
    working([&] { return layer; });
  }
  void show(const Progress&) override {}
  void show(const SweepProgress& p) override {
    working([&] { return fmt::format("{} of {} layers, {}", p.done, p.total, readable_seconds(p.seconds)); });
  }
  void show(const PhaseProgress& p) override {
    working([&] { return fmt::format("{}: {} of {}", p.what, p.done, p.total); });
  }
  void working(const std::function<std::string()>& text) override {
    if (!options_.on_progress) return;
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    options_.on_progress(text());
  }

 private:
  const AskOptions& options_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_{};  ///< of a line
};

}  // namespace

Question::Value::Value(double number) : texts{fmt::format("{}", number)} {}

Answer ask(const Library& library, const Question& question, const AskOptions& options) {
  const AnsweredCommand* const command = find_answered(question.command);
  if (command == nullptr) throw unknown_command(question.command);
  GivenOptions given;
  for (const auto& [name, value] : question.options) {
    if (!value.given) continue;
    std::vector<std::string>& texts = given[name];
    texts.insert(texts.end(), value.texts.begin(), value.texts.end());
  }
  if (options.json) given["json"] = {};
  const Arguments arguments(command->name, std::move(given), question.words, command->most_words);
  std::ostringstream out, err;
  ProgramFace face(out, err, library, options);
  const int code = command->answer(arguments, face);
  return {code, out.str(), err.str()};
}

SearchResult map_layer(const Accelerator& accelerator, const Layer& layer, const MapRequest& request) {
  const std::unique_ptr<Mapper> mapper = make_mapper(request.mapper);
  if (mapper == nullptr) {
    throw InputError(Diagnostic{.file = "",
                                .key = "mapper",
                                .what = fmt::format("no mapper `{}`", shorten(request.mapper, 40)),
                                .expected = "one of " + join(mapper_names()),
                                .did_you_mean = nearest(request.mapper, mapper_names())});
  }
  Task task;
  task.layer = layer;
  task.accelerator = accelerator;
  task.flexibility = accelerator.flexibility_of(layer);
  task.factorization = request.factorization;
  task.objective = request.objective;
  return run_mapper(*mapper, task, request.options);
}

}  // namespace pliant
