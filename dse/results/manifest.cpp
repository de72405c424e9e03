// SPDX-License-Identifier: Apache-2.0
#include "dse/results/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/enum_names.h"
#include "dse/results/atomic_file.h"
#include "dse/results/columns.h"
#include "dse/results/content_hash.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr std::array<std::string_view, 3> kKinds = {"integer", "real", "text"};

/// The SHA-256 of the rest of the manifest, written without spaces.
constexpr const char* kOwnSum = "manifest_sha256";

AxisColumn::Kind parse_kind(const std::string& text) {
  return enum_of<AxisColumn::Kind>(kKinds, text).value_or(AxisColumn::Kind::kText);
}

}  // namespace

fs::path manifest_path(const fs::path& dataset) { return dataset / "manifest.json"; }

void write_manifest(const fs::path& dataset, const Manifest& m) {
  ordered_json all;
  all["pliant"] = "dataset";
  all["schema"] = m.schema;
  all["sweep"] = m.sweep_name;
  all["sweep_sha256"] = m.sweep_sha256;
  all["start"] = m.start;
  all["end"] = m.end.empty() ? ordered_json() : ordered_json(m.end);
  all["designs"] = m.designs;
  all["designs_raw"] = m.designs_raw;
  all["designs_in_part"] = m.designs_in_part;
  all["parts"] = m.parts;
  all["layers_per_design"] = m.layers;
  all["seed"] = m.seed;
  for (const auto& [key, value] : m.options) all["options"][key] = value;
  all["axes"] = ordered_json::array();
  for (const AxisColumn& axis : m.axes) {
    all["axes"].push_back({{"key", axis.key}, {"column", axis.column}, {"kind", kKinds[static_cast<int>(axis.kind)]}});
    if (!axis.unit.empty()) all["axes"].back()["unit"] = axis.unit;
    const std::size_t a = all["axes"].size() - 1;
    if (a < m.axis_ends.size() && m.axis_ends[a])
      all["axes"].back().update({{"least", m.axis_ends[a]->first}, {"most", m.axis_ends[a]->second}});
  }
  all["inputs"] = ordered_json::array();
  for (const Manifest::Input& input : m.inputs)
    all["inputs"].push_back({{"what", input.what}, {"name", input.name}, {"sha256", input.sha256}});
  all["hosts"] = m.hosts;
  all["versions"]["pliant"] = m.pliant_version;
  all["versions"]["compiler"] = m.compiler;
  for (const Manifest::Library& library : m.libraries) all["versions"][library.name] = library.version;
  all[kOwnSum] = sha256(all.dump());
  write_atomically(manifest_path(dataset), all.dump(2) + "\n");
}

std::optional<Manifest> read_manifest(const fs::path& dataset) {
  const fs::path file = manifest_path(dataset);
  if (!is_there(file)) return std::nullopt;
  try {
    ordered_json all = ordered_json::parse(file_bytes(file));
    if (all.contains(kOwnSum)) {
      const std::string sum = all.at(kOwnSum).get<std::string>();
      all.erase(kOwnSum);
      if (sha256(all.dump()) != sum)
        throw StorageError(
            fmt::format("{}: damaged: the rest of it has another SHA-256 than its {}", file.string(), kOwnSum));
    }
    Manifest m;
    if (all.at("pliant") == "dataset") m.schema = all.at("schema").get<int>();
    if (all.at("pliant") != "dataset" || !schema_is_read(m.schema))
      throw StorageError(fmt::format("{}: not of a dataset that this version of Pliant reads", file.string()));
    m.sweep_name = all.at("sweep").get<std::string>();
    m.sweep_sha256 = all.at("sweep_sha256").get<std::string>();
    m.start = all.at("start").get<std::string>();
    m.end = all.at("end").is_null() ? "" : all.at("end").get<std::string>();
    m.designs = all.at("designs").get<std::int64_t>();
    m.designs_raw = all.at("designs_raw").get<std::int64_t>();
    m.designs_in_part = all.at("designs_in_part").get<std::int64_t>();
    m.parts = all.at("parts").get<std::int64_t>();
    m.layers = all.at("layers_per_design").get<std::int64_t>();
    m.seed = all.at("seed").get<std::uint64_t>();
    if (all.contains("options"))
      for (const auto& [key, value] : all.at("options").items()) m.options.emplace_back(key, value.get<std::string>());
    for (const auto& axis : all.at("axes")) {
      m.axes.push_back({axis.at("key").get<std::string>(), axis.at("column").get<std::string>(),
                        parse_kind(axis.at("kind").get<std::string>()), axis.value("unit", "")});
      m.axis_ends.emplace_back();
      if (axis.contains("least") && axis.contains("most"))
        m.axis_ends.back() = {axis.at("least").get<double>(), axis.at("most").get<double>()};
    }
    for (const auto& input : all.at("inputs"))
      m.inputs.push_back({input.at("what").get<std::string>(), input.at("name").get<std::string>(),
                          input.at("sha256").get<std::string>()});
    if (all.contains("hosts")) m.hosts = all.at("hosts").get<std::vector<std::string>>();
    for (const auto& [name, value] : all.at("versions").items()) {
      if (name == "pliant") {
        m.pliant_version = value.get<std::string>();
      } else if (name == "compiler") {
        m.compiler = value.get<std::string>();
      } else {
        m.libraries.push_back({name, value.get<std::string>()});
      }
    }
    return m;
  } catch (const ordered_json::exception& problem) {
    throw StorageError(fmt::format("{}: damaged: {}", file.string(), problem.what()));
  }
}

void require_newest(const fs::path& dataset, const Manifest& manifest) {
  if (manifest.schema == kTableSchema) return;
  throw StorageError(
      fmt::format("{}: is of schema {}, of an earlier version of Pliant; query and pareto read it, and "
                  "pliant sweep --update computes it again",
                  manifest_path(dataset).string(), manifest.schema));
}

std::string changed_inputs(const Manifest& before, const Manifest& now) {
  std::vector<std::string> changes;
  const auto find = [](const Manifest& m, const Manifest::Input& wanted) {
    return std::ranges::find_if(
        m.inputs, [&](const Manifest::Input& i) { return i.what == wanted.what && i.name == wanted.name; });
  };
  for (const Manifest::Input& input : now.inputs) {
    const auto old = find(before, input);
    if (old == before.inputs.end()) {
      changes.push_back(fmt::format("{} {} is new", input.what, input.name));
    } else if (old->sha256 != input.sha256) {
      changes.push_back(fmt::format("{} {} has changed", input.what, input.name));
    }
  }
  for (const Manifest::Input& old : before.inputs)
    if (find(now, old) == now.inputs.end()) changes.push_back(fmt::format("{} {} is gone", old.what, old.name));
  if (before.pliant_version != now.pliant_version)
    changes.push_back(fmt::format("Pliant {} wrote it, this is {}", before.pliant_version, now.pliant_version));
  if (changes.empty()) changes.emplace_back("how rows are laid out has changed");
  return fmt::format("{}", fmt::join(changes, "; "));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("unknown");
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace pliant
