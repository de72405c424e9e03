// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include "core/flexibility_class.h"
#include "core/input/accelerator_tree.h"
#include "core/input/cursor.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/input/write.h"
#include "dse/results/content_hash.h"
#include "dse/sweep/axis_values.h"
#include "dse/sweep/sweep.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 15> kSweep{
    "pliant",    "name",   "description", "accelerator",    "set",  "workloads", "vary", "flexibility", "factorization",
    "objective", "mapper", "constraints", "budget_seconds", "seed", "flexion"};
constexpr std::array<std::string_view, 3> kWorkload{"workload", "layers", "name"};
constexpr std::array<std::string_view, 2> kMapper{"name", "options"};
/// Names a constraint may use besides axes, parameters and levels.
constexpr std::array<std::string_view, 4> kDerived{"area_um2", "compute_units", "buffer_bits", "buffer_bytes"};
/// What a constraint may ask of a level: LEVEL.capacity is in words.
constexpr std::array<std::string_view, 7> kLevelNumbers{"capacity", "capacity_bits", "capacity_bytes", "rows",
                                                        "cols",     "units",         "instances"};

/// `*` stands for any characters.
bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t skip = star; skip <= text.size(); ++skip)
    if (matches(rest, text.substr(skip))) return true;
  return false;
}

class SweepReader {
 public:
  SweepReader(const Library& library, std::string_view text, std::string_view file, const SweepOverrides& overrides)
      : library_(library), overrides_(overrides), folder_(fs::path(file).parent_path()), file_(file) {
    tree_ = parse_yaml(text, file, problems_);
  }

  Sweep read() {
    const Cursor root(tree_, "", problems_);
    if (!root.only_keys(kSweep, "a sweep: a map with accelerator, workloads and what varies")) problems_.throw_if_any();
    check_kind(root, "sweep");
    sweep_.name = fs::path(file_).stem().string();
    if (const auto c = root.find("name")) sweep_.name = c->name().value_or("");
    if (const auto c = root.find("description")) sweep_.description = c->text().value_or("");
    if (const auto c = root.find("set")) settings(*c);
    for (const Setting& setting : overrides_.settings) sweep_.settings.push_back(setting);
    if (const auto c = root.require("accelerator", "a shipped name or a file")) accelerator(*c);
    if (const auto c = root.require("workloads", "a list of shipped names or files")) workloads(*c);
    if (const auto c = root.find("vary")) vary(*c);
    flexibilities(root.find("flexibility"));
    factorizations(root.find("factorization"));
    objectives(root.find("objective"));
    mapper(root.find("mapper"));
    if (const auto c = root.find("budget_seconds")) sweep_.budget_seconds = c->real().value_or(0);
    if (overrides_.budget_seconds) sweep_.budget_seconds = *overrides_.budget_seconds;
    if (const auto c = root.find("seed")) sweep_.seed = static_cast<std::uint64_t>(c->count(0).value_or(1));
    if (overrides_.seed) sweep_.seed = *overrides_.seed;
    if (const auto c = root.find("flexion")) sweep_.flexion = c->flag().value_or(true);
    if (const auto c = root.find("constraints")) constraints(*c);
    count_designs(root);
    problems_.throw_if_any();
    technologies();
    note_sweep();
    return std::move(sweep_);
  }

 private:
  /// A file beside the sweep, else what the library finds.
  std::string beside(const std::string& name) const {
    std::error_code error;
    const fs::path own = folder_ / name;
    return fs::is_regular_file(own, error) ? own.string() : name;
  }

  void note_input(std::string what, const std::string& name, const std::string& content) {
    sweep_.inputs.push_back({std::move(what), fs::path(name).filename().string(), sha256(content)});
  }

