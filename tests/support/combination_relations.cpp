// SPDX-License-Identifier: Apache-2.0
// Relations of questions about single layers and networks; combination_datasets.cpp has those of sweeps.
#include "support/combination_relations.h"

#include "support/asked_case.h"

namespace pliant::tests {

namespace {

using enum Trait;

/// More mappings than this are not enumerated.
constexpr const char* kEnumerationLimit = "limit=60000";

double value_of(const json& answer) { return answer.at("value").get<double>(); }

bool found(const json& answer) { return answer.value("feasible", true); }

Words by_mapper(Words words, const std::string& mapper) {
  words = without_option(without_option(std::move(words), "--mapper-option"), "--gap");
  std::erase(words, "--predict");
  return with_option(std::move(words), "--mapper", mapper);
}

/// The best of all mappings, or none; nothing when there are too many.
std::optional<json> truth(AskedCase& asked, const Words& words) {
  const Ran ran = asked.ask(with(by_mapper(words, "exhaustive"), {"--mapper-option", kEnumerationLimit, "--json"}));
  if (ran.code == 2 && ran.err.find("limit") != std::string::npos) return std::nullopt;
  if (ran.code != 0 && ran.code != 3) {
    asked.problem(fmt::format("exit code {}: {}", ran.code, ran.err));
    return std::nullopt;
  }
  asked.checked().enumerated = true;
  return json::parse(ran.out);
}

/// What one layer's answer claims, beside what enumeration says.
void check_claims(AskedCase& asked, const json& answer, const std::optional<json>& all) {
  if (asked.proves()) {
    asked.expect(found(answer) ? answer.value("certified", false) : true, "a small layer is not certified");
    asked.expect(found(answer) || answer.value("ended_by", "") == "proof", "no mapping, and no proof of that");
  }
  if (found(answer)) {
    asked.expect_at_most(answer.at("lower_bound").get<double>(), value_of(answer), "lower bound above the value");
    asked.expect(answer.at("lower_bound").get<double>() >= 0, "a negative lower bound");
    // Hints prove nothing of the whole map-space.
    if (asked.has(kGap) && !asked.has(kHints))
      asked.expect(answer.at("gap").get<double>() <= 0.05 + 1e-9, "a gap above what was asked for");
  }
  if (!all) return;
  if (asked.has(kExact) || asked.has(kExhaustive))
    asked.expect(found(answer) == found(*all), "enumeration and proof differ about what is legal");
  if (!found(answer) || !found(*all)) return;
  asked.expect_at_most(value_of(*all), value_of(answer), "below the best of all mappings");
  asked.expect_at_most(answer.at("lower_bound").get<double>(), value_of(*all), "lower bound above the best mapping");
  if (asked.proves() || asked.has(kExhaustive)) asked.expect_equal(value_of(answer), value_of(*all), "not the best");
}

/// The same words with one thread, which a result must not depend on.
void check_threads(AskedCase& asked, const Words& words, json answer) {
  if (!asked.has(kThreads)) return;
  std::optional<json> alone = asked.answer(without_option(words, "--threads"), {0, 3});
  if (!alone) return;
  forget_times(answer);
  forget_times(*alone);
  asked.expect(answer == *alone, "one thread says something else than two");
}

/// A mapping of the JSON, priced and judged again.
void check_price(AskedCase& asked, const json& answer, const std::string& file) {
  const CombinationCase& one = asked.one();
  const std::optional<json> price =
      asked.answer({"eval", "--accelerator", one.file("accelerator.yaml"), "--workload", one.file("workload.yaml"),
                    "--layer", answer.at("layer").get<std::string>(), "--mapping", file, "--factorization",
                    one.word(TraitGroup::kFactorizations)});
  if (!price) return;
  for (const char* key : {"energy_pj", "runtime_cycles", "edp_pj_cycles", "utilization"})
    asked.expect_equal(price->at(key).get<double>(), answer.at(key).get<double>(), key);
}

void check_proof(AskedCase& asked, const std::string& file) {
  const Ran audit = asked.ask({"audit", file});
  // With padding the auditor may not decide, as docs/audit.md says.
  asked.expect(audit.code == 0 || (audit.code == 4 && asked.has(kPadding)),
               fmt::format("exit code {}: {}{}", audit.code, audit.err, audit.out));
  json spoiled = json::parse(std::ifstream(file), nullptr, false);
  if (spoiled.is_discarded() || !spoiled.contains("value") || !spoiled["value"].is_number()) return;
  const double value = spoiled["value"].get<double>();
  if (value == 0) return;
  spoiled["value"] = 0.5 * value;
  asked.write("spoiled.json", spoiled.dump());
  const Ran ran = asked.ask({"audit", asked.one().file("spoiled.json")});
  asked.expect(ran.code == 1 || ran.code == 2, "a spoiled certificate is accepted");
}

/// What `map --json` wrote, verified; then with another value.
void check_verified(AskedCase& asked, json answer) {
  asked.write("answer.json", answer.dump());
  asked.expect_code({"verify", asked.one().file("answer.json")}, 0);
  json* claim = answer.contains("network") ? &answer["network"] : &answer;
  if (!claim->contains("energy_pj") || claim->at("energy_pj").get<double>() == 0) return;
  (*claim)["energy_pj"] = 1.5 * claim->at("energy_pj").get<double>();
  asked.write("answer.json", answer.dump());
  asked.expect_code({"verify", asked.one().file("answer.json")}, 1);
}

}  // namespace

void check_map(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  const Words words = one.map_words(false);
  const std::optional<json> answer = asked.answer(one.question_words(), {0, 3});
  if (!answer) return;
  check_claims(asked, *answer, truth(asked, words));
  check_threads(asked, words, *answer);
  if (asked.has(kCertificate) && found(*answer)) check_proof(asked, one.file("proof.json"));
  if (!found(*answer)) return;
  asked.write("mapping.json", answer->at("mapping").dump());
  check_price(asked, *answer, asked.has(kSave) ? one.file("best.yaml") : one.file("mapping.json"));
}

void check_verify(AskedCase& asked) {
  const std::optional<json> answer = asked.answer(asked.one().map_words(false), {0, 3});
  if (answer) check_verified(asked, *answer);
  const std::optional<json> all = asked.answer(asked.one().map_words(true), {0, 3});
  if (!all) return;
  asked.write("answer.json", all->dump());
  asked.expect_code({"verify", asked.one().file("answer.json")}, 0);
}

void check_workload(AskedCase& asked) {
  const Words words = asked.one().map_words(true);
  const std::optional<json> answer = asked.answer(words, {0, 3});
  if (!answer) return;
  double energy = 0, cycles = 0;
  bool all = true;
  for (json layer : answer->at("layers")) {
    all = all && found(layer);
    if (found(layer)) {
      energy += layer.at("energy_pj").get<double>();
      cycles += layer.at("runtime_cycles").get<double>();
    }
    std::optional<json> alone = asked.answer(with(words, {"--layer", layer.at("layer").get<std::string>()}), {0, 3});
    if (!alone) continue;
    forget_times(layer);
    forget_times(*alone);
    for (const auto& [key, value] : alone->items())
      if (key != "task" && key != "schema")
        asked.expect(layer.value(key, json()) == value, "alone it differs in " + key);
  }
  if (all) {
    asked.expect_equal(answer->at("total").at("energy_pj").get<double>(), energy, "energy of the layers");
    asked.expect_equal(answer->at("total").at("runtime_cycles").get<double>(), cycles, "cycles of the layers");
  }
  check_threads(asked, words, *answer);
}

std::optional<double> some_deadline(AskedCase& asked, const Words& words) {
  const std::optional<json> fastest = asked.answer(with_option(words, "--objective", "runtime"), {0, 3});
  if (!fastest || !fastest->contains("network")) return std::nullopt;
  return std::ceil(1.2 * fastest->at("network").at("runtime_cycles").get<double>());
}

void check_network(AskedCase& asked) {
  Words words = asked.one().map_words(true);
  if (asked.has(kDeadline)) {
    const std::optional<double> cycles = some_deadline(asked, words);
    if (!cycles) return;
    words = with(words, {"--deadline", fmt::format("{}", *cycles)});
  }
  if (asked.has(kCertificate)) words = with(words, {"--certificate", asked.one().file("proof.json")});
  const std::optional<json> answer = asked.answer(words, {0, 3});
  if (!answer || !answer->contains("network")) return;
  if (asked.has(kCertificate)) check_proof(asked, asked.one().file("proof.json"));
  const json& network = answer->at("network");
  asked.expect_at_most(network.at("lower_bound").get<double>(), value_of(network), "lower bound above the value");
  asked.expect(network.at("lower_bound").get<double>() >= 0, "a negative lower bound");
  if (asked.has(kDeadline))
    asked.expect_at_most(network.at("runtime_cycles").get<double>(), network.at("deadline_cycles").get<double>(),
                         "late");
  double energy = 0;
  for (const json& step : network.value("steps", json::array())) energy += step.at("energy_pj").get<double>();
  for (const json& layer : network.value("layers", json::array()))
    energy += layer.at("count").get<double>() * layer.at("energy_pj").get<double>();
  asked.expect_equal(network.at("energy_pj").get<double>(), energy, "energy of the steps");
  if (asked.proves()) {
    // Within a deadline two optima are mixed, which may leave a gap: with weights that stay or tiles, where the answer
    // says so, and of products where nothing is known of who reads what.
    const bool says = (asked.has(kInferences) || asked.has(kTiles)) && network.contains("ended_by");
    const bool mixed = asked.has(kDeadline) && (says || (asked.has(kUnrelated) && !asked.has(kEnergy)));
    asked.expect(network.at("certified").get<bool>() || mixed, "a small network is neither certified nor says why not");
    if (network.contains("without_residency"))
      asked.expect_at_most(value_of(network), value_of(network.at("without_residency")), "worse with residency");
    const std::string objective = asked.one().word(TraitGroup::kObjectives);
    if (network.contains("layers_alone") && !asked.has(kDeadline) && objective != "perf-per-watt" &&
        objective != "ed2p")
      asked.expect_at_most(value_of(network),
                           network.at("layers_alone")
                               .at(objective == "edp"      ? "edp_pj_cycles"
                                   : objective == "energy" ? "energy_pj"
                                                           : "runtime_cycles")
                               .get<double>(),
                           "above the sum of the layers' own optima");
    if (asked.has(kInferences)) {
      const std::optional<json> once = asked.answer(without_option(words, "--inferences"), {0, 3});
      if (once && once->contains("network"))
        asked.expect_at_most(value_of(network), value_of(once->at("network")), "worse with weights that may stay");
    }
  }
  check_threads(asked, words, *answer);
  check_verified(asked, *answer);
}

void check_frontier(AskedCase& asked) {
  const Words words = asked.one().map_words(false);
  const std::optional<json> answer = asked.answer(words, {0, 3});
  if (!answer) return;
  const json points = answer->value("frontier", json::array());
  for (std::size_t i = 1; i < points.size(); ++i) {
    asked.expect(points[i - 1].at("runtime_cycles") < points[i].at("runtime_cycles"), "points not in order");
    asked.expect(points[i - 1].at("energy_pj") > points[i].at("energy_pj"), "a point beats another");
  }
  if (asked.proves() && !points.empty()) {
    asked.expect(answer->at("certified").get<bool>(), "a small frontier is not certified");
    for (const auto& [objective, at] :
         {std::pair("runtime", points.size() - points.size()), {"energy", points.size() - 1}}) {
      const std::optional<json> end = asked.answer(with_option(words, "--objective", objective), {0, 3});
      const char* key = std::string(objective) == "runtime" ? "runtime_cycles" : "energy_pj";
      if (end) asked.expect_equal(points[at].at(key).get<double>(), value_of(*end), "an end of the frontier");
    }
  }
  check_threads(asked, words, *answer);
  if (points.empty()) return;
  asked.write("answer.json", answer->dump());
  asked.expect_code({"verify", asked.one().file("answer.json")}, 0);
}

void check_export(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  const Ran saved = asked.ask(with(one.map_words(false), {"--save", one.file("best.yaml")}));
  if (saved.code == 3) return;
  asked.expect(saved.code == 0, fmt::format("exit code {}: {}", saved.code, saved.err));
  const Ran ran = asked.ask(one.question_words());
  // What the mapping is like follows from the search.
  bool told = false;
  for (const Trait mapping : {kRemainders, kPadded, kSplitDims})
    if (const auto found = refused({one.question, mapping}))
      told = told || ran.err.find(found->what) != std::string::npos;
  asked.expect(ran.code == 0 || (ran.code == 2 && told), fmt::format("exit code {}: {}", ran.code, ran.err));
  if (ran.code == 0) asked.expect(!std::filesystem::is_empty(one.file("out")), "nothing was written");
}

void check_flexion(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  const std::optional<json> answer = asked.answer(one.question_words());
  if (!answer) return;
  std::function<void(const json&)> shares = [&](const json& inner) {
    for (const char* key : {"h_f", "w_f"})
      if (inner.is_object() && inner.contains(key) && inner[key].is_number())
        asked.expect(inner[key] >= 0.0 && inner[key] <= 1.0 + 1e-12, fmt::format("{} is {}", key, inner[key].dump()));
    if (inner.is_structured())
      for (const json& below : inner) shares(below);
  };
  shares(*answer);
}

void check_count(AskedCase& asked) {
  const CombinationCase& one = asked.one();
  const Words words = one.question_words();
  asked.answer(words);
  const std::optional<json> legal = asked.answer(with(words, {"--legal"}), {0, 2});
  if (const auto found = refused(Traits(one.traits).add(kLegal)))
    return asked.expect(legal && legal->empty(), "not refused, though " + found->what);
  const Ran listed = asked.ask(with(words, {"--enumerate", "--json"}));
  if (!legal || legal->empty() || listed.code == 2) return;  // too many to list
  asked.checked().enumerated = true;
  const json all = json::parse(listed.out, nullptr, false);
  asked.expect(all.at("count") == legal->at("count"), fmt::format("counted {}, listed {}", legal->dump(), listed.out));
}

namespace {

void check_question(AskedCase& asked) {
  switch (asked.one().question) {
    case kMap: return check_map(asked);
    case kWorkload: return check_workload(asked);
    case kNetwork: return check_network(asked);
    case kFrontier: return check_frontier(asked);
    case kSweep: return check_sweep(asked);
    case kDesign: return check_design(asked);
    case kVerify: return check_verify(asked);
    case kTimeloop:
    case kZigzag:
    case kC: return check_export(asked);
    case kFlexion: return check_flexion(asked);
    default: return check_count(asked);
  }
}

}  // namespace

CheckedCase check_case(const CombinationCase& one) {
  AskedCase asked(one);
  try {
    check_question(asked);
  } catch (const json::exception& error) {
    asked.problem(fmt::format("an answer of another form: {}", error.what()));
  }
  return asked.checked();
}

}  // namespace pliant::tests
