// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/run_sweep.h"

#include <fmt/format.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "core/arithmetic.h"
#include "dse/results/atomic_file.h"
#include "dse/results/part_file.h"
#include "dse/results/task_store.h"
#include "dse/results/thread_time.h"
#include "dse/sweep/dataset_lock.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/grace_timer.h"
#include "dse/sweep/network_rows.h"
#include "dse/sweep/network_task.h"
#include "dse/sweep/part_writer.h"
#include "dse/sweep/result_limits.h"
#include "dse/sweep/serving_task.h"
#include "dse/sweep/sweep_dataset.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

/// Tasks between naming and collecting, for each thread: a long task holds up the collecting of those after it.
constexpr std::size_t kTokensPerThread = 512;
/// Seconds between two reports of how far it is.
constexpr double kBetweenReports = 0.1;

/// A step of the outer loop on its way through the pipeline.
struct Token {
  enum class Kind { kLayer, kWorkloadEnd, kPartEnd };
  Kind kind = Kind::kLayer;
  std::int64_t part = 0;
  std::shared_ptr<const DesignPoint> design;
  const Workload* workload = nullptr;
  std::shared_ptr<const Layer> layer;
  std::int32_t layer_index = 0;
  std::int64_t count = 1;
  TaskKey key;
  enum class Source { kSolve, kStore, kEarlierToken } source = Source::kSolve;  ///< of the result
  std::shared_ptr<const Token> earlier;       ///< on its way with the same question; collected before this one
  bool asks = false;                          ///< layers, and networks whose tensors may stay on chip
  std::shared_ptr<const TaskResult> result;   ///< of what is asked, once known
  std::optional<DesignRow::Flexion> flexion;  ///< workload ends
  std::optional<DesignRow::Serving> serving;  ///< workload ends
  bool given_up = false;
};
using TokenPtr = std::shared_ptr<Token>;

class SweepRun {
 public:
  SweepRun(const Library& library, const Sweep& sweep, const SweepRunOptions& options)
      : library_(library),
        sweep_(std::make_shared<const Sweep>(sweep)),
        options_(options),
        space_(library, sweep_),
        namer_(*sweep_),
        layout_(layout_of(sweep, space_.size())),
        threads_(options.threads > 0 ? options.threads : usable_cores()),
        allowed_(allowed_designs(library, sweep_, threads_, options.on_phase, options.stop)),
        mapper_(make_mapper(sweep.mapper)),
        dataset_(options, make_manifest(sweep, layout_, count_all_designs()), threads_),
        best_(sweep),
        describer_(library, sweep_) {
    for (const Workload& workload : sweep_->workloads) {
      auto& own = layers_.emplace_back();
      for (const Workload::Entry& entry : workload.layers) own.push_back(std::make_shared<const Layer>(entry.layer));
    }
  }

  SweepOutcome run() {
    if (options_.stop.stop_requested()) {  // while the designs were counted: nothing is known of the dataset
      outcome_.interrupted = true;
      return outcome_;
    }
    if (count_all_designs() == 0) throw no_design_left(library_, sweep_);
    for (const fs::path& folder : part_folders(options_.dataset)) make_folder(folder);
    const DatasetLock lock(options_.dataset, fmt::format("shard-{}-of-{}", options_.shard.index, options_.shard.count),
                           DatasetLock::Mode::kRefuse);
    dataset_.open();
    dataset_.find_best(best_);
    SweepProgress& progress = outcome_.progress;
    progress.total = count_tasks(dataset_.owned());
    progress.parts = static_cast<std::int64_t>(dataset_.owned().size());
    progress.done = progress.total - count_tasks(dataset_.missing());
    progress.reused = progress.done;
    report(true);
    outcome_.already_done = dataset_.missing().empty();
    if (!outcome_.already_done) {
      dataset_.begin_writing();
      open_store();
      writer_.emplace(options_.dataset);
      solve_missing();
      writer_->finish();
      store_->flush();
      progress.parts_done = parts_done();
      outcome_.interrupted = options_.stop.stop_requested() && parts_done() < progress.parts;
      outcome_.logging_cpu_seconds = logging_ + store_->cpu_seconds() + writer_->cpu_seconds();
    }
    outcome_.dataset_complete = parts_done() == progress.parts && dataset_.close(!outcome_.already_done);
    // The other shards went on meanwhile.
    if (options_.shard.count > 1) dataset_.find_best(best_);
    report(true);
    return outcome_;
  }

