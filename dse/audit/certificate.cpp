// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/certificate.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/arithmetic.h"
#include "core/input/diagnostics.h"
#include "dse/audit/certificate_json.h"
#include "dse/audit/task_reader.h"

namespace pliant::audit {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kClosedBy = {"floor", "choice-bounds", "tables", "search", "left"};
constexpr int kSchema = 1;

std::vector<int> levels_of(const Accelerator& accelerator, bool fanouts) {
  std::vector<int> levels;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l)
    if (fanouts ? accelerator.levels[l].is_fanout() : accelerator.levels[l].is_memory())
      levels.push_back(static_cast<int>(l));
  return levels;
}

/// One object per fanout: the dims that are spread there.
json factors_json(const Task& task, const Factors& factors) {
  json all = json::array();
  const std::size_t dims = task.layer.dims.size();
  for (std::size_t f = 0; f * dims < factors.size(); ++f) {
    json spread = json::object();
    for (std::size_t d = 0; d < dims; ++d)
      if (factors[f * dims + d] > 1) spread[task.layer.dims[d].name] = factors[f * dims + d];
    all.push_back(std::move(spread));
  }
  return all;
}

/// One list per memory: the names of the tensors it keeps.
json kept_json(const Task& task, const Kept& kept) {
  json all = json::array();
  for (const TensorSet set : kept) {
    json names = json::array();
    for (std::size_t x = 0; x < task.layer.tensors.size(); ++x)
      if (set >> x & 1U) names.push_back(task.layer.tensors[x].name);
    all.push_back(std::move(names));
  }
  return all;
}

json part_json(const Task& task, const Part& part, std::map<Kept, std::size_t>& keeps) {
  json out{{"closed_by", to_string(part.closed_by)}, {"lower_bound", bound_json(part.lower_bound)}};
  if (part.choices) out["choices"] = *part.choices;
  if (part.scope == Part::Scope::kSlow) out["steps_at_least"] = part.least_steps;
  if (part.scope == Part::Scope::kRest) out["rest"] = true;
  if (part.scope != Part::Scope::kNamed) return out;
  json members = json::array();
  for (const Member& member : part.members) {
    const std::size_t kept = keeps.try_emplace(member.kept, keeps.size()).first->second;
    members.push_back({factors_json(task, member.unrolling), kept, bound_json(member.lower_bound)});
  }
  out["members"] = std::move(members);
  return out;
}

