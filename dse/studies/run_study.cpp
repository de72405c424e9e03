// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/run_study.h"

#include <chrono>

#include "dse/results/atomic_file.h"

namespace pliant {

StudyRun run_study(const Library& library, const Study& study, const StudyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<PublishedValue> published = load_published(library);
  const std::vector<Remark> remarks = load_remarks(library);
  const std::string name(study.name);
  const StudyContext context{library,         options.output / name, options.output / "cache", options.quick,
                             options.threads, options.stop,          options.on_progress,      options.sampled,
                             options.memory};
  make_folder(context.folder);
  const StudyResult result = study.run(context);
  StudyRun run;
  run.rows = compare(published, remarks, study.name, result.findings);
  const DataTable comparison = comparison_table(run.rows);
  write_table(comparison, options.output / (name + ".csv"));
  write_table(comparison, context.folder / "comparison.parquet");
  for (const auto& [table_name, table] : result.tables) write_table(table, context.folder / (table_name + ".parquet"));
  ChartOptions charts;
  charts.png = options.png;
  run.figures = write_charts(context.folder / "figures", result.charts, charts);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace pliant
