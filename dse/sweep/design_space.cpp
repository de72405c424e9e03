// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/design_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/arithmetic.h"
#include "core/flexibility_class.h"
#include "core/input/units.h"
#include "costmodel/area.h"
#include "dse/import/open.h"
#include "dse/sweep/deadline.h"

namespace pliant {
namespace {

/// Areas of one design that are summed in two ways differ by less, as a share.
constexpr double kRoundedArea = 1e-12;

std::optional<double> as_number(const std::string& text) {
  if (const auto count = parse_count(text); std::holds_alternative<Count>(count))
    return static_cast<double>(std::get<Count>(count));
  if (const auto real = parse_real(text); std::holds_alternative<double>(real)) return std::get<double>(real);
  if (const auto bytes = parse_bytes(text); std::holds_alternative<Count>(bytes))
    return static_cast<double>(std::get<Count>(bytes));
  return std::nullopt;
}

std::optional<double> level_number(const Accelerator& accelerator, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const int found = accelerator.find_level(name.substr(0, dot));
  if (found < 0) return std::nullopt;
  const Level& level = accelerator.levels[static_cast<std::size_t>(found)];
  const std::string what = name.substr(dot + 1);
  if (what == "instances") return static_cast<double>(accelerator.instances(found));
  if (level.is_memory() && level.memory().capacity_words) {
    const auto words = static_cast<double>(*level.memory().capacity_words);
    if (what == "capacity") return words;
    if (what == "capacity_bits") return words * level.memory().word_bits;
    if (what == "capacity_bytes") return words * level.memory().word_bits / 8;
  }
  if (level.is_fanout()) {
    if (what == "rows") return static_cast<double>(level.fanout().rows);
    if (what == "cols") return static_cast<double>(level.fanout().cols);
    if (what == "units") return static_cast<double>(level.fanout().units());
  }
  return std::nullopt;
}

std::string first_line(const InputError& error) {
  const Diagnostic& d = error.diagnostics().front();
  std::string text = d.key.empty() ? d.what : fmt::format("{}: {}", d.key, d.what);
  if (!d.expected.empty()) text += "; expected " + d.expected;
  return text;
}

}  // namespace

double buffer_bits(const Accelerator& accelerator) {
  double bits = 0;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    if (!level.is_memory() || !level.memory().capacity_words || level.memory().off_chip) continue;
    bits += static_cast<double>(*level.memory().capacity_words) * level.memory().word_bits *
            static_cast<double>(accelerator.instances(static_cast<int>(l)));
  }
  return bits;
}

DesignSpace::DesignSpace(const Library& library, std::shared_ptr<const Sweep> sweep,
                         std::shared_ptr<const HardwareSizes> sizes)
    : library_(library), sweep_(std::move(sweep)), sizes_(std::move(sizes)) {
  for (const std::string& accelerator : sweep_->accelerators)
    templates_.push_back(std::make_unique<AcceleratorTemplate>(open_accelerator_template(library, accelerator)));
  for (const SweepAxis& axis : sweep_->axes) hardware_ *= static_cast<std::int64_t>(axis.values.size());
  variants_ = static_cast<std::int64_t>(sweep_->factorizations.size() * sweep_->objectives.size());
  inner_ = static_cast<std::int64_t>(sweep_->flexibilities.size()) * variants_;
}

void DesignSpace::seek(std::int64_t hardware) {
  if (current_.number == hardware) return;
  current_ = Hardware{};
  current_.number = hardware;
  current_.positions = axis_positions(*sweep_, hardware);
  current_.settings = settings_at(*sweep_, current_.positions, current_.accelerator_index);
  for (std::size_t a = 0; a < sweep_->axes.size(); ++a)
    for (const AxisValue& cell : sweep_->cells[a][current_.positions[a]]) current_.cells.push_back(cell);
}

void DesignSpace::load() {
  if (current_.loaded) return;
  current_.loaded = true;
  ++readings_;
  try {
    current_.accelerator = templates_[current_.accelerator_index]->with(current_.settings);
  } catch (const InputError& error) {
    current_.problem = first_line(error);
  }
}

std::shared_ptr<const Accelerator> DesignSpace::flexible(std::size_t flexibility, std::string& problem) {
  const std::int64_t wanted = current_.number * static_cast<std::int64_t>(sweep_->flexibilities.size()) +
                              static_cast<std::int64_t>(flexibility);
  if (flexible_for_ != wanted) {
    flexible_for_ = wanted;
    flexible_.reset();
    flexible_problem_.clear();
    load();
    if (!current_.accelerator) {
      flexible_problem_ = current_.problem;
    } else {
      const std::string& name = sweep_->flexibilities[flexibility];
      try {
        flexible_ = std::make_shared<const Accelerator>(
            name == "own" ? *current_.accelerator : choose_flexibility(library_, name, *current_.accelerator));
      } catch (const InputError& error) {
        flexible_problem_ = first_line(error);
      }
    }
  }
  problem = flexible_problem_;
  return flexible_;
}

std::optional<double> DesignSpace::number(const std::string& name, const Accelerator* accelerator) const {
  if (accelerator != nullptr) {
    if (name == "area_um2") return area_um2(*accelerator).total();
    if (name == "compute_units") return static_cast<double>(accelerator->macs_units());
    if (name == "buffer_bits") return buffer_bits(*accelerator);
    if (name == "buffer_bytes") return buffer_bits(*accelerator) / 8;
    if (const auto found = level_number(*accelerator, name)) return found;
  }
  // Later settings win; a capacity means words only once the accelerator is known.
  for (auto it = current_.settings.rbegin(); it != current_.settings.rend(); ++it)
    if (it->first == name) return as_number(it->second);
  const auto& parameters = sweep_->parameters[current_.accelerator_index];
  const auto parameter = parameters.find(name);
  return parameter == parameters.end() ? std::nullopt : as_number(parameter->second);
}

