// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dse/answers/render_search.h"
#include "dse/combinations/combinations.h"
#include "dse/mappers/predicted.h"
#include "src/inputs.h"

namespace pliant::python {

/// How to search, as the keyword arguments of pliant.map say it.
struct Request {
  std::string objective = "edp", factorization = "pfm", mapper = "exact";
  double budget_seconds = 0;
  std::uint64_t evaluations = 0;
  double gap = 0;
  std::uint64_t seed = 1;
  int threads = 1;
  std::vector<std::pair<std::string, std::string>> mapper_options;
};

/// What the arguments say of the question, for the table of what works with what.
Traits asked(Trait question, const Request& request);
std::unique_ptr<Mapper> mapper_of(const Request& request);
SearchOptions options_of(const Request& request, std::stop_token stop);

/// A layer searched, with all that its texts and its JSON need.
class FoundMapping {
 public:
  FoundMapping(std::shared_ptr<const Task> task, SearchResult result, std::string mapper,
               std::optional<Infeasibility> why, std::optional<TaskWords> words,
               std::optional<PredictedOptimum> predicted = std::nullopt)
      : task_(std::move(task)),
        searched_{task_.get(), 1, std::move(result), std::move(why)},
        mapper_(std::move(mapper)),
        words_(std::move(words)),
        predicted_(std::move(predicted)) {}

  const SearchResult& result() const { return searched_.result; }
  const SearchedLayer& searched() const { return searched_; }
  const Task& task() const { return *task_; }
  const std::string& mapper() const { return mapper_; }
  const std::optional<TaskWords>& words() const { return words_; }
  const std::optional<PredictedOptimum>& predicted() const { return predicted_; }

  nlohmann::ordered_json json() const;  ///< as `pliant map --json`; `task` only when the inputs have words
  std::string text() const;
  std::string loop_nest() const;     ///< "" when there is no mapping
  std::string mapping_file() const;  ///< YAML
  std::string bound_by() const;

 private:
  std::shared_ptr<const Task> task_;
  SearchedLayer searched_;
  std::string mapper_;
  std::optional<TaskWords> words_;
  std::optional<PredictedOptimum> predicted_;  ///< where it was asked for
};

}  // namespace pliant::python
