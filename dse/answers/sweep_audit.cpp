// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/sweep_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "dse/answers/map_audit.h"
#include "dse/combinations/combinations.h"
#include "dse/results/manifest.h"

namespace pliant {
namespace {

std::optional<double> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool number = error == std::errc() && end == text.data() + text.size();
  return number && percent > 0 && percent <= 100 ? std::optional(percent / 100) : std::nullopt;
}

void note_in_manifest(const std::filesystem::path& dataset, const std::string& what) {
  std::optional<Manifest> manifest = read_manifest(dataset);
  if (!manifest) return;
  std::erase_if(manifest->options, [](const auto& option) { return option.first == kAuditedOption; });
  manifest->options.emplace_back(kAuditedOption, what);
  write_manifest(dataset, *manifest);
}

}  // namespace

std::string SweepAudit::verdict() const {
  if (!rows.good()) return "wrong";
  return rows.not_proven > 0 || rows.networks_solved > 0 ? "undecided" : "audited";
}

int SweepAudit::exit_code() const {
  if (rows.interrupted) return 130;
  return !rows.good() ? 1 : verdict() == "audited" ? 0 : kAuditUndecided;
}

std::string SweepAudit::proven_again() const {
  const std::string whole = rows.networks_proven > 0 ? fmt::format(" and {} networks", rows.networks_proven) : "";
  return fmt::format("{} of {} rows{} proven again", rows.proven, rows.expected_layer_rows, whole);
}

std::string SweepAudit::text() const {
  std::string text;
  for (const std::string& what : rows.wrong) text += "WRONG      " + what + "\n";
  if (rows.networks_solved > 0)
    text += fmt::format(
        "UNDECIDED  {} networks were solved again and agree; they have no certificate (docs/combinations.md)\n",
        rows.networks_solved);
  if (rows.not_proven > 0) text += fmt::format("UNDECIDED  {} claims\n", rows.not_proven);
  return text + fmt::format("{}: {} layer rows priced again, {} in {:.3g} s\n", verdict(), rows.layer_rows,
                            proven_again(), seconds);
}

nlohmann::ordered_json SweepAudit::json() const {
  return {{"verdict", verdict()},
          {"layer_rows", rows.layer_rows},
          {"layer_rows_expected", rows.expected_layer_rows},
          {"proven_again", rows.proven},
          {"not_proven_again", rows.not_proven},
          {"networks_proven_again", rows.networks_proven},
          {"networks_solved_again", rows.networks_solved},
          {"seconds", seconds},
          {"differences", rows.wrong_count},
          {"first_differences", rows.wrong}};
}

std::optional<double> audited_share(const Arguments& arguments, const Sweep& sweep, const Shard& shard) {
  if (!arguments.has("audit")) return std::nullopt;
  const std::string text = *arguments.text("audit");
  const auto share = parse_percent(text);
  if (!share)
    throw arguments.bad("--audit", fmt::format("`{}`", text), "a share of the rows, above 0% and at most 100%");
  if (shard.count > 1)
    throw arguments.bad("--audit", "of one shard, where the tables are not complete",
                        "pliant verify DIR --prove N after the last shard");
  check_works(arguments.command(), Traits{Trait::kSweep, Trait::kCertificate}.add(TraitGroup::kMappers, sweep.mapper),
              "--audit");
  return share;
}

SweepAudit audit_sweep(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset, double share,
                       int threads, const std::stop_token& stop) {
  const std::optional<Manifest> manifest = read_manifest(dataset);
  DatasetProofs proofs;
  if (manifest && share < 1)
    proofs.rows = static_cast<std::int64_t>(
        std::ceil(share * static_cast<double>(manifest->designs) * static_cast<double>(manifest->layers)));
  else
    proofs.rows = std::nullopt;
  proofs.options.threads = threads;
  proofs.options.stop = stop;
  const double start = real_clock().wall_seconds();
  SweepAudit audit{verify_dataset(library, sweep, dataset, proofs), 0};
  audit.seconds = real_clock().wall_seconds() - start;
  if (!audit.rows.interrupted) note_in_manifest(dataset, fmt::format("{}: {}", audit.verdict(), audit.proven_again()));
  return audit;
}

}  // namespace pliant
