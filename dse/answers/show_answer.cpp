// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "dse/answers/answering.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/show_json.h"
#include "dse/answers/show_text.h"
#include "dse/import/open.h"

namespace pliant {
namespace {

class ShowAnswer : Answering {
 public:
  ShowAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    const std::vector<std::string> kinds{"accelerator", "workload", "layer"};
    const std::vector<std::string>& words = arguments_.words();
    if (words.empty()) throw arguments_.bad("", "nothing to show", "accelerator, workload or layer, then a name");
    const std::optional<std::string> name = words.size() == 2 ? std::optional(words[1]) : std::nullopt;
    if (words[0] == "accelerator")
      return name ? accelerator(*name) : list("accelerators", library_.accelerator_names());
    if (words[0] == "workload") return name ? workload(*name) : list("workloads", library_.workload_names());
    if (words[0] == "layer") return layer(name);
    throw arguments_.bad("", fmt::format("cannot show `{}`", words[0]), "accelerator, workload or layer",
                         nearest(words[0], kinds));
  }

 private:
  int list(const char* of, const std::vector<std::string>& names) {
    if (arguments_.has("yaml")) throw arguments_.bad("--yaml", "without a name", fmt::format("one of the {}", of));
    if (arguments_.has("json")) {
      out_ << nlohmann::ordered_json{{"schema", kJsonSchema}, {of, names}}.dump(2) << "\n";
      return 0;
    }
    for (const std::string& name : names) out_ << name << "\n";
    return 0;
  }

  int accelerator(const std::string& name) {
    Accelerator shown = open_accelerator(library_, name, arguments_.settings());
    if (const auto flexibility = arguments_.text("flexibility"))
      shown = choose_flexibility(library_, *flexibility, std::move(shown));
    return print(shown, write_accelerator(shown));
  }

  int workload(const std::string& name) {
    const Workload shown = open_workload(library_, name);
    return print(shown, write_workload(shown));
  }

  int layer(const std::optional<std::string>& name) {
    std::optional<Workload> workload;
    if (arguments_.has("workload")) workload = open_workload(library_, *arguments_.text("workload"));
    if (!name && workload) {
      std::vector<std::string> names;
      for (const Workload::Entry& entry : workload->layers) names.push_back(entry.layer.name);
      return list("layers", names);
    }
    if (!name) throw arguments_.bad("", "no layer named", "a layer in place, a file, or a name with --workload");
    const Layer shown = resolve_layer(*name, workload ? &*workload : nullptr);
    return print(shown, write_layer(shown));
  }

  template <class Shown>
  int print(const Shown& shown, const std::string& yaml) {
    if (arguments_.has("json") && arguments_.has("yaml"))
      throw arguments_.bad("--yaml", "given with --json", "one of them");
    if (arguments_.has("json")) {
      out_ << show_json(shown).dump(2) << "\n";
    } else if (arguments_.has("yaml")) {
      out_ << yaml;
    } else {
      out_ << show_text(shown, arguments_.has("ascii"));
    }
    return 0;
  }
};

}  // namespace

int answer_show(const Arguments& arguments, Face& face) { return ShowAnswer(arguments, face).run(); }

}  // namespace pliant
