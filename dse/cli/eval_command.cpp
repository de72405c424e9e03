// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/eval_command.h"

#include <fmt/format.h>

#include <ostream>

#include "core/input/load.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/task_options.h"
#include "dse/cli/command_line.h"

namespace pliant {
namespace {

constexpr const char* kEvalUsage = R"(usage: pliant eval --accelerator NAME|FILE --layer LAYER --mapping FILE [options]

Prices one mapping: where energy and time go level by level, what bounds the runtime, how full each buffer is. The
mapping is checked first; an illegal one ends with every violated limit and exit code 3.

examples:
  pliant eval --accelerator eyeriss --workload resnet50 --layer conv1 --mapping mapping.yaml
  pliant eval --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --mapping mapping.yaml --conventions timeloop --json

)";

class EvalCommand {
 public:
  EvalCommand(const Arguments& arguments, std::ostream& out, std::ostream& err)
      : arguments_(arguments), out_(out), err_(err) {}

  int run() {
    if (!arguments_.has("mapping")) throw arguments_.missing("mapping", "a mapping file");
    const Layer layer = read_layer(arguments_);
    const Accelerator accelerator = read_accelerator(arguments_);
    MappingFile file = load_mapping(*arguments_.text("mapping"), layer, accelerator);
    if (const auto name = arguments_.text("factorization"))
      file.factorization = read_factorization(*name, arguments_.command());
    const std::vector<Violation> violations =
        check_legality(layer, accelerator, accelerator.flexibility_of(layer), file.factorization, file.mapping);
    if (!violations.empty()) return refuse(violations);
    const CostReport report = price(layer, accelerator, file.mapping);
    const PricedMapping priced{layer, accelerator, file.mapping, file.factorization, report};
    if (arguments_.has("json")) {
      nlohmann::ordered_json json{{"schema", kJsonSchema}};
      json.update(cost_json(priced));
      out_ << json.dump(2) << "\n";
    } else {
      out_ << cost_text(priced, arguments_.has("ascii"));
    }
    return 0;
  }

 private:
  int refuse(const std::vector<Violation>& violations) {
    if (arguments_.has("json")) {
      nlohmann::ordered_json json{
          {"schema", kJsonSchema}, {"legal", false}, {"violations", violations_json(violations)}};
      out_ << json.dump(2) << "\n";
    } else {
      err_ << fmt::format("pliant eval: the mapping is not legal, {} limit{} violated\n", violations.size(),
                          violations.size() == 1 ? "" : "s")
           << violations_text(violations);
    }
    return 3;
  }

  const Arguments& arguments_;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace

int eval_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"eval", kEvalUsage, 0};
  return run_command(line, args, out, err,
                     [&](const Arguments& arguments) { return EvalCommand(arguments, out, err).run(); });
}

}  // namespace pliant