const Accelerator* DesignSpace::sizes() {
  if (sizes_ && sizes_->find(current_.positions, sized_)) return &sized_.accelerator;
  ++readings_;
  sized_.known = false;
  try {
    sized_.accelerator = templates_[current_.accelerator_index]->sizes_with(current_.settings);
  } catch (const InputError&) {
    return nullptr;
  }
  return &sized_.accelerator;
}

std::optional<bool> DesignSpace::allowed_hardware() {
  // 1. By what varies alone, before anything is read.
  bool need_more = false;
  for (const Constraint& constraint : sweep_->constraints) {
    const auto holds = constraint.holds([&](const std::string& name) -> std::optional<double> {
      return name.find('.') == std::string::npos ? number(name, nullptr) : std::nullopt;
    });
    if (holds == false) return false;
    need_more = need_more || !holds;
  }
  if (!need_more) return true;
  // 2. By the sizes. Of all that a constraint may name, flexibility changes only the area, within known ends.
  const Accelerator* sized = sizes();
  if (sized == nullptr) return true;
  const double least = component_area_um2(*sized).total();
  const auto& flexibility = sized->flexibility_area_um2;
  const double most = (least + std::accumulate(flexibility.begin(), flexibility.end(), 0.0)) * (1 + kRoundedArea);
  bool flexibility_matters = false;
  for (const Constraint& constraint : sweep_->constraints) {
    const auto holds_with = [&](double area_of_design) {
      return constraint.holds([&](const std::string& name) {
        return name == "area_um2" ? std::optional(area_of_design) : number(name, sized);
      });
    };
    const bool names_area = std::ranges::find(constraint.names(), "area_um2") != constraint.names().end();
    const auto at_least = holds_with(least), at_most = names_area ? holds_with(most) : at_least;
    if (at_least != at_most || (names_area && !constraint.decided_by_ends("area_um2"))) {
      flexibility_matters = true;
    } else if (at_least == false) {
      return false;
    }
  }
  return flexibility_matters ? std::nullopt : std::optional(true);
}

bool DesignSpace::allowed(std::int64_t i) {
  if (sweep_->constraints.empty()) return true;
  seek(i / inner_);
  if (!current_.judged) {
    current_.allowed = allowed_hardware();
    current_.judged = true;
  }
  if (current_.allowed) return *current_.allowed;
  std::string problem;
  const auto accelerator = flexible(static_cast<std::size_t>(i % inner_ / variants_), problem);
  if (!accelerator) return true;
  return std::ranges::none_of(sweep_->constraints, [&](const Constraint& constraint) {
    return constraint.holds([&](const std::string& name) { return number(name, accelerator.get()); }) == false;
  });
}

std::optional<double> DesignSpace::value(std::int64_t i, const std::string& name) {
  seek(i / inner_);
  std::string problem;
  const auto accelerator = flexible(static_cast<std::size_t>(i % inner_ / variants_), problem);
  return number(name, accelerator.get());
}

std::vector<double> DesignSpace::deadlines(const Accelerator& accelerator) const {
  std::vector<double> all;
  const auto numbers = [&](const std::string& name) -> std::optional<Constraint::Interval> {
    const auto value = number(name, &accelerator);
    return value ? std::optional(Constraint::Interval(*value, *value)) : std::nullopt;
  };
  for (const Workload& workload : sweep_->workloads)
    all.push_back(most_cycles(sweep_->result_limits, workload, accelerator.clock_hz, numbers));
  return all;
}

double DesignPoint::deadline_of(const Sweep& sweep, const Workload& workload) const {
  if (deadlines.empty()) return kInfinity;
  const auto at = std::ranges::find(sweep.workloads, workload.name, &Workload::name) - sweep.workloads.begin();
  return deadlines[static_cast<std::size_t>(at)];
}

DesignPoint DesignSpace::design(std::int64_t i) {
  seek(i / inner_);
  const auto rest = static_cast<std::size_t>(i % inner_);
  const std::size_t flexibility = rest / static_cast<std::size_t>(variants_);
  const std::size_t variant = rest % static_cast<std::size_t>(variants_);
  DesignPoint design;
  design.factorization = sweep_->factorizations[variant / sweep_->objectives.size()];
  design.objective = sweep_->objectives[variant % sweep_->objectives.size()];
  design.accelerator = flexible(flexibility, design.problem);
  if (design.accelerator && sweep_->deadlines) design.deadlines = deadlines(*design.accelerator);
  DesignKey key;
  key.design_id = i;
  key.axes = current_.cells;
  const std::string& name = sweep_->flexibilities[flexibility];
  const auto wanted = looks_like_class(name) ? parse_flexibility_class(name) : std::nullopt;
  // A file's name, not its folder, which differs from machine to machine.
  key.flexibility = wanted ? wanted->name() : std::filesystem::path(name).stem().string();
  if (design.accelerator) {
    // A class is what was asked for, also where its baseline leaves a memory some choice; InFlex has no free axis.
    const bool inflexible = wanted && wanted->degree == FlexibilityClass::Degree::kInFlex;
    FlexibilityClass its = class_of(*design.accelerator, design.accelerator->flexibility);
    // Where tiles are asked for, a design that says nothing about them passes them.
    its.fusion |= sweep_->tiles && design.accelerator->fusion.empty();
    key.class_bits = inflexible ? FlexibilityClass{}.bits() : wanted ? wanted->bits() : its.bits();
  }
  key.factorization = to_string(design.factorization);
  key.objective = to_string(design.objective);
  key.mapper = sweep_->mapper;
  design.key = std::make_shared<const DesignKey>(std::move(key));
  return design;
}

}  // namespace pliant
