// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/accelerator.h"
#include "core/input/source_text.h"
#include "dse/import/accelforge/accelforge.h"
#include "dse/import/accelforge/component.h"
#include "dse/import/accelforge/spatial.h"
#include "dse/import/accelforge/tensor_set.h"
#include "dse/import/write_levels.h"

namespace pliant::accelforge {
namespace {

class ArchitectureReader {
 public:
  ArchitectureReader(const std::map<std::string, std::string>& variables, int word_bits, const std::string& name,
                     ImportLog& log)
      : context_(variables, word_bits, log), word_bits_(word_bits), log_(log) {
    accelerator_.name = name;
    accelerator_.description = "imported from AccelForge";
  }

  std::optional<ImportedText> read(const Cursor& arch) {
    if (!arch.expect_map("nodes")) return std::nullopt;
    const auto nodes = arch.require("nodes", "a list of nodes");
    if (!nodes || !nodes->expect_list("a list of nodes")) return std::nullopt;
    context_.find_clock(*nodes);
    for (const Cursor& node : nodes->items()) {
      if (log_.problems().full()) return std::nullopt;
      read_node(node);
    }
    if (!log_.problems().empty()) return std::nullopt;
    if (!has_compute_ || accelerator_.levels.empty() || !accelerator_.levels.front().is_memory()) {
      nodes->problem("no memory outside and no compute inside", "a !Memory first and a !Compute last");
      return std::nullopt;
    }
    if (accelerator_.levels.size() > kMaxLevels) {
      nodes->problem(fmt::format("{} levels", accelerator_.levels.size()), fmt::format("at most {}", kMaxLevels));
      return std::nullopt;
    }
    write_rules();
    log_.choice(nodes->node().at, "words", fmt::format("of {} bits", word_bits_));
    log_.choice(nodes->node().at, "Intermediates",
                "none: every einsum is mapped by itself, so all its tensors pass through the outermost memory");
    return write_imported_accelerator(accelerator_, unstated_, nodes->node().at, log_);
  }

 private:
  void read_node(const Cursor& node) {
    if (!node.expect_map("a node")) return;
    const std::string& tag = node.node().tag;
    if (tag != "!Memory" && tag != "!Container" && tag != "!Compute") {
      log_.unsupported(node.node().at, node.path(),
                       fmt::format("a node `{}`", shorten(tag.empty() ? "without a tag" : tag, 40)),
                       "!Memory, !Container or !Compute");
      return;
    }
    const auto label = node.require("name", "a name");
    const std::string name = names_(import_name(label ? label->text("a name").value_or("") : "", "level"));
    if (!context_.enabled(node)) {
      log_.choice(node.node().at, name, "not enabled for products of two tensors: left away");
      return;
    }
    if (has_compute_) return node.problem("a node after the compute", "the compute last");
    if (const auto spatial = node.find("spatial")) add_copies(*spatial, name);
    if (tag == "!Memory") {
      bool stated = true;
      Memory memory = context_.memory(node, name, stated);
      if (accelerator_.levels.empty()) memory.may_bypass = {};
      add({name, memory}, stated);
    } else if (tag == "!Compute") {
      bool stated = true;
      const Compute compute = context_.compute(node, stated);
      add({name, compute}, stated);
      has_compute_ = true;
    } else {
      context_.refuse_unknown_keys(node, {"name", "spatial", "enabled"});
    }
  }

  void add(Level level, bool stated) {
    if (!stated) unstated_.insert(static_cast<int>(accelerator_.levels.size()));
    accelerator_.levels.push_back(std::move(level));
  }

  /// Two sides are one array; more are arrays inside one another.
  void add_copies(const Cursor& spatial, const std::string& name) {
    if (spatial.node().is_null() || !spatial.expect_list("a list of sides")) return;
    std::vector<SpatialSide> sides;
    for (const Cursor& one : spatial.items()) {
      if (auto side = read_side(one, context_, log_)) sides.push_back(std::move(*side));
    }
    const bool array =
        sides.size() == 2 && sides[0].multicast == sides[1].multicast && sides[0].reduction == sides[1].reduction;
    const std::size_t step = array ? 2 : 1;
    for (std::size_t i = 0; i < sides.size(); i += step) {
      Fanout fanout;
      fanout.cols = sides[i].units;
      fanout.rows = array ? sides[i + 1].units : 1;
      fanout.multicast = sides[i].multicast;
      fanout.reduction = sides[i].reduction;
      rules_.push_back({static_cast<int>(accelerator_.levels.size()), sides[i].reused,
                        array ? sides[i + 1].reused : RoleSet{}, array});
      accelerator_.levels.push_back({names_(name + "_copies"), fanout});
    }
  }

  void write_rules() {
    accelerator_.flexibility.levels.resize(accelerator_.levels.size());
    const bool any = std::ranges::any_of(rules_, [](const Rule& one) { return one.cols != 0 || one.rows != 0; });
    if (!any) return;
    for (const Operation family : {Operation::kConv, Operation::kGemm, Operation::kDepthwise}) {
      Flexibility own = accelerator_.flexibility;
      for (const Rule& rule : rules_) {
        if (rule.cols == 0 && rule.rows == 0) continue;
        Assignment assignment{{}, dims_that_reuse(rule.cols, family)};
        if (rule.array) assignment.rows = dims_that_reuse(rule.rows, family);
        own.levels[static_cast<std::size_t>(rule.level)].parallel.assignments = {assignment};
      }
      accelerator_.flexibility_for[family] = std::move(own);
    }
  }

  struct Rule {
    int level = 0;
    RoleSet cols = 0, rows = 0;
    bool array = false;
  };

  ComponentContext context_;
  int word_bits_;
  ImportLog& log_;
  Accelerator accelerator_;
  std::vector<Rule> rules_;
  std::set<int> unstated_;
  UniqueNames names_;
  bool has_compute_ = false;
};

}  // namespace

std::optional<ImportedText> read_architecture(const Cursor& arch, const std::map<std::string, std::string>& variables,
                                              int word_bits, const std::string& name, ImportLog& log) {
  return ArchitectureReader(variables, word_bits, name, log).read(arch);
}

}  // namespace pliant::accelforge
