// SPDX-License-Identifier: Apache-2.0
#include "dse/import/llm/llm.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/input/load.h"
#include "core/input/units.h"
#include "dse/import/llm/model.h"

namespace pliant {
namespace {

/// Longer prompts and caches are refused: products of sizes must stay below 2^62.
constexpr Count kLongestPass = Count{1} << 30;
constexpr Count kLargestBatch = Count{1} << 20;

std::string amount(Count value) {
  if (value >= 1'000'000'000) return fmt::format("{:.2f} G", static_cast<double>(value) / 1e9);
  return fmt::format("{:.1f} M", static_cast<double>(value) / 1e6);
}

/// "1k" for 1024.
std::string length_name(Count tokens) {
  return tokens % 1024 == 0 ? fmt::format("{}k", tokens / 1024) : std::to_string(tokens);
}

/// More than any product, tensor or count of the pass: below 2^60 nothing of it leaves a Count.
double largest_of(const LanguageModel& m, const ModelPass& pass) {
  const auto real = [](Count value) { return static_cast<double>(value); };
  const double tokens = real(pass.batch) * (pass.is_prefill ? real(pass.length) : 1);
  const Count head = m.latent ? m.latent->key_value_rank + m.latent->key_dim() + m.latent->value_dim : m.head_dim;
  const Count routed =
      m.experts ? m.experts->per_token * m.experts->width + m.experts->shared_width + m.experts->routed : 0;
  const double widest = real(m.hidden) + 2 * real(m.heads * head) + real(m.width + routed) + real(m.vocabulary);
  const double scores =
      real(pass.batch) * real(m.heads) * real(pass.length) * (pass.is_prefill ? real(pass.length) : 1);
  return real(m.layers) * 4 * (tokens * real(m.hidden + head) * widest + 2 * scores * real(head));
}

/// Refuses workloads whose MACs together do not fit a Count.
void check_macs(const Workload& workload, const Position& at, ImportLog& log) {
  Count total = 0;
  for (const auto& [layer, count] : workload.layers) {
    Count macs = count;
    for (const Dim& dim : layer.dims) {
      const auto next = checked_multiply(macs, dim.size);
      if (!next || *next >= kMaxCount / 2 - total) {
        log.problems().add(at, layer.name, "the MACs of this model are too many", "fewer than 2^61");
        return;
      }
      macs = *next;
    }
    total += macs;
  }
}

/// What the user says; what the publisher says ("org/model-7b"); the file's own name, or that of the folder around a
/// file that is called as all of them are.
std::string model_name(const LanguageModel& model, const SourceFile& file, const ImportOptions& options) {
  if (!options.name.empty()) return options.name;
  const std::filesystem::path published(model.name), path(file.name);
  if (const std::string last = published.filename().string(); !last.empty()) return import_name(last, "model");
  const std::string folder = path.parent_path().filename().string();
  return path.stem() == "config" && !folder.empty() ? import_name(folder, "model") : name_of_file(file);
}

void note_choices(const LanguageModel& model, const ParameterCounts& counts, const ImportOptions& options,
                  const Position& at, ImportLog& log) {
  std::string parameters = fmt::format("{} parameters ({} of them embeddings)", counts.total, counts.embeddings);
  if (model.experts) parameters += fmt::format(", {} used for a token", counts.active);
  log.choice(at, "parameters", parameters);
  log.choice(at, "attention",
             options.prefill > 0 ? "scores are counted in full, the masked half included"
                                 : "query heads that share keys are rows of one product");
  if (model.experts) log.choice(at, "experts", "tokens are spread evenly over the experts");
  log.choice(at, "lm_head", "the last token of each sequence is projected to the vocabulary");
  const Count windowed = std::ranges::count(model.windowed, true), length = std::max(options.prefill, options.decode);
  if (model.window > 0 && windowed > 0)
    log.choice(at, "sliding_window",
               model.window >= length
                   ? fmt::format("{} tokens are more than {}: it changes nothing", model.window, length)
                   : fmt::format("{} of {} layers attend to {} tokens only", windowed, model.layers, model.window));
  log.choice(at, "operators",
             "norms, softmax, activations and residual sums are operators without MACs in the graph; rotary positions "
             "and embeddings are left out");
}

}  // namespace

bool is_llm(const SourceFile& file) {
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && file.text[first] == '{' &&
         (file.text.find("\"num_hidden_layers\"") != std::string::npos ||
          file.text.find("\"n_layer\"") != std::string::npos);
}

void import_llm(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                Imported& imported) {
  const auto wrong = [&](const SourceFile& file, std::string key, std::string what, std::string expected) {
    log.problems().add(Diagnostic{file.name, 0, 0, std::move(key), std::move(what), std::move(expected), ""});
  };
  for (const SourceFile& file : files) {
    if ((options.prefill > 0) == (options.decode > 0)) {
      wrong(file, "", options.prefill > 0 ? "--prefill and --decode at once" : "a model needs a length",
            "--prefill TOKENS, or --decode CACHED_TOKENS, and --batch SEQUENCES; after a file's name "
            "config.json:prefill=4096 or config.json:decode=32768,batch=8");
      continue;
    }
    if (options.prefill > kLongestPass || options.decode > kLongestPass || options.batch < 1 ||
        options.batch > kLargestBatch) {
      wrong(file, "", "too many tokens or sequences", fmt::format("at most {} and {}", kLongestPass, kLargestBatch));
      continue;
    }
    const auto model = read_language_model(file, log);
    if (!model) continue;
    const Position at = position_in(file, 1);
    const ParameterCounts counts = count_parameters(*model);
    note_choices(*model, counts, options, at, log);
    const bool prefill = options.prefill > 0;
    const Count length = prefill ? options.prefill : options.decode;
    std::string name =
        fmt::format("{}_{}_{}", model_name(*model, file, options), prefill ? "prefill" : "decode", length_name(length));
    if (options.batch > 1) name += fmt::format("_batch{}", options.batch);
    const ModelPass pass{prefill, length, options.batch};
    if (constexpr double kMost = 0x1p60; largest_of(*model, pass) >= kMost) {
      wrong(file, "", "the MACs of this model are too many", "fewer than 2^60");
      continue;
    }
    Workload workload = pass_workload(*model, name, pass);
    workload.description =
        fmt::format("{}: {} {} tokens, batch {}; {}parameters", model->type.empty() ? "model" : model->type,
                    prefill ? "prefill of" : "decode with a cache of", length, options.batch, amount(counts.total));
    check_macs(workload, at, log);
    imported.workloads.push_back(std::move(workload));
  }
}

}  // namespace pliant
