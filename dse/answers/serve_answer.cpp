// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "core/input/machine_parts.h"
#include "core/input/units.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/serve_text.h"
#include "dse/answers/task_options.h"
#include "dse/serving/answer_json.h"
#include "dse/serving/models.h"
#include "dse/serving/shard.h"

namespace pliant {

namespace {

std::vector<Count> counts_in(const Arguments& arguments, const char* option) {
  std::vector<Count> all;
  std::istringstream words(arguments.text(option).value_or(""));
  for (std::string word; std::getline(words, word, ',');) {
    const Parsed<Count> value = parse_count(word);
    if (!std::holds_alternative<Count>(value) || std::get<Count>(value) < 1)
      throw arguments.bad(fmt::format("--{}", option), fmt::format("`{}`", word), "whole numbers above 0 with commas");
    all.push_back(std::get<Count>(value));
  }
  return all;
}

std::optional<int> bits_in(const Arguments& arguments, const char* option) {
  if (!arguments.has(option)) return std::nullopt;
  const auto value = *arguments.whole(option);
  if (value < 1 || value > 64) throw arguments.bad(fmt::format("--{}", option), fmt::format("{}", value), "1 to 64");
  return static_cast<int>(value);
}

serving::Request read_request(const Library& library, const Arguments& arguments) {
  if (!arguments.word()) throw arguments.bad("", "no model", "a shipped name or a config.json");
  const auto name = arguments.text("accelerator");
  if (!name) throw arguments.missing("accelerator", "a shipped name or a file");
  serving::Request request;
  serving::NamedModel named = serving::load_model(library, *arguments.word());
  request.model_name = std::move(named.name);
  request.model = std::move(named.model);
  request.accelerator = read_accelerator(library, arguments);
  if (const auto links = arguments.text("links")) request.accelerator.links = parse_links(*links, "--links");
  if (const auto unit = arguments.text("vector")) request.accelerator.vector = parse_vector_unit(*unit, "--vector");
  if (const auto memory = arguments.text("memory")) {
    const Parsed<Count> bytes = parse_bytes(*memory);
    if (const auto* error = std::get_if<UnitError>(&bytes))
      throw arguments.bad("--memory", error->what, error->expected, error->did_you_mean);
    request.memory_bytes = static_cast<double>(std::get<Count>(bytes));
  }
  request.factorization = read_factorization(*arguments.text("factorization"), arguments.command());
  request.objective = read_objective(*arguments.text("objective"), arguments.command());
  const auto count = [&](const char* option) { return static_cast<Count>(*arguments.whole(option)); };
  request.prompt = count("prompt");
  request.output = count("output");
  request.batch = count("batch");
  request.chunk = count("chunk");
  request.weight_bits = bits_in(arguments, "weight-bits");
  request.kv_bits = bits_in(arguments, "kv-bits");
  request.skew = *arguments.real("skew");
  request.division = {count("tp"), count("pp"), count("ep")};
  request.gap = *arguments.share("gap");
  request.search.threads = arguments.threads();
  request.search.budget.seconds = *arguments.seconds("budget");
  request.search.gap = request.gap / 4;  // the rest is for what lies between the contexts that are searched
  return request;
}

nlohmann::ordered_json best_json(const serving::Request& request, const serving::BestDivision& all) {
  nlohmann::ordered_json ways = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < all.ways.size(); ++i) {
    const serving::ServingWay& way = all.ways[i];
    nlohmann::ordered_json one{
        {"tp", way.division.tp}, {"pp", way.division.pp},
        {"ep", way.division.ep}, {"batch", way.batch},
        {"bound", way.bound},    {"end", serving::kWayEndNames[static_cast<std::size_t>(way.end)]},
        {"best", all.best == i}};
    if (way.served) {
      one["ttft_s"] = way.served->ttft_s;
      one["tpot_s"] = way.served->tpot_s.value_or(0);
      one["tokens_per_s"] = way.served->tokens_per_s;
      one["tokens_per_s_per_user"] = way.served->tokens_per_s_per_user;
      one["tokens_per_j"] = way.served->tokens_per_j;
    }
    ways.push_back(std::move(one));
  }
  nlohmann::ordered_json json{{"schema", kJsonSchema}};
  if (all.best) {
    serving::Request best = request;
    best.division = all.ways[*all.best].division;
    best.batch = all.ways[*all.best].batch;
    json.update(serving::answer_json(best, *all.ways[*all.best].served));
  }
  json["ways"] = std::move(ways);
  json["ways_gap"] = all.best ? nlohmann::ordered_json(all.gap) : nlohmann::ordered_json();
  return json;
}

int serve_best(const Arguments& arguments, serving::Request request, std::ostream& out) {
  serving::Limits limits{arguments.seconds("ttft"), arguments.seconds("tpot")};
  if (request.objective == Objective::kEnergy && (limits.ttft_s || limits.tpot_s))
    throw arguments.bad("--objective", "energy beside --ttft or --tpot", "runtime");
  const Count chips = arguments.has("chips") ? static_cast<Count>(*arguments.whole("chips")) : request.division.chips();
  if (chips > 1024 || chips < 1) throw arguments.bad("--chips", fmt::format("{}", chips), "1 to 1024");
  if (serving::divisions_of(request.model, chips).empty())
    throw arguments.bad("--chips", fmt::format("{} chips do not divide {}", chips, request.model_name),
                        "a number that divides its heads, or its layers");
  request.division = serving::divisions_of(request.model, chips).front();
  const bool all_batches = arguments.text("batches").value_or("") == "all";
  std::vector<Count> batches{request.batch};
  if (all_batches)
    batches.clear();
  else if (arguments.has("batches"))
    batches = counts_in(arguments, "batches");
  request.batch = std::max(request.batch, request.division.ep);
  serving::check_request(request, arguments.command());
  const serving::BestDivision all = serving::best_division(request, chips, batches, limits);
  if (request.search.stop.stop_requested()) return 130;
  if (arguments.has("json")) {
    out << best_json(request, all).dump(2) << "\n";
  } else {
    out << best_division_text(request, all);
    if (all.best) {
      request.division = all.ways[*all.best].division;
      request.batch = all.ways[*all.best].batch;
      out << serving_text(request, *all.ways[*all.best].served);
    }
  }
  return all.best ? 0 : 3;
}

}  // namespace

