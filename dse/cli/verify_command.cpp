// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/verify_command.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/diagnostics.h"
#include "core/legal_count.h"
#include "core/legality.h"
#include "core/load.h"
#include "costmodel/report.h"
#include "dse/cli/command_line.h"
#include "dse/cli/interrupt.h"
#include "dse/cli/task_options.h"
#include "dse/mappers/mapper.h"

namespace pliant {
namespace {

namespace options = boost::program_options;
using nlohmann::json;

constexpr const char* kUsage = R"(usage: pliant verify FILE [options]

Checks a result that `pliant map --json` wrote, trusting nothing in it: the mapping is judged by the legality checker
and priced again by the cost model; its claim is proven again, by enumerating the map-space where it is small enough,
else by the exact mapper. Exit code 1 when anything differs.

example:
  pliant map --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --json > best.json
  pliant verify best.json

)";

constexpr double kRounding = 1e-9;  ///< of sums formed in another order

options::options_description described_options() {
  options::options_description all("options");
  auto add = all.add_options();
  add("limit", options::value<std::uint64_t>()->default_value(2'000'000),
      "enumerate spaces of at most so many mappings");
  add("budget", options::value<std::string>(), "time for the proof of one layer, such as 10s");
  add("threads", options::value<int>()->default_value(1), "results do not depend on it");
  add("json", "print JSON (schema 1)");
  add("help", "print this");
  return all;
}

bool equal(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

/// One layer's claim and what became of it.
struct Verdict {
  std::string layer;
  std::vector<std::string> wrong;  ///< every difference found
  std::string proof;               ///< how the claim was proven again
  double value = 0;
};

class VerifyCommand {
 public:
  VerifyCommand(const options::variables_map& values, std::ostream& out) : values_(values), out_(out) {}

  int run() {
    if (!values_.count("file")) throw wrong("pliant verify", "", "no file named", "what `pliant map --json` wrote");
    file_ = values_["file"].as<std::string>();
    std::ifstream in(file_, std::ios::binary);
    if (!in) throw wrong(file_, "", "cannot be read", "what `pliant map --json` wrote");
    json saved;
    try {
      saved = json::parse(in);
    } catch (const json::parse_error& error) {
      throw wrong(file_, "", fmt::format("is no JSON: {}", error.what()), "what `pliant map --json` wrote");
    }
    if (!saved.is_object() || saved.value("schema", 0) != 1)
      throw wrong(file_, "schema", "is not 1", "what `pliant map --json` wrote");
    const TaskWords words = TaskWords::from_json(saved.value("task", json()), file_, file_);
    const std::vector<ReadTask> tasks = read_tasks(words);
    std::vector<json> claims;
    if (saved.contains("layers") && saved.contains("total")) {
      for (const json& layer : saved["layers"]) claims.push_back(layer);
    } else {
      claims.push_back(saved);
    }
    if (claims.size() != tasks.size())
      throw wrong(file_, "layers", fmt::format("{} results for {} layers", claims.size(), tasks.size()),
                  "one per layer");

    const Interrupt interrupt;
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < tasks.size() && !interrupt.asked(); ++i)
      verdicts.push_back(verify(tasks[i].task, claims[i], interrupt.token()));
    return tell(verdicts, tasks.size());
  }

 private:
  static InputError wrong(std::string file, std::string key, std::string what, std::string expected) {
    return InputError(Diagnostic{.file = std::move(file),
                                 .key = std::move(key),
                                 .what = std::move(what),
                                 .expected = std::move(expected),
                                 .did_you_mean = {}});
  }

  Verdict verify(const Task& task, const json& claim, const std::stop_token& stop) const {
    Verdict verdict;
    verdict.layer = task.layer.name;
    const auto differs = [&](std::string what) { verdict.wrong.push_back(std::move(what)); };
    const auto claimed = [&](const char* key) {
      return claim.contains(key) && claim[key].is_number() ? claim[key].get<double>() : std::nan("");
    };
    // 1. Legal, and priced as claimed.
    const bool feasible = claim.value("feasible", true);
    if (feasible) {
      if (!claim.contains("mapping"))
        throw wrong(file_, "mapping", "missing", "the mapping of layer " + task.layer.name);
      const MappingFile file =
          parse_mapping_text(claim["mapping"].dump(), file_ + ": mapping", task.layer, task.accelerator);
      for (const Violation& violation :
           check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, file.mapping))
        differs("illegal: " + violation.message);
      if (!verdict.wrong.empty()) return verdict;
      const Totals totals = price(task.layer, task.accelerator, file.mapping).totals;
      verdict.value = objective_value(task.objective, totals);
      const auto compare = [&](const char* key, double now) {
        const double then = claimed(key);
        if (!std::isnan(then) && !equal(then, now)) differs(fmt::format("{} is {:.12g}, not {:.12g}", key, now, then));
      };
      compare("energy_pj", totals.energy_pj);
      compare("runtime_cycles", totals.cycles);
      compare("edp_pj_cycles", totals.edp());
      compare("utilization", totals.utilization);
      compare("value", verdict.value);
    }
    // 2. Proven as claimed: nothing legal is better than the lower bound says.
    const bool certified = claim.value("certified", false);
    const double bound = claimed("lower_bound");
    if (certified && !equal(bound, claimed("value"))) differs("certified, but lower_bound is not the value");
    SearchOptions search;
    search.stop = stop;
    search.threads = values_["threads"].as<int>();
    if (values_.count("budget"))
      search.budget.seconds = parse_seconds(values_["budget"].as<std::string>(), "pliant verify", "--budget");
    const std::uint64_t limit = values_["limit"].as<std::uint64_t>();
    const std::optional<BigCount> size =
        count_legal_mappings(task.layer, task.accelerator, task.flexibility, task.factorization, {50'000, 50'000'000});
    const bool small = size && *size <= limit;
    if (small) search.extra = {{"limit", std::to_string(limit)}};
    const char* mapper = small ? "exhaustive" : "exact";
    const SearchResult again = run_mapper(*make_mapper(mapper), task, search);
    if (again.mapping && !feasible) differs("a legal mapping exists");
    if (again.mapping && feasible && !std::isnan(bound) && again.value < bound * (1 - kRounding))
      differs(fmt::format("a mapping of value {:.12g} exists, below the claimed bound {:.12g}", again.value, bound));
    if (again.mapping && feasible && certified && again.certified && !equal(again.value, verdict.value))
      differs(fmt::format("the optimum is {:.12g}, not {:.12g}", again.value, verdict.value));
    verdict.proof = !again.mapping && !again.infeasible ? fmt::format("not proven again ({})", again.ended_by)
                    : small            ? fmt::format("enumerated all {} mappings", again.mappings_covered)
                    : again.certified  ? "proven again by the exact mapper"
                    : again.infeasible ? "nothing fits, proven again by the exact mapper"
                                       : fmt::format("exact mapper: lower bound {:.7g}, gap {:.3g} %",
                                                     again.lower_bound, 100 * again.gap());
    return verdict;
  }

  int tell(const std::vector<Verdict>& verdicts, std::size_t wanted) const {
    std::size_t bad = 0;
    nlohmann::ordered_json report{{"schema", 1}, {"file", file_}, {"layers", nlohmann::ordered_json::array()}};
    for (const Verdict& verdict : verdicts) {
      bad += verdict.wrong.empty() ? 0 : 1;
      report["layers"].push_back({{"layer", verdict.layer},
                                  {"verified", verdict.wrong.empty()},
                                  {"value", verdict.value},
                                  {"proof", verdict.proof},
                                  {"differences", verdict.wrong}});
      if (values_.count("json")) continue;
      out_ << fmt::format("{} {}: {}\n", verdict.wrong.empty() ? "ok  " : "BAD ", verdict.layer, verdict.proof);
      for (const std::string& difference : verdict.wrong) out_ << "       " << difference << "\n";
    }
    const bool complete = verdicts.size() == wanted;
    report["verified"] = bad == 0 && complete;
    if (values_.count("json")) {
      out_ << report.dump(2) << "\n";
    } else {
      out_ << fmt::format("{} of {} verified{}\n", verdicts.size() - bad, wanted, complete ? "" : ", interrupted");
    }
    return bad == 0 && complete ? 0 : 1;
  }

  const options::variables_map& values_;
  std::ostream& out_;
  std::string file_;
};

}  // namespace

int verify_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pliant verify", kUsage, described_options(), "file"};
  return run_command(line, args, out, err,
                     [&](const options::variables_map& values) { return VerifyCommand(values, out).run(); });
}

}  // namespace pliant
