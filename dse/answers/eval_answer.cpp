// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <ostream>

#include "core/input/load.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/answers/answering.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/task_options.h"

namespace pliant {
namespace {

class EvalAnswer : Answering {
 public:
  EvalAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    if (!arguments_.has("mapping")) throw arguments_.missing("mapping", "a mapping file");
    const Layer layer = read_layer(library_, arguments_);
    const Accelerator accelerator = read_accelerator(library_, arguments_);
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
};

}  // namespace

int answer_eval(const Arguments& arguments, Face& face) { return EvalAnswer(arguments, face).run(); }

}  // namespace pliant
