// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/row_certificates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>

#include "core/arithmetic.h"
#include "dse/audit/certificate.h"
#include "dse/combinations/combinations.h"
#include "dse/mappers/mapper.h"
#include "dse/results/atomic_file.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {
namespace {

/// Sums are formed in the same order, so the same task gives the same value but for the digits that a file keeps.
constexpr double kSame = 1e-9;

std::string file_name(const LayerRowName& row, const Layer& layer) {
  std::string name = fmt::format("{}-{}-{}-{}", row.design_id, row.workload, row.layer_index, layer.name);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '_';
  return name + ".json";
}

class Writer {
 public:
  Writer(const Library& library, const Sweep& sweep, const RowCertificateOptions& options)
      : sweep_(std::make_shared<const Sweep>(sweep)), space_(library, sweep_), options_(options) {}

  /// Why there is no certificate; empty where one was written.
  std::string write(const LayerRowName& row, RowCertificates& all) {
    const auto workload = std::ranges::find(sweep_->workloads, row.workload, &Workload::name);
    if (workload == sweep_->workloads.end() || row.design_id < 0 || row.design_id >= space_.size() ||
        row.layer_index < 0 || row.layer_index >= static_cast<std::int64_t>(workload->layers.size()))
      return "the sweep has no such row";
    const DesignPoint design = space_.design(row.design_id);
    if (!design.accelerator) return "the design is not valid";
    if (design.accelerator->hints.min_utilization > 0) return refused({Trait::kHints, Trait::kCertificate})->what;
    const Layer& layer = workload->layers[static_cast<std::size_t>(row.layer_index)].layer;
    const Task task{layer, *design.accelerator, design.accelerator->flexibility_of(layer), design.factorization,
                    design.objective};
    SearchOptions search = search_options(*sweep_, options_.threads, options_.stop);
    search.record_parts = true;
    const SearchResult found = run_mapper(*mapper_, task, search);
    if (options_.stop.stop_requested()) return "stopped";
    const double value = found.mapping ? found.value : kInfinity, said = row.value.value_or(kInfinity);
    if (value != said && !(std::abs(value - said) <= kSame * said))
      return fmt::format("the row says {:.12g}, the search now {:.12g}", said, value);
    const std::filesystem::path file = options_.folder / file_name(row, layer);
    write_atomically(file, audit::write_certificate({task, found.mapping, value, found.lower_bound, found.certified,
                                                     found.infeasible, found.parts}));
    all.files.push_back(file);
    return "";
  }

 private:
  const std::shared_ptr<const Sweep> sweep_;
  DesignSpace space_;
  const RowCertificateOptions& options_;
  const std::unique_ptr<Mapper> mapper_ = make_mapper("exact");
};

}  // namespace

RowCertificates write_row_certificates(const Library& library, const Sweep& sweep,
                                       const std::vector<LayerRowName>& rows, const RowCertificateOptions& options) {
  RowCertificates all;
  make_folder(options.folder);
  Writer writer(library, sweep, options);
  for (std::size_t i = 0; i < rows.size() && !options.stop.stop_requested(); ++i) {
    const std::string why = writer.write(rows[i], all);
    if (!why.empty())
      all.left_out.push_back(
          fmt::format("design {}, {}, layer {}: {}", rows[i].design_id, rows[i].workload, rows[i].layer_index, why));
    if (options.on_progress) options.on_progress(i + 1);
  }
  return all;
}

}  // namespace pliant
