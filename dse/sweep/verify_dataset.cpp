// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/verify_dataset.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "dse/mappers/network_proof.h"
#include "dse/results/atomic_file.h"
#include "dse/results/data_table.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_layers.h"
#include "dse/sweep/network_rows.h"
#include "dse/sweep/network_task.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/serving_task.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {
namespace {

constexpr std::size_t kMostTold = 100;

/// What became of one part.
struct PartVerdict {
  std::int64_t layer_rows = 0, design_rows = 0, proven = 0, not_proven = 0, networks_proven = 0, networks_solved = 0,
               wrong_count = 0;
  std::vector<std::string> wrong;
  void tell(std::string what) {
    ++wrong_count;
    if (wrong.size() < kMostTold) wrong.push_back(std::move(what));
  }
};

class Verification {
 public:
  Verification(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
               const DatasetProofs& proofs, const DatasetScope* scope)
      : library_(library),
        sweep_(std::make_shared<const Sweep>(sweep)),
        dataset_(dataset),
        proofs_(proofs),
        scope_(scope) {
    const DesignSpace space(library, sweep_);
    layout_ = layout_of(sweep, space.size());
    if (scope != nullptr) {
      layout_.parts = static_cast<std::int64_t>(scope->designs_of_part.size());
      sweep_sha256_ = scope->sweep_sha256;
      return;
    }
    allowed_ = allowed_designs(library, sweep_, proofs.options.threads);
    designs_ = allowed_.empty() ? layout_.designs_raw
                                : static_cast<std::int64_t>(std::count(allowed_.begin(), allowed_.end(), true));
    const auto manifest = read_manifest(dataset);
    const std::string file = manifest_path(dataset).string();
    if (!manifest) throw refuse(file, "there is none", "a folder that `pliant sweep` wrote");
    sweep_sha256_ = manifest->sweep_sha256;
    if (make_manifest(sweep, layout_, designs_).sweep_sha256 != sweep_sha256_)
      throw refuse(file,
                   fmt::format("the dataset was not made from this sweep (its own is named {})", manifest->sweep_name),
                   "the sweep file, the --set options and the version of Pliant that it was made with");
  }

