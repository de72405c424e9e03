// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/templates/named_values.h"
#include "dse/import/timeloop/document.h"

namespace pliant::timeloop {
namespace {

/// "DRAM[1..16]" -> ("DRAM", 16).
std::pair<std::string, Count> split_instances(const Cursor& cursor, const std::string& text) {
  const std::size_t open = text.find('['), dots = text.find("..");
  if (open == std::string::npos || dots == std::string::npos || text.back() != ']') return {text, 1};
  const auto last = parse_count(std::string_view(text).substr(dots + 2, text.size() - dots - 3));
  const auto first = parse_count(std::string_view(text).substr(open + 1, dots - open - 1));
  const Count* to = std::get_if<Count>(&last);
  const Count* from = std::get_if<Count>(&first);
  if (to == nullptr || from == nullptr || *from < 0 || *to < *from || *to >= (Count{1} << 40)) {
    cursor.problem(fmt::format("`{}` is not a list of instances", shorten(text, 40)), "NAME[1..COUNT]");
    return {text.substr(0, open), 1};
  }
  return {text.substr(0, open), *to - *from + 1};
}

Variables read_attributes(const Cursor& component) {
  Variables attributes;
  const auto found = component.find("attributes");
  if (!found || !found->node().is_map()) return attributes;
  for (const YamlEntry& entry : found->node().entries) {
    if (entry.value.is_scalar()) attributes[entry.key] = entry.value.text;
  }
  return attributes;
}

/// Expressions become numbers; what is neither a number nor such an expression stays text.
void evaluate_attributes(Variables& attributes, const Variables& inherited) {
  Variables names = attributes;
  names.insert(inherited.begin(), inherited.end());
  NamedValues values(std::move(names));
  for (auto& [name, text] : attributes) {
    const auto number = parse_real(text);
    if (std::holds_alternative<double>(number)) continue;
    try {
      const Worth worth = values.evaluate(text);
      if (worth.kind == Worth::Kind::kNumber) text = worth.shown();
    } catch (const ExpressionError&) {
      // Text such as a class of DRAM; whoever needs a number says so.
    }
  }
}

bool is_network_class(std::string_view type) { return type.find("dummy") != std::string_view::npos; }

Component read_component(const Cursor& node, const std::string& name) {
  Component component;
  component.name = import_name(name, "level");
  component.at = node.node().at;
  if (const auto type = node.find("class")) component.type = type->text("a class").value_or("");
  component.attributes = read_attributes(node);
  component.is_network = is_network_class(component.type);
  return component;
}

/// Expanded files: one list of components whose names and meshes count all instances of the machine.
class ExpandedReader {
 public:
  explicit ExpandedReader(Architecture& architecture) : architecture_(architecture) {}

  void read(const Cursor& tree) {
    for (const Cursor& branch : tree.items()) {
      if (!branch.expect_map("a subtree")) continue;
      if (architecture_.name.empty()) {
        if (const auto name = branch.find("name")) architecture_.name = import_name(name->node().text, "machine");
      }
      if (const auto local = branch.find("local")) {
        for (const Cursor& node : local->items()) add(node);
      }
      if (const auto below = branch.find("subtree")) read(*below);
    }
  }

 private:
  void add(const Cursor& node) {
    if (!node.expect_map("a component")) return;
    const auto name = node.require("name", "the component's name");
    if (!name) return;
    const auto [plain, instances] = split_instances(*name, name->text().value_or(""));
    Component component = read_component(node, plain);
    const Count x = mesh(node, "meshX").value_or(instances), y = mesh(node, "meshY").value_or(1);
    component.x = ratio(node, x, x_);
    component.y = ratio(node, y, y_);
    if (component.x * component.y != ratio(node, instances, instances_)) {
      node.problem(fmt::format("{} instances in a mesh of {} x {}", instances, x, y),
                   "as many instances as the mesh has");
    }
    x_ = x;
    y_ = y;
    instances_ = instances;
    architecture_.components.push_back(std::move(component));
  }

  static std::optional<Count> mesh(const Cursor& node, std::string_view key) {
    const auto attributes = node.find("attributes");
    const auto found = attributes && attributes->node().is_map() ? attributes->find(key) : std::nullopt;
    return found && !found->node().is_null() ? found->count(1, Count{1} << 20) : std::nullopt;
  }

  static Count ratio(const Cursor& node, Count inner, Count outer) {
    if (inner % outer == 0) return inner / outer;
    node.problem(fmt::format("{} instances under {}", inner, outer), "a multiple");
    return 1;
  }

  Architecture& architecture_;
  Count x_ = 1, y_ = 1, instances_ = 1;
};

/// Files as people write them: nested !Container, !Component and !Parallel, meshes relative to what is around.
class NestedReader {
 public:
  NestedReader(Architecture& architecture, const Variables& variables, ImportLog& log)
      : architecture_(architecture), inherited_(variables), log_(log) {}

