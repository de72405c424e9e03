// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "dse/answers/answering.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/task_options.h"
#include "dse/answers/verify_dataset_answer.h"
#include "dse/answers/verify_network.h"
#include "dse/mappers/claim.h"
#include "dse/mappers/mapper.h"
#include "dse/results/stored_files.h"

namespace pliant {
namespace {

using nlohmann::json;

ProofOptions proof_options(const Arguments& arguments) {
  ProofOptions proof;
  proof.limit = *arguments.whole("limit");
  proof.threads = arguments.threads();
  proof.seconds = arguments.seconds("budget").value_or(0);
  return proof;
}

class VerifyAnswer : Answering {
 public:
  VerifyAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    if (!arguments_.word()) throw arguments_.bad("", "no file named", "what `pliant map --json` wrote");
    file_ = *arguments_.word();
    std::ifstream in(file_, std::ios::binary);
    if (!in) throw bad_option(file_, "", "cannot be read", "what `pliant map --json` wrote");
    json saved;
    try {
      saved = json::parse(in);
    } catch (const json::parse_error& error) {
      throw bad_option(file_, "", fmt::format("is not JSON: {}", error.what()), "what `pliant map --json` wrote");
    }
    if (!saved.is_object() || saved.value("schema", 0) < 1 || saved.value("schema", 0) > kJsonSchema)
      throw bad_option(file_, "schema", fmt::format("is not {}", kJsonSchema), "what `pliant map --json` wrote");
    const TaskWords words = TaskWords::from_json(saved.value("task", json()), file_, file_);
    std::vector<ReadTask> tasks = read_tasks(library_, words);
    if (saved.contains("network")) {
      const Interrupt interrupt(face_);
      ProofOptions options = proof_options(arguments_);
      options.stop = interrupt.token();
      const std::vector<VerifiedClaim> verdicts =
          verify_network(library_, file_, words, tasks, saved["network"], options);
      return tell(verdicts, verdicts.size() + (interrupt.asked() ? 1 : 0));
    }
    std::vector<json> claims;
    if (saved.contains("frontier") && saved["frontier"].is_array() && tasks.size() == 1) {
      // Each point claims the least energy within its cycles.
      for (const json& point : saved["frontier"]) {
        if (!point.contains("runtime_cycles") || !point["runtime_cycles"].is_number())
          throw bad_option(file_, "frontier.runtime_cycles", "missing or no number", "what `pliant map --json` wrote");
        claims.push_back(point);
      }
      tasks.resize(claims.size(), tasks.front());
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        tasks[i].task.objective = Objective::kEnergy;
        tasks[i].task.most_cycles = claims[i]["runtime_cycles"].get<double>();
      }
    } else if (saved.contains("layers") && saved.contains("total")) {
      for (const json& layer : saved["layers"]) claims.push_back(layer);
    } else {
      claims.push_back(saved);
    }
    if (claims.size() != tasks.size())
      throw bad_option(file_, "layers", fmt::format("{} results for {} layers", claims.size(), tasks.size()),
                       "one per layer");

    const Interrupt interrupt(face_);
    std::vector<VerifiedClaim> verdicts;
    for (std::size_t i = 0; i < tasks.size() && !interrupt.asked(); ++i)
      verdicts.push_back(verify(tasks[i].task, claims[i], interrupt.token()));
    return tell(verdicts, tasks.size());
  }

 private:
  VerifiedClaim verify(const Task& task, const json& saved, const std::stop_token& stop) const {
    VerifiedClaim verdict;
    verdict.layer = task.layer.name;
    const auto number = [&](const char* key) {
      return saved.contains(key) && saved[key].is_number() ? std::optional(saved[key].get<double>()) : std::nullopt;
    };
    Claim claim{{},
                number("energy_pj"),
                number("runtime_cycles"),
                number("edp_pj_cycles"),
                number("utilization"),
                number("value"),
                number("lower_bound"),
                saved.value("certified", false)};
    if (saved.value("feasible", true)) {
      if (!saved.contains("mapping"))
        throw bad_option(file_, "mapping", "missing", "the mapping of layer " + task.layer.name);
      claim.mapping =
          parse_mapping_text(saved["mapping"].dump(), file_ + ": mapping", task.layer, task.accelerator).mapping;
    }
    if (!claim.mapping && saved.value("ended_by", "proof") != "proof") {
      verdict.proof = "nothing was found, and nothing is claimed";
      return verdict;
    }
    verdict.value = claim.value.value_or(0);
    // 1. Legal, and priced as claimed.
    verdict.wrong = check_claim(task, claim);
    if (!verdict.wrong.empty()) return verdict;
    // 2. Proven as claimed.
    ProofOptions options = proof_options(arguments_);
    options.stop = stop;
    Proof proof = prove_claim(task, claim, options);
    verdict.wrong = std::move(proof.wrong);
    verdict.proof = std::move(proof.how);
    return verdict;
  }

  int tell(const std::vector<VerifiedClaim>& verdicts, std::size_t wanted) const {
    std::size_t bad = 0;
    nlohmann::ordered_json report{
        {"schema", kJsonSchema}, {"file", file_}, {"layers", nlohmann::ordered_json::array()}};
    for (const VerifiedClaim& verdict : verdicts) {
      bad += verdict.wrong.empty() ? 0 : 1;
      report["layers"].push_back({{"layer", verdict.layer},
                                  {"verified", verdict.wrong.empty()},
                                  {"value", verdict.value},
                                  {"proof", verdict.proof},
                                  {"differences", verdict.wrong}});
      if (arguments_.has("json")) continue;
      out_ << fmt::format("{} {}: {}\n", verdict.wrong.empty() ? "ok  " : "BAD ", verdict.layer, verdict.proof);
      for (const std::string& difference : verdict.wrong) out_ << "       " << difference << "\n";
    }
    const bool complete = verdicts.size() == wanted;
    report["verified"] = bad == 0 && complete;
    if (arguments_.has("json")) {
      out_ << report.dump(2) << "\n";
    } else {
      out_ << fmt::format("{} of {} verified{}\n", verdicts.size() - bad, wanted, complete ? "" : ", interrupted");
    }
    return bad == 0 && complete ? 0 : 1;
  }

  std::string file_;
};

}  // namespace

int answer_verify(const Arguments& arguments, Face& face) {
  const std::filesystem::path file = arguments.word().value_or("");
  std::error_code error;
  return is_address(file) || std::filesystem::is_directory(file, error)
             ? answer_verify_dataset(file, arguments, proof_options(arguments), face)
             : VerifyAnswer(arguments, face).run();
}

}  // namespace pliant