 private:
  fs::path cache_folder() const { return options_.cache.empty() ? options_.dataset / "cache" : options_.cache; }

  void open_store() {
    const auto note = [&](const std::string& text) {
      if (options_.on_note) options_.on_note(text);
    };
    store_ = std::make_unique<TaskStore>(cache_folder(), true);
    if (store_->damaged() > 0)
      note(fmt::format("{} damaged records in the result cache are computed again", store_->damaged()));
    if (store_->other_formats() > 0)
      note(fmt::format("{}: {} files of another version of Pliant are not used; they can be deleted",
                       cache_folder().string(), store_->other_formats()));
  }

  std::int64_t parts_done() const {
    return static_cast<std::int64_t>(dataset_.owned().size() - dataset_.missing().size()) +
           (writer_ ? writer_->written() : 0);
  }

  bool allowed(std::int64_t design) const { return allowed_.empty() || allowed_[static_cast<std::size_t>(design)]; }

  std::int64_t first_design(std::int64_t part) const { return part * layout_.designs_in_part; }
  std::int64_t end_design(std::int64_t part) const {
    return std::min(layout_.designs_raw, (part + 1) * layout_.designs_in_part);
  }

  std::int64_t count_designs(std::int64_t part) const {
    if (allowed_.empty()) return end_design(part) - first_design(part);
    return std::count(allowed_.begin() + first_design(part), allowed_.begin() + end_design(part), true);
  }

  std::int64_t count_all_designs() const {
    return allowed_.empty() ? layout_.designs_raw
                            : static_cast<std::int64_t>(std::count(allowed_.begin(), allowed_.end(), true));
  }

  std::int64_t count_tasks(const std::vector<std::int64_t>& parts) const {
    std::int64_t designs = 0;
    for (const std::int64_t part : parts) designs += count_designs(part);
    return designs * layout_.layers;
  }