  void read(const Cursor& nodes, bool parallel) {
    if (!nodes.expect_list("a list of nodes")) return;
    const std::size_t first = architecture_.components.size();
    for (const Cursor& node : nodes.items()) read_node(node);
    if (parallel) keep_apart(first);
  }

 private:
  void read_node(const Cursor& node) {
    const std::string& tag = node.node().tag;
    constexpr int kMostNodes = 200;
    if (++nodes_ == kMostNodes) node.problem("too many nodes", fmt::format("fewer than {}", kMostNodes));
    if (nodes_ >= kMostNodes || !node.expect_map("a component or container")) return;
    if (tag == "!Parallel" || tag == "!Hierarchical" || tag == "!Pipelined") {
      if (tag == "!Pipelined") log_.unsupported(node.node().at, node.path(), "a pipeline of components");
      if (const auto inner = node.require("nodes", "a list of nodes")) read(*inner, tag == "!Parallel");
      return;
    }
    if (tag == "!Nothing") return note_nothing(node);
    if (tag != "!Container" && tag != "!Component") {
      log_.unsupported(node.node().at, node.path(), fmt::format("a node `{}`", shorten(tag, 40)),
                       "!Component, !Container, !Parallel or !Hierarchical");
      return;
    }
    const std::string name = name_of(node);
    if (architecture_.name.empty() && tag == "!Container") architecture_.name = import_name(name, "machine");
    Variables own = read_attributes(node);
    evaluate_attributes(own, inherited_);
    const bool has_copies = add_copies(node, name, own);
    read_constraints(node, tag == "!Component" ? import_name(name, "level") : "", has_copies ? network_name(name) : "");
    if (tag == "!Component") {
      architecture_.components.push_back(read_component(node, name));
      architecture_.components.back().attributes = std::move(own);
    } else {
      // What a container says holds for everything that follows, unless that says otherwise.
      for (auto& [key, text] : own) inherited_.insert_or_assign(key, std::move(text));
    }
  }

  /// Beside other components: what it "keeps" passes by them all.
  void note_nothing(const Cursor& node) {
    const auto constraints = node.find("constraints");
    const auto spaces = constraints && constraints->node().is_map() ? constraints->find("dataspace") : std::nullopt;
    const auto keep = spaces && spaces->node().is_map() ? spaces->find("keep") : std::nullopt;
    if (keep) nothing_keeps_ = read_names(*keep, false);
  }

  static std::string name_of(const Cursor& node) {
    const auto name = node.require("name", "a name");
    return name ? name->text("a name").value_or("") : "";
  }
  static std::string network_name(const std::string& name) {
    return import_name(fmt::format("inter_{}_spatial", name), "spatial");
  }

  /// Copies of a container or component are a network level above it, named as Timeloop's front end names it.
  bool add_copies(const Cursor& node, const std::string& name, const Variables& own) {
    const auto spatial = node.find("spatial");
    if (!spatial || !spatial->node().is_map()) return false;
    const auto side = [&](const char* key) {
      const auto found = spatial->find(key);
      if (!found) return Count{1};
      Variables value{{key, found->node().text}};
      Variables names = own;
      names.insert(inherited_.begin(), inherited_.end());
      evaluate_attributes(value, names);
      YamlNode number = found->node();
      number.text = value.at(key);
      return Cursor(number, found->path(), log_.problems()).count(1, Count{1} << 20).value_or(1);
    };
    const Count x = side("meshX"), y = side("meshY");
    if (x * y == 1) return false;
    Component network;
    network.name = network_name(name);
    network.at = node.node().at;
    network.is_network = true;
    architecture_.components.push_back(network);
    // The copies belong to whatever comes next.
    pending_.push_back({architecture_.components.size(), x, y});
    return true;
  }

  void read_constraints(const Cursor& node, const std::string& component, const std::string& network) {
    const auto constraints = node.find("constraints");
    if (!constraints || constraints->node().is_null() || !constraints->expect_map("constraints")) return;
    for (std::size_t i = 0; i < constraints->node().entries.size(); ++i) {
      const std::string& key = constraints->entry(i).key;
      const Cursor entry = constraints->entries()[i];
      const bool spatial = key == "spatial";
      const bool known = spatial || key == "temporal" || key == "dataspace" || key == "bypass";
      const std::string& target = spatial ? network : component;
      if (!known || target.empty()) {
        log_.unsupported(entry.node().at, entry.path(), fmt::format("the constraint {}", shorten(key, 40)));
        continue;
      }
      // The same keys as in a list of constraints, with target and type given by the place.
      YamlNode directive = entry.node();
      directive.value_of("target", entry.node().at) = scalar(target, entry.node().at);
      directive.value_of("type", entry.node().at) = scalar(spatial             ? "spatial"
                                                           : key == "temporal" ? "temporal"
                                                                               : "bypass",
                                                           entry.node().at);
      const Cursor cursor(directive, entry.path(), log_.problems());
      if (auto read = read_directive(cursor, log_)) architecture_.constraints.push_back(std::move(*read));
    }
  }