int answer_serve(const Arguments& arguments, Face& face) {
  std::ostream &out = face.out, &err = face.err;
  serving::Request request = read_request(face.library, arguments);
  const Interrupt interrupt(face);
  request.search.stop = interrupt.token();
  try {
    if (arguments.has("chips") || arguments.has("batches") || arguments.has("ttft") || arguments.has("tpot"))
      return serve_best(arguments, std::move(request), out);
    serving::check_request(request, arguments.command());
    const serving::MemoryNeed need = serving::memory_need(request);
    if (!need.fits()) {
      err << does_not_fit_text(request, need);
      if (arguments.has("json"))
        out << nlohmann::ordered_json{{"schema", kJsonSchema},
                                      {"memory", serving::memory_json(need)},
                                      {"would_fit", serving::what_would_fit(request, need)}}
                   .dump(2)
            << "\n";
      return 3;
    }
    const serving::Served served = serving::serve(request, counts_in(arguments, "contexts"));
    if (interrupt.asked()) return 130;
    if (arguments.has("json")) {
      nlohmann::ordered_json json{{"schema", kJsonSchema}};
      json.update(serving::answer_json(request, served));
      out << json.dump(2) << "\n";
    } else {
      out << serving_text(request, served);
    }
    return 0;
  } catch (const serving::NoMapping& none) {
    if (interrupt.asked()) return 130;
    err << fmt::format("no mapping of layer {} fits on {}: pliant map says why\n", none.layer,
                       request.accelerator.name);
    return 3;
  }
}

}  // namespace pliant
