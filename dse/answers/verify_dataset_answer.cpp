// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/verify_dataset_answer.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "dse/answers/dataset_sweep.h"
#include "dse/answers/face.h"
#include "dse/answers/json_schema.h"
#include "dse/design/run_design.h"
#include "dse/design/verify_design.h"
#include "dse/results/atomic_file.h"
#include "dse/results/manifest.h"
#include "dse/sweep/verify_dataset.h"

namespace pliant {
namespace {

/// Designs of closed boxes that are mapped when all rows are to be proven.
constexpr std::int64_t kDesignSamples = 1000;

std::optional<std::int64_t> rows_to_prove(const Arguments& arguments) {
  const std::string word = *arguments.text("prove");
  if (word == "all") return std::nullopt;
  std::int64_t rows = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), rows);
  if (error != std::errc() || end != word.data() + word.size() || rows < 0)
    throw arguments.bad("--prove", fmt::format("`{}`", word), "a number of rows, or all");
  return rows;
}

}  // namespace

int answer_verify_dataset(const std::filesystem::path& dataset, const Arguments& arguments, ProofOptions proof,
                          Face& face) {
  const Library& library = face.library;
  std::optional<Manifest> manifest;
  try {
    manifest = read_manifest(dataset);
    if (manifest) require_newest(dataset, *manifest);
  } catch (const StorageError& error) {
    face.err << error.what() << "\n";
    return 1;
  }
  if (!manifest)
    throw arguments.bad("", fmt::format("{} is not a dataset", dataset.string()), "a folder that `pliant sweep` wrote");
  const Sweep sweep = sweep_of_dataset(library, *manifest, arguments);

  DatasetProofs proofs;
  proofs.rows = rows_to_prove(arguments);
  const Interrupt interrupt(face, "", 3);
  proofs.options = std::move(proof);
  proofs.options.stop = interrupt.token();
  proofs.on_progress = [&](std::int64_t checked, std::int64_t rows) {
    face.working([&] { return fmt::format("{} of {} rows checked", checked, rows); });
  };
  DesignVerdict design;
  const bool of_design = design_gap(*manifest).has_value();
  if (of_design) {
    design = verify_design(library, sweep, dataset, proofs, proofs.rows.value_or(kDesignSamples));
  } else {
    design.rows = verify_dataset(library, sweep, dataset, proofs);
  }
  DatasetVerdict& verdict = design.rows;
  verdict.wrong_count += static_cast<std::int64_t>(design.wrong.size());
  verdict.wrong.insert(verdict.wrong.end(), design.wrong.begin(), design.wrong.end());
  face.clear();

  std::ostream& out = face.out;
  if (arguments.has("json")) {
    nlohmann::ordered_json all = {{"schema", kJsonSchema},
                                  {"dataset", dataset.string()},
                                  {"verified", verdict.good()},
                                  {"interrupted", verdict.interrupted},
                                  {"layer_rows", verdict.layer_rows},
                                  {"layer_rows_expected", verdict.expected_layer_rows},
                                  {"design_rows", verdict.design_rows},
                                  {"proven_again", verdict.proven},
                                  {"not_proven_again", verdict.not_proven},
                                  {"networks_proven_again", verdict.networks_proven},
                                  {"networks_solved_again", verdict.networks_solved},
                                  {"differences", verdict.wrong_count},
                                  {"first_differences", verdict.wrong}};
    if (of_design)
      all.update({{"boxes", design.boxes}, {"designs", design.designs}, {"opened_again", design.opened_again}});
    out << all.dump(2) << "\n";
  } else {
    for (const std::string& what : verdict.wrong) out << "BAD  " << what << "\n";
    out << fmt::format("{}: {} of {} layer rows and {} design rows checked, {} claims proven again", sweep.name,
                       verdict.layer_rows, verdict.expected_layer_rows, verdict.design_rows, verdict.proven);
    if (verdict.not_proven > 0) out << fmt::format(", {} not within the budget", verdict.not_proven);
    if (verdict.networks_proven > 0) out << fmt::format("; {} networks proven again", verdict.networks_proven);
    if (verdict.networks_solved > 0)
      out << fmt::format("; {} networks solved again, for they have no certificate", verdict.networks_solved);
    if (of_design)
      out << fmt::format("; {} boxes hold {} designs, {} of them mapped again", design.boxes, design.designs,
                         design.opened_again);
    out << fmt::format("; {} differences{}\n", verdict.wrong_count, verdict.interrupted ? "; interrupted" : "");
  }
  return verdict.interrupted ? 130 : verdict.good() ? 0 : 1;
}

}  // namespace pliant
