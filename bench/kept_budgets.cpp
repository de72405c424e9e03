// SPDX-License-Identifier: Apache-2.0
// How well searches keep a budget of one second: tasks on which every mapper could go on for long. For each the time on
// the wall, the processor time of the searching thread, and the longest processor time between two looks at the clock.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"

namespace {

using namespace pliant;

/// Remembers the longest time between two looks.
class WatchedClock final : public Clock {
 public:
  double wall_seconds() const override {
    const double now = real_clock().cpu_seconds();
    if (looks_++ > 0) longest_ = std::max(longest_, now - before_);
    before_ = now;
    return real_clock().wall_seconds();
  }
  double cpu_seconds() const override { return real_clock().cpu_seconds(); }
  double longest() const { return longest_; }
  long looks() const { return looks_; }

 private:
  mutable double before_ = 0, longest_ = 0;
  mutable long looks_ = 0;
};

struct Row {
  const char* mapper;
  const char* accelerator;
  std::string layer;
  Factorization factorization;
  std::vector<std::pair<std::string, std::string>> extra;
};

}  // namespace

int main() {
  const Library library("configs");
  const std::string conv = "conv:M=256,C=256,P=56,Q=56,R=5,S=5,B=32,stride=2,dilation=3";
  const std::string odd = "conv:M=250,C=250,P=55,Q=55,R=3,S=3,stride=2,B=8";
  const std::string gemm = "gemm:M=131072,N=5120,K=25600";
  const std::vector<Row> rows = {
      {"local", "simba", conv, Factorization::kPerfect, {{"effort", "1e12"}}},
      {"genetic", "simba", conv, Factorization::kPerfect, {{"generations", "1000000"}}},
      {"random", "simba", conv, Factorization::kPerfect, {{"victory", "1000000000"}}},
      {"exact", "flexref", odd, Factorization::kRuby, {}},
      {"exact", "goma_tpuv1", conv, Factorization::kRubyS, {}},
      {"exact", "goma_a100", gemm, Factorization::kRubyT, {}},
      {"exact", "goma_a100", gemm, Factorization::kPadding, {}},
  };
  fmt::print("{:8} {:12} {:9} {:>8} {:>8} {:>12} {:>9}\n", "mapper", "accelerator", "factors", "wall s", "CPU s",
             "between s", "looks");
  for (const Row& row : rows) {
    Task task;
    task.accelerator = load_accelerator(library, row.accelerator);
    task.layer = parse_layer(row.layer, "bench");
    task.flexibility = task.accelerator.flexibility_of(task.layer);
    task.factorization = row.factorization;
    const WatchedClock clock;
    SearchOptions options;
    options.clock = &clock;
    options.budget.seconds = 1;
    options.extra = row.extra;
    const double wall = real_clock().wall_seconds(), cpu = real_clock().cpu_seconds();
    make_mapper(row.mapper)->search(task, options);
    fmt::print("{:8} {:12} {:9} {:8.2f} {:8.2f} {:12.4f} {:9}\n", row.mapper, row.accelerator,
               to_string(row.factorization), real_clock().wall_seconds() - wall, real_clock().cpu_seconds() - cpu,
               clock.longest(), clock.looks());
  }
}
