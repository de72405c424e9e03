// SPDX-License-Identifier: Apache-2.0
#include "dse/import/llm/llm.h"

#include <fmt/format.h>

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
  log.choice(at, "operators", "norms, rotary positions, softmax, activations and residual sums are no matrix products");
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
    std::string name = fmt::format("{}_{}_{}", name_of_file(file), prefill ? "prefill" : "decode", length_name(length));
    if (options.batch > 1) name += fmt::format("_batch{}", options.batch);
    Workload workload = prefill ? prefill_workload(*model, name, length, options.batch)
                                : decode_workload(*model, name, length, options.batch);
    workload.description =
        fmt::format("{}: {} {} tokens, batch {}; {}parameters", model->type.empty() ? "model" : model->type,
                    prefill ? "prefill of" : "decode with a cache of", length, options.batch, amount(counts.total));
    check_macs(workload, at, log);
    imported.workloads.push_back(std::move(workload));
  }
}

}  // namespace pliant