  DatasetVerdict run() {
    std::vector<PartVerdict> parts(static_cast<std::size_t>(layout_.parts));
    std::vector<std::int64_t> before(parts.size() + 1, 0);
    for (std::size_t p = 0; p < parts.size(); ++p)
      before[p + 1] =
          before[p] + static_cast<std::int64_t>(designs_of(static_cast<std::int64_t>(p)).size()) * layout_.layers;
    total_ = before.back();
    tbb::task_arena arena(std::max(1, proofs_.options.threads));
    arena.execute([&] {
      tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t p) {
        if (!proofs_.options.stop.stop_requested()) parts[p] = check_part_rows(static_cast<std::int64_t>(p), before[p]);
      });
    });
    DatasetVerdict verdict;
    verdict.expected_layer_rows = total_;
    verdict.interrupted = proofs_.options.stop.stop_requested();
    for (PartVerdict& part : parts) {
      verdict.layer_rows += part.layer_rows;
      verdict.design_rows += part.design_rows;
      verdict.proven += part.proven;
      verdict.not_proven += part.not_proven;
      verdict.networks_proven += part.networks_proven;
      verdict.networks_solved += part.networks_solved;
      verdict.wrong_count += part.wrong_count;
      for (std::string& what : part.wrong)
        if (verdict.wrong.size() < kMostTold) verdict.wrong.push_back(std::move(what));
    }
    return verdict;
  }

 private:
  static InputError refuse(const std::string& file, std::string what, std::string expected) {
    return InputError(Diagnostic{file, 0, 0, "", std::move(what), std::move(expected), ""});
  }

  std::int64_t first(std::int64_t part) const { return part * layout_.designs_in_part; }
  std::int64_t end(std::int64_t part) const { return std::min(layout_.designs_raw, first(part + 1)); }
  bool allowed(std::int64_t design) const { return allowed_.empty() || allowed_[static_cast<std::size_t>(design)]; }
  std::vector<std::int64_t> designs_of(std::int64_t part) const {
    if (scope_ != nullptr) return scope_->designs_of_part[static_cast<std::size_t>(part)];
    std::vector<std::int64_t> designs;
    for (std::int64_t i = first(part); i < end(part); ++i)
      if (allowed(i)) designs.push_back(i);
    return designs;
  }

  /// Is row r of all in the sample? Rows are taken evenly.
  bool sampled(std::int64_t row) const {
    if (!proofs_.rows || *proofs_.rows >= total_) return true;
    const auto before = [&](std::int64_t r) {
      return static_cast<std::int64_t>(static_cast<double>(r) * static_cast<double>(*proofs_.rows) /
                                       static_cast<double>(total_));
    };
    return before(row + 1) > before(row);
  }

  bool sampled_any(std::int64_t row, std::size_t count) const {
    bool any = false;
    for (std::size_t l = 0; l < count; ++l) any |= sampled(row + static_cast<std::int64_t>(l));
    return any;
  }

  /// A network with its tensors is proven as a whole: solved again, and the auditor checks the certificate of that.
  TaskResult proven_again(const DesignPoint& design, const Workload& workload, PartVerdict& verdict) const {
    const auto [network, certificate] =
        prove_network(*make_mapper(sweep_->mapper), *sweep_, design, workload, proofs_.options.stop);
    if (proofs_.options.stop.stop_requested()) return network;
    if (!certificate) {
      ++verdict.networks_solved;
      return network;
    }
    audit::AuditOptions options;
    options.enumerate = proofs_.options.limit;
    options.seconds = proofs_.options.seconds;
    options.stop = proofs_.options.stop;
    const audit::NetworkAuditReport report = audit_told(*certificate, network.lower_bound, options);
    if (proofs_.options.stop.stop_requested()) return network;
    for (const std::string& what : report.wrong)
      verdict.tell(fmt::format("design {}, {}: {}", design.key->design_id, workload.name, what));
    ++(report.clean() && certificate->certified == network.certified ? verdict.networks_proven : verdict.not_proven);
    return network;
  }

  PartVerdict check_part_rows(std::int64_t part, std::int64_t row) {
    PartVerdict verdict;
    const PartCheck files = check_part(dataset_, part, sweep_sha256_, true);
    if (files.state != PartState::kDone) {
      verdict.tell(files.what.empty() ? fmt::format("part {} is not complete: a file is missing", part) : files.what);
      return verdict;
    }
    std::vector<StoredLayer> stored;
    std::vector<std::string> damaged;
    DataTable sums;
    try {
      stored = read_stored_layers(part_path(dataset_, TableKind::kLayers, part));
      sums = read_table(part_path(dataset_, TableKind::kDesigns, part), TableKind::kDesigns, damaged);
    } catch (const StorageError& error) {
      damaged.emplace_back(error.what());
    }
    if (!damaged.empty()) {
      verdict.tell(damaged.front());
      return verdict;
    }
    DesignSpace space(library_, sweep_);
    std::size_t at = 0, sum_at = 0;
    for (const std::int64_t i : designs_of(part)) {
      const DesignPoint design = space.design(i);
      for (const Workload& workload : sweep_->workloads) {
        std::vector<LayerRow> rows;
        const bool solve_again =
            Sweep::asked_whole(workload) && design.accelerator && sampled_any(row, workload.layers.size());
        for (std::size_t l = 0; l < workload.layers.size(); ++l, ++at, ++row) {
          if (proofs_.options.stop.stop_requested()) return verdict;
          const std::string where =
              fmt::format("design {}, {}, layer {}", i, workload.name, workload.layers[l].layer.name);
          const bool there = at < stored.size() && stored[at].design_id == i && stored[at].workload == workload.name &&
                             stored[at].layer_index == static_cast<std::int64_t>(l);
          if (!there) {
            verdict.tell(where + ": the row is not where it belongs");
            return verdict;
          }
          rows.push_back(check_row(design, workload, l, stored[at], where, sampled(row), verdict));
          ++verdict.layer_rows;
        }
        std::shared_ptr<const TaskResult> network;
        if (solve_again) network = std::make_shared<const TaskResult>(proven_again(design, workload, verdict));
        if (proofs_.options.stop.stop_requested()) return verdict;
        check_sums(design, workload, rows, network, sums, sum_at++, verdict);
        if (network) check_staying(design, workload, network, stored.data() + (at - rows.size()), verdict);
      }
      progress(layout_.layers);
    }
    if (at != stored.size() || sum_at != sums.rows())
      verdict.tell(fmt::format("part {} has more rows than its designs need", part));
    return verdict;
  }

  /// Gives the row as the sums need it, from what is stored.
  LayerRow check_row(const DesignPoint& design, const Workload& workload, std::size_t index, const StoredLayer& stored,
                     const std::string& where, bool prove, PartVerdict& verdict) const {
    const Layer& layer = workload.layers[index].layer;
    LayerRow row{design.key,
                 workload.name,
                 static_cast<std::int32_t>(index),
                 stored.count,
                 std::make_shared<const Layer>(layer),
                 design.accelerator,
                 nullptr,
                 {}};
    TaskResult result;
    result.status = parse_task_status(stored.status).value_or(TaskStatus::kFailed);
    result.energy_pj = stored.energy_pj.value_or(0);
    result.runtime_cycles = stored.runtime_cycles.value_or(0);
    result.utilization = stored.utilization.value_or(0);
    result.certified = stored.certified;
    result.gap = stored.gap.value_or(0);
    row.result = std::make_shared<const TaskResult>(result);
    const auto tell = [&](const std::string& what) { verdict.tell(where + ": " + what); };

    if (stored.count != workload.layers[index].count) tell("its count differs");
    if ((result.status == TaskStatus::kInvalidDesign) != !design.accelerator)
      tell(fmt::format("its status is {}, but the design is {}", stored.status,
                       design.accelerator ? "valid" : "invalid"));
    const bool solved = result.status == TaskStatus::kSolved,
               nothing_fits = result.status == TaskStatus::kNoLegalMapping;
    if (!design.accelerator || (!solved && !nothing_fits)) return row;
    const Task task{layer, *design.accelerator, design.accelerator->flexibility_of(layer), design.factorization,
                    design.objective};
    Claim claim{{},           stored.energy_pj,   stored.runtime_cycles, stored.edp_pj_cycles, stored.utilization,
                stored.value, stored.lower_bound, stored.certified};
    if (solved) {
      claim.mapping = stored.mapping_of(layer, *design.accelerator);
      if (!claim.mapping) {
        tell("its mapping names levels, dims or tensors that are not there");
        return row;
      }
      if (!stored.energy_pj || !stored.runtime_cycles || !stored.value) tell("it is solved, but costs are missing");
    }
    const std::vector<std::string> wrong = check_claim(task, claim);
    for (const std::string& what : wrong) tell(what);
    if (solved && wrong.empty()) {
      result.energy_by_level = energy_of_levels(price(layer, *design.accelerator, *claim.mapping), *design.accelerator);
      row.result = std::make_shared<const TaskResult>(result);
    }
    if (!wrong.empty() || !prove) return row;
    ProofOptions one = proofs_.options;
    one.threads = 1;
    const Proof proof = prove_claim(task, claim, one);
    if (proofs_.options.stop.stop_requested()) return row;
    for (const std::string& what : proof.wrong) tell(what);
    ++(proof.outcome == Proof::Outcome::kNotProven ? verdict.not_proven : verdict.proven);
    return row;
  }

  /// What the rows of layers say of their network.
  static void check_staying(const DesignPoint& design, const Workload& workload,
                            const std::shared_ptr<const TaskResult>& network, const StoredLayer* stored,
                            PartVerdict& verdict) {
    std::vector<std::string> now(workload.layers.size());
    if (residency_of(design, workload, network)) now = staying_tensors(*design.accelerator, workload, *network);
    for (std::size_t l = 0; l < now.size(); ++l)
      if (stored[l].on_chip != now[l])
        verdict.tell(fmt::format("design {}, {}, layer {}: on_chip is {}, not {}", design.key->design_id, workload.name,
                                 stored[l].layer, now[l].empty() ? "empty" : now[l],
                                 stored[l].on_chip.empty() ? "empty" : stored[l].on_chip));
  }

  void check_sums(const DesignPoint& design, const Workload& workload, const std::vector<LayerRow>& rows,
                  const std::shared_ptr<const TaskResult>& network, const DataTable& sums, std::size_t at,
                  PartVerdict& verdict) const {
    const std::string where = fmt::format("design {}, {}", design.key->design_id, workload.name);
    if (at >= sums.rows()) return verdict.tell(where + ": no row of its sums");
    ++verdict.design_rows;
    const DesignRow now = summarize(design, workload, rows.data(), rows.size(), network);
    const auto compare = [&](const char* name, const std::optional<double>& value) {
      const DataColumn* column = sums.find(name);
      const Cell cell = column == nullptr ? Cell{} : column->cells[at];
      std::optional<double> then;
      if (const auto* real = std::get_if<double>(&cell)) then = *real;
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) then = static_cast<double>(*whole);
      const bool same = then.has_value() == value.has_value() &&
                        (!then || std::abs(*then - *value) <= 1e-9 * std::max(std::abs(*then), std::abs(*value)));
      if (!same)
        verdict.tell(fmt::format("{}: {} is {}, not {}", where, name, value ? fmt::format("{:.12g}", *value) : "empty",
                                 then ? fmt::format("{:.12g}", *then) : "empty"));
    };
    const auto of = [](const auto& held, auto get) {
      return held ? std::optional<double>(static_cast<double>(get(*held))) : std::nullopt;
    };
    compare("design_id", static_cast<double>(design.key->design_id));
    compare("macs", static_cast<double>(now.macs));
    compare("layers_without_mapping", now.layers_without_mapping);
    compare("area_um2", of(now.hardware, [](const auto& h) { return h.area_um2; }));
    compare("compute_units", of(now.hardware, [](const auto& h) { return h.compute_units; }));
    compare("buffer_bits", of(now.hardware, [](const auto& h) { return h.buffer_bits; }));
    if (Sweep::asked_whole(workload) && design.accelerator && !network) return;  // not in the sample
    const auto serving = solve_serving(*sweep_, design, workload, proofs_.options.stop);
    if (proofs_.options.stop.stop_requested()) return;
    for (const auto& [name, value] : serving_values(serving)) compare(name, value);
    compare("energy_pj", of(now.cost, [](const auto& c) { return c.energy_pj; }));
    compare("runtime_cycles", of(now.cost, [](const auto& c) { return c.runtime_cycles; }));
    compare("edp_pj_cycles", of(now.cost, [](const auto& c) { return c.edp_pj_cycles; }));
    compare("sum_layer_edp_pj_cycles", of(now.cost, [](const auto& c) { return c.sum_layer_edp_pj_cycles; }));
    compare("latency_s", of(now.in_time, [](const auto& t) { return t.physical.latency_s; }));
    compare("power_w", of(now.in_time, [](const auto& t) { return t.physical.power_w; }));
    compare("chip_power_w", of(now.in_time, [](const auto& t) { return t.power.chip_w; }));
    compare("off_chip_power_w", of(now.in_time, [](const auto& t) { return t.power.off_chip_w; }));
    compare("leakage_power_w", of(now.in_time, [](const auto& t) { return t.power.leakage_w; }));
    compare("tops_per_w", of(now.in_time, [](const auto& t) { return t.physical.tops_per_w; }));
    compare("inferences_per_s", of(now.in_time, [](const auto& t) { return t.inferences_per_s; }));
    compare("operators_energy_pj", of(now.residency, [](const auto& r) { return r.operators_energy_pj; }));
    compare("operators_runtime_cycles", of(now.residency, [](const auto& r) { return r.operators_runtime_cycles; }));
    compare("tensors_on_chip", of(now.residency, [](const auto& r) { return r.tensors_on_chip; }));
  }

  void progress(std::int64_t rows) {
    if (!proofs_.on_progress) return;
    const std::lock_guard lock(mutex_);
    checked_ += rows;
    proofs_.on_progress(checked_, total_);
  }

  const Library& library_;
  std::shared_ptr<const Sweep> sweep_;
  std::filesystem::path dataset_;
  const DatasetProofs& proofs_;
  const DatasetScope* scope_;
  std::string sweep_sha256_;
  SweepLayout layout_;
  std::vector<bool> allowed_;
  std::int64_t designs_ = 0, total_ = 0;
  std::mutex mutex_;  ///< guards checked_ and the report
  std::int64_t checked_ = 0;
};

}  // namespace

DatasetVerdict verify_dataset(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
                              const DatasetProofs& proofs, const DatasetScope* scope) {
  return Verification(library, sweep, dataset, proofs, scope).run();
}

}  // namespace pliant