/// The file as JSON, with a diagnostic for everything that is not as it should be.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Certificate read(const Library& library, std::string_view text) {
    json root;
    try {
      root = json::parse(text);
    } catch (const json::parse_error& error) {
      throw wrong("", fmt::format("is no JSON: {}", error.what()));
    }
    if (!root.is_object() || root.value("pliant", "") != "certificate") throw wrong("pliant", "is not `certificate`");
    if (root.value("schema", 0) != kSchema) throw wrong("schema", fmt::format("is not {}", kSchema));
    try {
      return read_proof(root, read_task(library, root.at("task")));
    } catch (const json::exception& error) {
      throw wrong("", fmt::format("is not a certificate: {}", error.what()));
    }
  }

  Certificate read_proof(const json& root, Task task) {
    Certificate out;
    out.task = std::move(task);
    const json& claim = root.at("claim");
    out.value = bound_from(claim.at("value"));
    out.lower_bound = bound_from(claim.at("lower_bound"));
    out.certified = claim.at("certified").get<bool>();
    out.infeasible = claim.at("infeasible").get<bool>();
    if (claim.contains("mapping"))
      out.mapping = parse_mapping_text(claim.at("mapping").get<std::string>(), file_ + ": claim.mapping",
                                       out.task.layer, out.task.accelerator)
                        .mapping;
    for (const json& kept : root.at("keeps")) keeps_.push_back(read_kept(out.task, kept));
    for (const json& part : root.at("parts")) out.parts.push_back(read_part(out.task, part));
    return out;
  }

 private:
  InputError wrong(const std::string& key, const std::string& what) const {
    return InputError(Diagnostic{.file = file_,
                                 .key = key,
                                 .what = what,
                                 .expected = "what `pliant map --certificate` wrote",
                                 .did_you_mean = {}});
  }

  Task read_task(const Library& library, const json& in) const {
    Task task;
    task.layer = parse_layer_text(in.at("layer").get<std::string>(), file_ + ": task.layer");
    task.accelerator =
        parse_accelerator_text(library, in.at("accelerator").get<std::string>(), file_ + ": task.accelerator");
    task.flexibility = task.accelerator.flexibility_of(task.layer);
    compare_readings(in, task);
    const auto rule = parse_factorization(in.at("factorization").get<std::string>());
    const auto objective = parse_objective(in.at("objective").get<std::string>());
    if (!rule) throw wrong("task.factorization", "is unknown");
    if (!objective) throw wrong("task.objective", "is unknown");
    task.factorization = *rule;
    task.objective = *objective;
    if (in.contains("most_cycles")) task.most_cycles = in.at("most_cycles").get<double>();
    return task;
  }

  /// What core/input has read is what the auditor reads, too.
  void compare_readings(const json& in, const Task& task) const {
    const auto compare = [&](const std::string& key, const auto& own, const auto& other) {
      std::string what;
      try {
        what = difference(own(in.at(key).get<std::string>()), other);
      } catch (const std::exception& error) {
        throw wrong("task." + key, fmt::format("is not in the form of certificates: {}", error.what()));
      }
      if (!what.empty()) throw wrong("task." + key, fmt::format("is read in two ways: {}", what));
    };
    compare("layer", own_layer, task.layer);
    compare("accelerator", own_accelerator, task.accelerator);
  }

  Kept read_kept(const Task& task, const json& lists) const {
    Kept kept;
    for (const json& names : lists) {
      TensorSet set = 0;
      for (const json& name : names) {
        const int x = task.layer.find_tensor(name.get<std::string>());
        if (x < 0) throw wrong("keeps", fmt::format("the layer has no tensor `{}`", name.get<std::string>()));
        set |= TensorSet{1} << x;
      }
      kept.push_back(set);
    }
    if (kept.size() != levels_of(task.accelerator, false).size()) throw wrong("keeps", "not one list per memory");
    return kept;
  }

  Factors read_factors(const Task& task, const json& fanouts) const {
    const std::size_t dims = task.layer.dims.size();
    Factors factors(levels_of(task.accelerator, true).size() * dims, 1);
    if (fanouts.size() * dims != factors.size()) throw wrong("parts.members", "not one object per fanout");
    for (std::size_t f = 0; f < fanouts.size(); ++f)
      for (const auto& [name, factor] : fanouts[f].items()) {
        const int d = task.layer.find_dim(name);
        if (d < 0) throw wrong("parts.members", fmt::format("the layer has no dim `{}`", name));
        // Rows times columns may be more than the dim's size, where remainders are allowed. Whether the map-space has
        // such a choice is found out when the choices are counted again.
        const auto spread = factor.get<Count>();
        if (spread < 1) throw wrong("parts.members", fmt::format("dim `{}` is spread by {}", name, spread));
        factors[f * dims + static_cast<std::size_t>(d)] = spread;
      }
    return factors;
  }

  Part read_part(const Task& task, const json& in) const {
    Part part;
    const auto by = parse_closed_by(in.at("closed_by").get<std::string>());
    if (!by) throw wrong("parts.closed_by", "is unknown");
    part.closed_by = *by;
    part.lower_bound = bound_from(in.at("lower_bound"));
    if (in.contains("choices")) part.choices = in.at("choices").get<std::uint64_t>();
    if (in.contains("steps_at_least")) {
      part.scope = Part::Scope::kSlow;
      part.least_steps = in.at("steps_at_least").get<double>();
    } else if (in.contains("rest")) {
      part.scope = Part::Scope::kRest;
    } else {
      for (const json& member : in.at("members")) {
        const auto kept = member.at(1).get<std::size_t>();
        if (kept >= keeps_.size()) throw wrong("parts.members", "names a way to keep that is not listed");
        part.members.push_back({read_factors(task, member.at(0)), keeps_[kept], bound_from(member.at(2))});
      }
    }
    return part;
  }

  std::string file_;
  std::vector<Kept> keeps_;
};

}  // namespace

