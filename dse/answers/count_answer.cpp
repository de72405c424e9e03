// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "dse/answers/answering.h"
#include "dse/answers/count_json.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/task_options.h"
#include "flex/mapspace/ruby_table.h"

namespace pliant {

namespace {

using nlohmann::ordered_json;

class CountAnswer : Answering {
 public:
  CountAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    static constexpr std::array kModes{"legal", "enumerate", "quickflow", "orders", "table"};
    const auto given = std::count_if(kModes.begin(), kModes.end(), [this](const char* m) { return arguments_.has(m); });
    if (given > 1)
      throw arguments_.bad("", "several modes at once",
                           "at most one of --legal, --enumerate, --quickflow, --orders, --table");
    if (arguments_.has("table")) return ruby_table();
    space_.layer = read_layer(library_, arguments_);
    if (arguments_.has("orders")) return orders();
    space_.accelerator = read_accelerator(library_, arguments_);
    space_.rule = read_factorization(*arguments_.text("factorization"), arguments_.command());
    if (arguments_.has("quickflow")) return tell(quickflow_json(space_), "QuickFlow's map-space size");
    if (arguments_.has("legal")) return tell(legal_json(space_), "legal mappings");
    if (arguments_.has("enumerate")) return enumerate();
    return closed_form();
  }

 private:
  bool as_json() const { return arguments_.has("json"); }

  int finish(const ordered_json& json) {
    out_ << json.dump(2) << "\n";
    return 0;
  }

  static std::string text(const ordered_json& json) { return json.get<std::string>(); }

  int tell(const ordered_json& json, std::string_view title) {
    if (as_json()) return finish(json);
    out_ << title << "\n  " << readable_size(text(json["count"])) << "\n";
    return 0;
  }

  int closed_form() {
    const ordered_json json = map_space_json(space_);
    if (!as_json()) {
      out_ << fmt::format("{:<16} {:>12}\n", "factor chains", to_string(space_.rule));
      for (const Dim& dim : space_.layer.dims)
        out_ << fmt::format("  {:<14} {:>12}\n", fmt::format("{} = {}", dim.name, dim.size),
                            text(json["factor_chains"][dim.name]));
      out_ << fmt::format("{:<16} {:>12} {:>12}\n", "memories", "orders", "bypasses");
      for (const auto& [memory, orders] : json["orders"].items())
        out_ << fmt::format("  {:<14} {:>12} {:>12}\n", memory, text(orders), text(json["bypasses"][memory]));
    }
    return tell(json, "map-space, before capacities and the joint limits of fanouts");
  }

  int enumerate() {
    const ordered_json json = enumerated_json(space_);
    return tell(json, fmt::format("legal mappings, of {} listed", text(json["listed"])));
  }

  int orders() {
    const ordered_json json = orders_json(space_);
    if (as_json()) return finish(json);
    out_ << fmt::format("loop orders of one memory\n  {} differ in reuse ({} without halo reuse), of {}\n",
                        text(json["count"]), text(json["without_halo_reuse"]), text(json["all_orders"]));
    return 0;
  }

  int ruby_table() {
    const std::string name = *arguments_.text("table");
    if (name != "ruby") throw arguments_.bad("--table", fmt::format("unknown table `{}`", name), "ruby");
    static constexpr std::array<Count, 5> kSizes{3, 64, 100, 1000, 4096};
    static constexpr std::array kRules{Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                       Factorization::kRuby};
    struct Section {
      const char *key, *title;
      BigCount (*count)(Count, Factorization);
    };
    static constexpr std::array<Section, 3> kSections{
        {{"as_published", "as the paper's generator lists them, repeats included (pfm, ruby-s: 9 PEs)",
          ruby_table_as_published},
         {"distinct", "each mapping once (pfm, ruby-s: 9 PEs; ruby-t, ruby: any spatial factor)", ruby_table_distinct},
         {"distinct_within_pes", "each mapping once, all on 9 PEs", ruby_table_distinct_within_pes}}};
    ordered_json json;
    json["schema"] = kJsonSchema;
    json["what"] = "ruby-table-1";
    json["sizes"] = kSizes;
    for (const Section& section : kSections) {
      if (!as_json()) {
        out_ << section.title << "\n" << fmt::format("  {:<8}", "D");
        for (const Count size : kSizes) out_ << fmt::format("{:>8}", size);
        out_ << "\n";
      }
      for (const Factorization rule : kRules) {
        std::vector<std::string> row;
        for (const Count size : kSizes) row.push_back(section.count(size, rule).str());
        json[section.key][std::string(to_string(rule))] = row;
        if (as_json()) continue;
        out_ << fmt::format("  {:<8}", to_string(rule));
        for (const std::string& count : row) out_ << fmt::format("{:>8}", count);
        out_ << "\n";
      }
    }
    return as_json() ? finish(json) : 0;
  }

  CountedMapSpace space_;
};

}  // namespace

int answer_count(const Arguments& arguments, Face& face) { return CountAnswer(arguments, face).run(); }

}  // namespace pliant