  void solve_missing() {
    // The pipeline of the outer loop:
    //   1. name the next task, in order;   2. solve it, all threads;   3. collect rows in order, hand over finished
    //   parts.
    const GraceTimer grace(options_.stop, options_.grace_seconds);
    const std::stop_token mappers = grace.mappers();
    tbb::task_arena arena(threads_);
    arena.execute([&] {
      tbb::parallel_pipeline(
          kTokensPerThread * static_cast<std::size_t>(threads_),
          tbb::make_filter<void, TokenPtr>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
            return next_token(flow);
          }) & tbb::make_filter<TokenPtr, TokenPtr>(tbb::filter_mode::parallel, [&](TokenPtr token) {
            return process(std::move(token), mappers);
          }) & tbb::make_filter<TokenPtr, void>(tbb::filter_mode::serial_in_order, [&](const TokenPtr& token) {
            collect(token);
          }));
    });
  }

  // Step 1. Where the naming stands: part, design, workload, layer.
  struct NextTask {
    std::size_t part = 0;  ///< in dataset_.missing()
    std::int64_t design = -1;
    std::size_t workload = 0, layer = 0;
    std::shared_ptr<const DesignPoint> current;
  };

  TokenPtr next_token(tbb::flow_control& flow) {
    if (options_.stop.stop_requested() || at_.part == dataset_.missing().size()) {
      flow.stop();
      return nullptr;
    }
    const std::int64_t part = dataset_.missing()[at_.part];
    auto token = std::make_shared<Token>();
    token->part = part;
    if (!at_.current) {
      if (at_.design < 0) at_.design = first_design(part);
      while (at_.design < end_design(part) && !allowed(at_.design)) ++at_.design;
      if (at_.design == end_design(part)) {
        token->kind = Token::Kind::kPartEnd;
        ++at_.part;
        at_.design = -1;
        return token;
      }
      at_.current = std::make_shared<const DesignPoint>(space_.design(at_.design));
      at_.workload = at_.layer = 0;
    }
    token->design = at_.current;
    token->workload = &sweep_->workloads[at_.workload];
    if (at_.layer < token->workload->layers.size()) {
      token->layer = layers_[at_.workload][at_.layer];
      token->layer_index = static_cast<std::int32_t>(at_.layer);
      token->count = token->workload->layers[at_.layer].count;
      name(token);
      ++at_.layer;
      return token;
    }
    token->kind = Token::Kind::kWorkloadEnd;
    name(token);
    at_.layer = 0;
    if (++at_.workload == sweep_->workloads.size()) {
      at_.current.reset();
      ++at_.design;
    }
    return token;
  }

  void name(const TokenPtr& token) {
    const bool is_layer = token->kind == Token::Kind::kLayer;
    if (!is_layer && (!Sweep::asked_whole(*token->workload) || !token->design->accelerator)) return;
    if (!token->design->accelerator) {
      TaskResult invalid;
      invalid.status = TaskStatus::kInvalidDesign;
      invalid.reason = token->design->problem;
      token->result = std::make_shared<const TaskResult>(std::move(invalid));
      token->source = Token::Source::kStore;  // nothing to solve
      return;
    }
    token->key = is_layer ? namer_.key(*token->design, *token->layer) : namer_.key(*token->design, *token->workload);
    token->asks = true;
    const std::lock_guard lock(mutex_);
    // A solved task is in the store before it leaves in_flight_: what is in neither is new.
    if (const auto same = in_flight_.find(token->key); same != in_flight_.end()) {
      token->source = Token::Source::kEarlierToken;
      token->earlier = same->second;
    } else if (store_->contains(token->key)) {
      token->source = Token::Source::kStore;
    } else {
      in_flight_.emplace(token->key, token);
    }
  }

  // Step 2.
  TokenPtr process(TokenPtr token, const std::stop_token& mappers) {
    if (token->kind == Token::Kind::kWorkloadEnd && sweep_->flexion && !options_.stop.stop_requested()) {
      token->flexion = design_flexion(*token->workload, *token->design);
    }
    if (token->kind == Token::Kind::kWorkloadEnd)
      token->serving = solve_serving(*sweep_, *token->design, *token->workload, options_.stop);
    if (!token->asks || token->result) return token;
    if (token->source == Token::Source::kEarlierToken) return token;
    if (token->source == Token::Source::kStore) {
      if (auto known = store_->get(token->key)) {
        token->result = std::make_shared<const TaskResult>(std::move(*known));
        return token;
      }
      token->source = Token::Source::kSolve;  // damaged since it was read
      store_->forget(token->key);
    }
    if (options_.stop.stop_requested()) {
      token->given_up = true;
      return token;
    }
    TaskResult result =
        token->kind == Token::Kind::kLayer
            ? solve_task(*mapper_, *sweep_, *token->design, *token->layer, kThreadsOfCaller, mappers, *options_.clock)
            : solve_network(*mapper_, *sweep_, *token->design, *token->workload, kThreadsOfCaller, mappers,
                            *options_.clock);
    // A search that was stopped has only an accident to show. Even if it has a proof: a part of it may have been cut
    // short, and then another one of equally good mappings was found, or after more of them.
    if (mappers.stop_requested()) {
      token->given_up = true;
      return token;
    }
    token->result = std::make_shared<const TaskResult>(std::move(result));
    if (token->result->status != TaskStatus::kFailed) store_->put(token->key, token->result);
    return token;
  }

  // Step 3. The layers of a workload wait for its end: right after a search neither code nor data of collecting is in
  // the caches, so that all together take little longer than one.
  void collect(const TokenPtr& token) {
    if (token->kind == Token::Kind::kPartEnd) return collect_part(token->part);  // waits for the writer, or nothing
    if (token->earlier) token->result = token->earlier->result;
    if (token->kind == Token::Kind::kLayer) {
      if (token->result) count_layer(*token);
      finished_.push_back(token);
      return;
    }
    const AddTime logging(logging_);
    for (const TokenPtr& layer : finished_) collect_layer(*layer);
    collect_workload(*token);
    for (LayerRow& row : workload_rows_) part_layers_.add(std::move(row));
    workload_rows_.clear();
    finished_.clear();
  }

  void count_layer(const Token& token) {
    ++(token.source == Token::Source::kSolve ? outcome_.progress.solved : outcome_.progress.reused);
    ++outcome_.progress.done;
    if (token.result->status != TaskStatus::kSolved) ++outcome_.progress.without_mapping;
    report(false);
  }

  void end_flight(const Token& token) {
    if (!token.asks || token.source != Token::Source::kSolve || token.given_up) return;
    const std::lock_guard lock(mutex_);
    in_flight_.erase(token.key);
  }

  void collect_layer(const Token& token) {
    end_flight(token);
    if (!token.result) {
      part_given_up_ = true;
      return;
    }
    workload_rows_.push_back({token.design->key, token.workload->name, token.layer_index, token.count, token.layer,
                              token.design->accelerator, token.result, token.key});
  }

  void collect_workload(const Token& token) {
    const std::size_t layers = token.workload->layers.size();
    end_flight(token);
    part_given_up_ |= token.asks && !token.result;
    if (part_given_up_ || workload_rows_.size() < layers) return;
    DesignRow row = summarize(*token.design, *token.workload, workload_rows_.data(), layers, token.result);
    row.flexion = token.flexion;
    take_serving(token.serving, row);
    part_given_up_ |= sweep_->served.contains(token.workload->name) && !token.serving && token.design->accelerator;
    if (sweep_->flexion && !token.flexion && token.design->accelerator) part_given_up_ = true;
    const std::int64_t id = row.design->design_id;
    apply_limits(
        sweep_->result_limits, [&](const std::string& name) { return describer_.value(id, name); }, row);
    if (row.residency) note_staying(token);
    best_.add(row);
    part_designs_.push_back(std::move(row));
  }

  void note_staying(const Token& token) {
    std::vector<std::string> words = staying_tensors(*token.design->accelerator, *token.workload, *token.result);
    for (std::size_t l = 0; l < words.size(); ++l) workload_rows_[l].on_chip = std::move(words[l]);
  }

  void collect_part(std::int64_t part) {
    if (!part_given_up_) {
      writer_->write({sweep_->name, dataset_.manifest().sweep_sha256, sweep_->columns, part}, std::move(part_layers_),
                     std::move(part_designs_));
      report(false);
    }
    part_layers_ = {};
    part_designs_.clear();
    part_given_up_ = false;
  }

  SweepProgress::Best described(const BestDesigns::Found& found, const std::string& workload) {
    SweepProgress::Best best{found.design_id, workload, std::string(best_.column()), "", found.value};
    const std::int64_t hardware = found.design_id / (describer_.size() / describer_.hardware_points());
    const std::vector<std::size_t> positions = axis_positions(*sweep_, hardware);
    for (std::size_t a = 0; a < positions.size(); ++a)
      for (std::size_t k = 0; k < sweep_->axes[a].keys.size(); ++k)
        best.label += fmt::format("{}={} ", sweep_->axes[a].keys[k], sweep_->axes[a].values[positions[a]][k]);
    best.label += describer_.design(found.design_id).key->flexibility;
    return best;
  }

  void describe_best() {
    std::vector<SweepProgress::Best>& all = outcome_.progress.best;
    all.clear();
    if (sweep_->workloads.size() > 1 && best_.on_all()) all.push_back(described(*best_.on_all(), "all workloads"));
    for (std::size_t w = 0; w < sweep_->workloads.size(); ++w)
      if (const auto& found = best_.on(w)) all.push_back(described(*found, sweep_->workloads[w].name));
  }

  void report(bool now) {
    const double time = options_.clock->wall_seconds();
    outcome_.progress.seconds = time - start_;
    outcome_.progress.parts_done = parts_done();
    if (!now && (!options_.on_progress || time - reported_ < kBetweenReports)) return;
    reported_ = time;
    describe_best();
    if (options_.on_progress) options_.on_progress(outcome_.progress);
  }

  const Library& library_;
  std::shared_ptr<const Sweep> sweep_;
  const SweepRunOptions& options_;
  DesignSpace space_;
  TaskNamer namer_;
  SweepLayout layout_;
  int threads_ = 1;
  std::vector<bool> allowed_;
  std::unique_ptr<Mapper> mapper_;
  std::vector<std::vector<std::shared_ptr<const Layer>>> layers_;  ///< by workload
  SweepDataset dataset_;
  std::unique_ptr<TaskStore> store_;
  std::optional<PartWriter> writer_;

  std::mutex mutex_;  ///< guards the next
  std::unordered_map<TaskKey, TokenPtr, TaskKeyHash> in_flight_;

  std::atomic<double> logging_{0};
  NextTask at_;  ///< step 1 only
  // Step 3 only.
  std::vector<TokenPtr> finished_;  ///< layers of the workload at hand
  std::vector<LayerRow> workload_rows_;
  LayerRows part_layers_;
  std::vector<DesignRow> part_designs_;
  bool part_given_up_ = false;
  BestDesigns best_;
  DesignSpace describer_;  ///< its own: step 1 uses space_
  SweepOutcome outcome_;
  double start_ = options_.clock->wall_seconds(), reported_ = -kInfinity;
};

}  // namespace

int usable_cores() { return tbb::this_task_arena::max_concurrency(); }

SweepOutcome run_sweep(const Library& library, const Sweep& sweep, const SweepRunOptions& options) {
  return SweepRun(library, sweep, options).run();
}

}  // namespace pliant