std::string_view to_string(ClosedBy by) { return kClosedBy[static_cast<std::size_t>(by)]; }

std::optional<ClosedBy> parse_closed_by(std::string_view text) {
  for (std::size_t i = 0; i < kClosedBy.size(); ++i)
    if (kClosedBy[i] == text) return static_cast<ClosedBy>(i);
  return std::nullopt;
}

double least_steps(const Task& task, const Factors& unrolling) {
  const std::size_t dims = task.layer.dims.size();
  double steps = task.accelerator.levels.back().compute().cycles_per_mac;
  for (std::size_t d = 0; d < dims; ++d) {
    Count spread = 1;
    for (std::size_t f = 0; f * dims < unrolling.size(); ++f) spread *= unrolling[f * dims + d];
    const Count size = task.layer.dims[d].size;
    steps *= static_cast<double>(ceil_div(size, spread));
  }
  return steps;
}

json bound_json(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double bound_from(const json& value) { return value.is_null() ? kInfinity : value.get<double>(); }

Accelerator without_classes(Accelerator accelerator) {
  accelerator.flexibility.name.clear();
  for (auto& [operation, rules] : accelerator.flexibility_for) rules.name.clear();
  accelerator.fusion.clear();  // a layer passes nothing on
  accelerator.baseline = {};
  accelerator.partial.clear();
  return accelerator;
}

json proof_json(const Certificate& certificate) {
  const Task& task = certificate.task;
  json claim{{"value", bound_json(certificate.value)},
             {"lower_bound", bound_json(certificate.lower_bound)},
             {"certified", certificate.certified},
             {"infeasible", certificate.infeasible}};
  if (certificate.mapping)
    claim["mapping"] = write_mapping(task.layer, task.accelerator, *certificate.mapping, task.factorization);
  std::map<Kept, std::size_t> keeps;
  json parts = json::array();
  for (const Part& part : certificate.parts) parts.push_back(part_json(task, part, keeps));
  std::vector<json> listed(keeps.size());
  for (const auto& [kept, at] : keeps) listed[at] = kept_json(task, kept);
  return {{"claim", std::move(claim)}, {"keeps", std::move(listed)}, {"parts", std::move(parts)}};
}

std::string write_certificate(const Certificate& certificate) {
  const Task& task = certificate.task;
  Accelerator accelerator = without_classes(task.accelerator);
  accelerator.flexibility = task.flexibility;
  accelerator.flexibility.name.clear();
  accelerator.flexibility_for.clear();
  json about{{"layer", write_layer(task.layer)},
             {"accelerator", write_accelerator(accelerator)},
             {"factorization", to_string(task.factorization)},
             {"objective", to_string(task.objective)}};
  if (std::isfinite(task.most_cycles)) about["most_cycles"] = task.most_cycles;
  const json proof = proof_json(certificate);
  std::string parts;
  for (const json& part : proof.at("parts")) parts += (parts.empty() ? "\n    " : ",\n    ") + part.dump();
  return fmt::format(
      "{{\n  \"pliant\": \"certificate\",\n  \"schema\": {},\n  \"task\": {},\n  \"claim\": {},\n  \"keeps\": {},\n"
      "  \"parts\": [{}\n  ]\n}}\n",
      kSchema, about.dump(), proof.at("claim").dump(), proof.at("keeps").dump(), parts);
}

Certificate read_proof(const json& proof, Task task, const std::string& file) {
  return Reader(file).read_proof(proof, std::move(task));
}

Certificate read_certificate(const Library& library, std::string_view text, const std::string& file) {
  return Reader(file).read(library, text);
}

}  // namespace pliant::audit