  static YamlNode scalar(std::string text, const Position& at) {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.text = std::move(text);
    node.at = at;
    return node;
  }

  /// Components side by side: what one keeps, the others do not.
  void keep_apart(std::size_t first) {
    std::map<std::string, std::string> keeper;  // data space -> component
    for (const std::string& space : nothing_keeps_) keeper[space] = "";
    nothing_keeps_.clear();
    for (std::size_t i = first; i < architecture_.components.size(); ++i) {
      for (const Directive& d : architecture_.constraints) {
        if (d.target != architecture_.components[i].name || d.kind != Directive::Kind::kDataspace) continue;
        for (const std::string& space : d.keep) keeper[space] = d.target;
      }
    }
    for (Directive& d : architecture_.constraints) {
      if (d.kind != Directive::Kind::kDataspace) continue;
      const bool beside =
          std::any_of(architecture_.components.begin() + static_cast<std::ptrdiff_t>(first),
                      architecture_.components.end(), [&](const Component& c) { return c.name == d.target; });
      if (!beside) continue;
      for (const auto& [space, owner] : keeper) {
        if (owner != d.target && std::ranges::find(d.bypass, space) == d.bypass.end()) d.bypass.push_back(space);
      }
    }
  }

 public:
  /// Copies named by containers apply to the component that follows their network.
  void give_copies() {
    for (const auto& [index, x, y] : pending_) {
      if (index >= architecture_.components.size()) continue;
      architecture_.components[index].x *= x;
      architecture_.components[index].y *= y;
    }
  }

 private:
  struct Copies {
    std::size_t index;
    Count x, y;
  };
  Architecture& architecture_;
  Variables inherited_;  ///< of the variables and of the containers so far
  ImportLog& log_;
  std::vector<Copies> pending_;
  std::vector<std::string> nothing_keeps_;  ///< data spaces of a !Nothing in the group being read
  int nodes_ = 0;
};

/// The component that a table entry such as "system.PE[0..3].spad[1..16]" is about.
Component* find_component(const Cursor& entry, Architecture& architecture) {
  const auto name = entry.require("name", "a component's name");
  if (!name) return nullptr;
  std::string text = name->text().value_or("");
  text = text.substr(0, text.rfind('[') == std::string::npos ? text.size() : text.rfind('['));
  const std::size_t dot = text.rfind('.');
  if (dot != std::string::npos) text = text.substr(dot + 1);
  for (Component& component : architecture.components) {
    if (component.name == import_name(text, "")) return &component;
  }
  return nullptr;
}

}  // namespace

std::optional<Architecture> read_architecture(const Cursor& cursor, const Variables& variables, ImportLog& log) {
  Architecture architecture;
  if (!cursor.expect_map("an architecture")) return std::nullopt;
  if (const auto tree = cursor.find("subtree")) {
    ExpandedReader(architecture).read(*tree);
  } else if (const auto nodes = cursor.require("nodes", "a list of nodes, or an expanded subtree")) {
    NestedReader reader(architecture, variables, log);
    reader.read(*nodes, false);
    reader.give_copies();
  }
  if (architecture.name.empty()) architecture.name = "machine";
  auto& components = architecture.components;
  std::erase_if(components, [](const Component& c) { return c.name.empty(); });
  if (components.size() < 2 || components.front().is_network || components.back().is_network) {
    cursor.problem("no storage outside and no compute inside", "at least one storage and one compute component");
    return std::nullopt;
  }
  components.back().is_compute = true;
  return architecture;
}

void read_energies(const Cursor& table, Architecture& architecture, ImportLog& log) {
  const auto tables = table.find("tables");
  if (!tables) return;
  for (const Cursor& entry : tables->items()) {
    Component* component = entry.node().is_map() ? find_component(entry, architecture) : nullptr;
    if (component == nullptr) {
      log.choice(entry.node().at, entry.path(),
                 "energies of a component that the architecture does not have are not used");
      continue;
    }
    const auto actions = entry.find("actions");
    if (!actions) continue;
    for (const Cursor& action : actions->items()) {
      const auto name = action.node().is_map() ? action.find("name") : std::nullopt;
      const auto energy = action.node().is_map() ? action.find("energy") : std::nullopt;
      if (name && energy) component->energy_pj.emplace(name->node().text, energy->real().value_or(0));
    }
  }
}

void read_areas(const Cursor& table, Architecture& architecture, ImportLog&) {
  const auto tables = table.find("tables");
  if (!tables) return;
  for (const Cursor& entry : tables->items()) {
    Component* component = entry.node().is_map() ? find_component(entry, architecture) : nullptr;
    const auto area = entry.node().is_map() ? entry.find("area") : std::nullopt;
    if (component != nullptr && area) component->area_um2 = area->real();
  }
}

}  // namespace pliant::timeloop