  /// What another reader found, told where the sweep names it; problems inside another file keep their own place.
  void relay(const Cursor& at, const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      if (d.line > 0) {
        problems_.add(d);
      } else {
        at.problem(d.what, d.expected, d.did_you_mean);
      }
    }
  }

  void settings(const Cursor& block) {
    if (!block.expect_map("a map of keys as in --set")) return;
    const std::vector<Cursor> entries = block.entries();
    for (std::size_t i = 0; i < entries.size(); ++i)
      sweep_.settings.emplace_back(block.entry(i).key, flow_text(entries[i].node()));
    set_block_ = block;
  }

  void accelerator(const Cursor& c) {
    const auto name = c.text("a shipped name or a file");
    if (!name) return;
    sweep_.accelerator = beside(*name);
    try {
      template_.emplace(library_, sweep_.accelerator);
      base_ = template_->with(sweep_.settings);
      for (const YamlEntry& entry : template_->parameters(sweep_.settings).entries)
        sweep_.parameters[entry.key] = flow_text(entry.value);
      note_input("accelerator", *name, write_accelerator(*base_));
    } catch (const InputError& error) {
      relay_settings(c, error);
    }
  }

  /// A bad `set:` is told at its own line.
  void relay_settings(const Cursor& c, const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      if (set_block_ && d.file.starts_with("--set ")) {
        const std::string key = d.file.substr(6, d.file.find('=') - 6);
        if (const auto own = set_block_->find(key)) {
          own->problem(d.what, d.expected, d.did_you_mean);
          continue;
        }
      }
      if (d.line > 0 || d.file.starts_with("--set ")) {
        problems_.add(d);
      } else {
        c.problem(d.what, d.expected, d.did_you_mean);
      }
    }
  }

  void workloads(const Cursor& c) {
    std::vector<Cursor> items;
    if (c.node().is_sequence()) {
      items = c.items();
    } else {
      items = {c};
    }
    if (items.empty()) c.problem("no workloads", "at least one");
    std::set<std::string> names;
    for (const Cursor& item : items) {
      const auto workload = read_workload(item);
      if (!workload) continue;
      if (!names.insert(workload->name).second)
        item.problem(fmt::format("a second workload named {}", workload->name), "a name of its own: {workload, name}");
      note_input("workload", workload->name, write_workload(*workload));
      sweep_.workloads.push_back(*workload);
    }
  }

  std::optional<Workload> read_workload(const Cursor& item) {
    if (item.node().is_scalar()) return find_workload(item);
    if (!item.only_keys(kWorkload, "a name, or {workload: NAME, layers: [...]}")) return std::nullopt;
    const auto named = item.find("workload");
    const auto layers = item.find("layers");
    if (!named && !layers) return item.require("workload", "a shipped name or a file"), std::nullopt;
    std::optional<Workload> workload = named ? find_workload(*named) : Workload{"layers", "", {}};
    if (!workload) return std::nullopt;
    if (layers && !choose_layers(*layers, named.has_value(), *workload)) return std::nullopt;
    if (const auto name = item.find("name")) workload->name = name->name().value_or("");
    return workload;
  }

  std::optional<Workload> find_workload(const Cursor& c) {
    const auto name = c.text("a shipped name or a file");
    if (!name) return std::nullopt;
    try {
      return load_workload(library_, beside(*name));
    } catch (const InputError& error) {
      relay(c, error);
      return std::nullopt;
    }
  }

  /// Names or patterns of the workload's layers, in its order; without a workload, layers written in place.
  bool choose_layers(const Cursor& list, bool from_workload, Workload& workload) {
    if (!list.expect_list("a list of layers")) return false;
    std::set<std::size_t> chosen;
    std::vector<Workload::Entry> written;
    for (const Cursor& item : list.items()) {
      const auto text = item.text("a layer's name, a pattern such as conv2*, or a layer in place");
      if (!text) return false;
      if (!from_workload) {
        try {
          Layer layer = parse_layer(*text, file_);
          layer.name = fmt::format("layer{}", written.size() + 1);
          written.push_back({std::move(layer), 1});
        } catch (const InputError& error) {
          for (const Diagnostic& d : error.diagnostics()) item.problem(d.what, d.expected, d.did_you_mean);
          return false;
        }
        continue;
      }
      const std::size_t before = chosen.size();
      std::vector<std::string> names;
      bool found = false;
      for (std::size_t i = 0; i < workload.layers.size(); ++i) {
        names.push_back(workload.layers[i].layer.name);
        if (!matches(*text, names.back())) continue;
        chosen.insert(i);
        found = true;
      }
      if (!found && chosen.size() == before) {
        item.problem(fmt::format("{} has no layer `{}`", workload.name, shorten(*text, 40)),
                     "a layer's name or pattern", nearest(*text, names));
        return false;
      }
    }
    if (from_workload)
      for (const std::size_t i : chosen) written.push_back(workload.layers[i]);
    if (written.empty()) return list.problem("no layers", "at least one"), false;
    workload.layers = std::move(written);
    return true;
  }

  void vary(const Cursor& c) {
    if (c.node().is_map()) return vary_map(c);
    if (!c.expect_list("a map of keys with values, or a list of such maps")) return;
    for (const Cursor& item : c.items())
      if (item.expect_map("a map of keys with values")) vary_map(item);
  }

  void vary_map(const Cursor& map) {
    const std::vector<Cursor> entries = map.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto axis = read_axis(entries[i], map.entry(i).key);
      if (!axis) continue;
      bool good = true;
      for (const std::string& key : axis->keys) {
        if (keys_.insert(key).second) continue;
        entries[i].problem(fmt::format("`{}` varies twice", shorten(key, 40)), "each key once");
        good = false;
      }
      if (good && base_) good = check_values(entries[i], *axis);
      if (good) add_axis(*axis);
    }
  }

  /// Tries every value once, the other keys as in the file. Only what is wrong with the setting itself is a problem of
  /// the sweep; a value that some designs cannot have makes rows that say so.
  bool check_values(const Cursor& at, const SweepAxis& axis) {
    constexpr std::size_t kTried = 200;
    const std::size_t stride = std::max<std::size_t>(1, axis.values.size() / kTried);
    for (std::size_t v = 0; v < axis.values.size(); v += stride) {
      std::vector<Setting> all = sweep_.settings;
      for (std::size_t k = 0; k < axis.keys.size(); ++k) all.emplace_back(axis.keys[k], axis.values[v][k]);
      try {
        template_->with(all);
      } catch (const InputError& error) {
        for (const Diagnostic& d : error.diagnostics()) {
          if (!d.file.starts_with("--set ")) continue;
          at.problem(fmt::format("{}: {}", d.file.substr(6), d.what), d.expected, d.did_you_mean);
          return false;
        }
      }
    }
    return true;
  }

  void add_axis(const SweepAxis& axis) {
    std::vector<std::vector<AxisValue>> cells(axis.values.size(), std::vector<AxisValue>(axis.keys.size()));
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      AxisColumn column{axis.keys[k], "set_" + axis.keys[k], AxisColumn::Kind::kText};
      std::ranges::replace_if(
          column.column, [](char c) { return c == '.' || c == '-'; }, '_');
      const auto fill = [&](AxisColumn::Kind kind, auto parse) {
        for (std::size_t v = 0; v < axis.values.size(); ++v) {
          const auto value = parse(axis.values[v][k]);
          if (!value) return false;
          cells[v][k] = *value;
        }
        column.kind = kind;
        return true;
      };
      const auto integer = [](const std::string& text) -> std::optional<std::int64_t> {
        const auto parsed = parse_count(text);
        return std::holds_alternative<Count>(parsed) ? std::optional(std::get<Count>(parsed)) : std::nullopt;
      };
      const auto real = [](const std::string& text) -> std::optional<double> {
        const auto parsed = parse_real(text);
        return std::holds_alternative<double>(parsed) ? std::optional(std::get<double>(parsed)) : std::nullopt;
      };
      const int word_bits = capacity_word_bits(axis.keys[k]);
      const auto words = [&](const std::string& text) -> std::optional<std::int64_t> {
        const auto parsed = parse_words(text, word_bits);
        return std::holds_alternative<Count>(parsed) ? std::optional(std::get<Count>(parsed)) : std::nullopt;
      };
      if (word_bits > 0 && fill(AxisColumn::Kind::kInteger, words)) {
        column.column += "_words";
      } else if (!fill(AxisColumn::Kind::kInteger, integer) && !fill(AxisColumn::Kind::kReal, real)) {
        fill(AxisColumn::Kind::kText, [](const std::string& text) { return std::optional(text); });
      }
      sweep_.columns.push_back(std::move(column));
    }
    sweep_.axes.push_back(axis);
    sweep_.cells.push_back(std::move(cells));
  }

  /// Bits of a word when the key is a memory's capacity, else 0.
  int capacity_word_bits(const std::string& key) const {
    if (!base_ || !key.ends_with(".capacity")) return 0;
    const int level = base_->find_level(key.substr(0, key.size() - 9));
    if (level < 0 || !base_->levels[static_cast<std::size_t>(level)].is_memory()) return 0;
    return base_->levels[static_cast<std::size_t>(level)].memory().word_bits;
  }

  static std::vector<Cursor> one_or_list(const Cursor& c) {
    return c.node().is_sequence() ? c.items() : std::vector<Cursor>{c};
  }

  void flexibilities(const std::optional<Cursor>& c) {
    if (!c) {
      sweep_.flexibilities = {"own"};
      return;
    }
    if (c->node().is_sequence() && c->items().empty()) c->problem("no flexibility", "at least one");
    for (const Cursor& item : one_or_list(*c)) {
      const auto text = item.text("own, all-16, all-16-partial, a class, a shipped name or a file");
      if (!text) continue;
      const bool all = *text == "all-16", partial = *text == "all-16-partial";
      if (!all && !partial) {
        add_flexibility(item, *text);
        continue;
      }
      for (unsigned bits = 0; bits < 16; ++bits) {
        // The least flexible first; T is the leftmost bit. PartFlex-0000 and FullFlex-0000 are the same design.
        if (!add_flexibility(item, fmt::format("{}-{:04b}", partial ? "PartFlex" : "FullFlex", bits))) break;
      }
    }
  }

  bool add_flexibility(const Cursor& item, const std::string& text) {
    if (std::ranges::find(sweep_.flexibilities, text) != sweep_.flexibilities.end()) {
      item.problem(fmt::format("{} is there twice", shorten(text, 60)), "each flexibility once");
      return false;
    }
    std::string resolved = text;
    if (text != "own" && base_) {
      if (!looks_like_class(text)) resolved = beside(text);
      try {
        const Accelerator changed = choose_flexibility(library_, resolved, *base_);
        if (!looks_like_class(text)) note_input("flexibility", text, write_flexibility(changed));
      } catch (const InputError& error) {
        relay(item, error);
        return false;
      }
    }
    sweep_.flexibilities.push_back(std::move(resolved));
    return true;
  }

  void factorizations(const std::optional<Cursor>& c) {
    static constexpr std::array<std::string_view, 5> kRules{"pfm", "ruby-s", "ruby-t", "ruby", "padding"};
    if (!c) {
      sweep_.factorizations = {Factorization::kPerfect};
      return;
    }
    for (const Cursor& item : one_or_list(*c)) {
      const auto rule = item.choice(kRules);
      if (!rule) continue;
      const Factorization value = *parse_factorization(kRules[*rule]);
      if (std::ranges::find(sweep_.factorizations, value) != sweep_.factorizations.end()) {
        item.problem("it is there twice", "each rule once");
      } else {
        sweep_.factorizations.push_back(value);
      }
    }
    if (c->node().is_sequence() && c->items().empty()) c->problem("no factorization", "at least one");
  }

  void objectives(const std::optional<Cursor>& c) {
    if (!c) {
      sweep_.objectives = {Objective::kEdp};
      return;
    }
    const std::vector<std::string_view> names(objective_names().begin(), objective_names().end());
    for (const Cursor& item : one_or_list(*c)) {
      const auto found = item.choice(names);
      if (!found) continue;
      const Objective value = *parse_objective(names[*found]);
      if (std::ranges::find(sweep_.objectives, value) != sweep_.objectives.end()) {
        item.problem("it is there twice", "each objective once");
      } else {
        sweep_.objectives.push_back(value);
      }
    }
    if (c->node().is_sequence() && c->items().empty()) c->problem("no objective", "at least one");
  }

  void mapper(const std::optional<Cursor>& c) {
    const std::vector<std::string_view> names(mapper_names().begin(), mapper_names().end());
    sweep_.mapper = std::ranges::find(names, "exact") != names.end() ? "exact" : std::string(names.front());
    if (c && c->node().is_map() && c->only_keys(kMapper)) {
      if (const auto name = c->require("name", "a mapper")) read_mapper_name(*name, names);
      if (const auto options = c->find("options"); options && options->expect_map("a map of the mapper's options")) {
        const std::vector<Cursor> entries = options->entries();
        for (std::size_t i = 0; i < entries.size(); ++i)
          if (const auto text = entries[i].text("a number"))
            sweep_.mapper_options.emplace_back(options->entry(i).key, *text);
      }
    } else if (c && !c->node().is_map()) {
      read_mapper_name(*c, names);
    }
    if (!overrides_.mapper) return;
    sweep_.mapper = *overrides_.mapper;
    if (std::ranges::find(names, sweep_.mapper) == names.end())
      throw InputError(Diagnostic{"--mapper", 0, 0, "", fmt::format("unknown mapper `{}`", sweep_.mapper),
                                  "one of " + join(names), nearest(sweep_.mapper, mapper_names())});
  }

  void read_mapper_name(const Cursor& c, Keys names) {
    if (const auto found = c.choice(names)) sweep_.mapper = names[*found];
  }

  void constraints(const Cursor& c) {
    for (const Cursor& item : one_or_list(c)) {
      const auto text = item.text("a comparison such as rows*cols <= 256");
      if (!text) continue;
      auto parsed = Constraint::parse(*text);
      if (const auto* what = std::get_if<std::string>(&parsed)) {
        item.problem(*what, "a comparison such as rows*cols <= 256 or area_um2 <= 2e6");
        continue;
      }
      const Constraint& constraint = std::get<Constraint>(parsed);
      bool good = true;
      for (const std::string& name : constraint.names()) good = check_name(item, name) && good;
      if (good) sweep_.constraints.push_back(constraint);
    }
  }

  bool check_name(const Cursor& at, const std::string& name) {
    if (!base_ || keys_.contains(name) || sweep_.parameters.contains(name) ||
        std::ranges::find(kDerived, std::string_view(name)) != kDerived.end())
      return true;
    std::vector<std::string> known(keys_.begin(), keys_.end());
    for (const auto& [parameter, value] : sweep_.parameters)
      if (!keys_.contains(parameter)) known.push_back(parameter);
    known.insert(known.end(), kDerived.begin(), kDerived.end());
    for (const Level& level : base_->levels) {
      for (const std::string_view number : kLevelNumbers) {
        const bool of_memory = number.starts_with("capacity");
        const bool of_fanout = number == "rows" || number == "cols" || number == "units";
        if ((of_memory && !level.is_memory()) || (of_fanout && !level.is_fanout())) continue;
        known.push_back(fmt::format("{}.{}", level.name, number));
      }
    }
    if (std::ranges::find(known, name) != known.end()) return true;
    at.problem(fmt::format("nothing is named `{}`", shorten(name, 40)), "one of " + join(known), nearest(name, known));
    return false;
  }

  void count_designs(const Cursor& root) {
    Count total = 1;
    const auto times = [&](std::size_t n) {
      const auto product = checked_multiply(total, static_cast<Count>(std::max<std::size_t>(n, 1)));
      total = product && *product <= kMost ? *product : kMost + 1;
    };
    for (const SweepAxis& axis : sweep_.axes) times(axis.values.size());
    times(sweep_.flexibilities.size());
    times(sweep_.factorizations.size());
    times(sweep_.objectives.size());
    if (total > kMost) root.problem("more than 100 million designs", "fewer values, or several sweeps");
  }

  void technologies() {
    std::set<std::string> names;
    for (const Level& level : base_->levels)
      if (level.is_memory() && !level.memory().technology.empty()) names.insert(level.memory().technology);
    for (const std::string& name : names) {
      const fs::path file = library_.configs() / "technology" / (name + ".yaml");
      std::error_code error;
      if (fs::is_regular_file(file, error)) note_input("technology", name, read_source(file));
    }
  }

  void note_sweep() {
    std::string text = fmt::format("{}\n", sweep_.name);
    for (const auto& [key, value] : sweep_.settings) text += fmt::format("set {}={}\n", key, value);
    for (const SweepAxis& axis : sweep_.axes) {
      text += fmt::format("axis {}\n", join(axis.keys, " "));
      for (const auto& values : axis.values) text += fmt::format("  {}\n", join(values, " | "));
    }
    for (const std::string& flexibility : sweep_.flexibilities)
      text += fmt::format("flexibility {}\n", fs::path(flexibility).filename().string());
    for (const Constraint& constraint : sweep_.constraints) text += fmt::format("constraint {}\n", constraint.text());
    for (const auto& [key, value] : sweep_.options()) text += fmt::format("{}={}\n", key, value);
    sweep_.inputs.insert(sweep_.inputs.begin(), {"sweep", fs::path(file_).filename().string(), sha256(text)});
  }

  static constexpr Count kMost = 100'000'000;

  const Library& library_;
  const SweepOverrides& overrides_;
  fs::path folder_;
  std::string file_;
  Problems problems_;
  YamlNode tree_;
  Sweep sweep_;
  std::optional<Cursor> set_block_;
  std::optional<AcceleratorTemplate> template_;
  std::optional<Accelerator> base_;
  std::set<std::string> keys_;  ///< that vary
};

}  // namespace

std::vector<std::pair<std::string, std::string>> Sweep::options() const {
  std::vector<std::string> rules, goals, extra;
  for (const Factorization rule : factorizations) rules.emplace_back(to_string(rule));
  for (const Objective objective : objectives) goals.emplace_back(to_string(objective));
  for (const auto& [key, value] : mapper_options) extra.push_back(fmt::format("{}={}", key, value));
  return {{"factorization", join(rules)},
          {"objective", join(goals)},
          {"mapper", mapper},
          {"mapper_options", join(extra)},
          {"budget_seconds", yaml_number(budget_seconds)},
          {"seed", fmt::format("{}", seed)},
          {"flexion", flexion ? "true" : "false"}};
}

Sweep load_sweep(const Library& library, const fs::path& file, const SweepOverrides& overrides) {
  return parse_sweep_text(library, read_source(file), file.string(), overrides);
}

Sweep parse_sweep_text(const Library& library, std::string_view text, std::string_view name,
                       const SweepOverrides& overrides) {
  return SweepReader(library, text, name, overrides).read();
}

}  // namespace pliant
