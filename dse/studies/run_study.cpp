// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/run_study.h"

#include <sys/resource.h>

#include <chrono>

#include "dse/results/atomic_file.h"

namespace pliant {
namespace {

/// Of this process, and of those that it started and waited for.
double processor_seconds() {
  constexpr double kMicro = 1e-6;
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

}  // namespace

StudyRun run_study(const Library& library, const Study& study, const StudyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = processor_seconds();
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
  run.cpu_seconds = processor_seconds() - cpu_start;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace pliant
