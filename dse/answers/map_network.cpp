// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/map_network.h"

#include <fmt/format.h>

#include <fstream>
#include <ostream>
#include <sstream>

#include "dse/answers/map_audit.h"
#include "dse/combinations/combinations.h"
#include "dse/import/open.h"

namespace pliant {

namespace {

/// What the options say of the question.
Traits asked(const Arguments& arguments, const TaskWords& words, const NetworkChoice& choice) {
  Traits question{Trait::kCommandLine, choice.network ? Trait::kNetwork : words.layer ? Trait::kMap : Trait::kWorkload};
  question.add_if(words.layer.has_value(), Trait::kMap);
  std::istringstream objectives(words.objective);
  for (std::string name; std::getline(objectives, name, ',');) question.add(TraitGroup::kObjectives, name);
  question.add_if(words.objective.find(',') != std::string::npos, Trait::kFrontier);
  question.add(TraitGroup::kMappers, *arguments.text("mapper"));
  question.add(TraitGroup::kFactorizations, words.factorization);
  if (words.conventions) question.add(TraitGroup::kConventions, *words.conventions);
  const bool off = *arguments.text("residency") == "off" || *arguments.text("fusion") == "off";
  question.add_if(off, Trait::kOutside);
  question.add_if(choice.network && (arguments.has("residency") || arguments.has("fusion")) && !off, Trait::kResidency);
  question.add_if(*arguments.text("fusion") == "tiles", Trait::kTiles);
  question.add_if(choice.network && choice.workload && !choice.workload->graph, Trait::kUnrelated);
  question.add_if(*arguments.whole("inferences") != 1, Trait::kInferences);
  question.add_if(arguments.share("gap").value_or(0) > 0, Trait::kGap);
  for (const Trait option : {Trait::kDeadline, Trait::kSave, Trait::kCertificate, Trait::kPredict})
    question.add_if(arguments.has(info_of(option).option.substr(2)), option);
  return question;
}

void check_network_options(const Arguments& arguments, const TaskWords& words, const NetworkChoice& choice) {
  if (arguments.has("network") && arguments.has("layers"))
    throw arguments.bad("--layers", "beside --network", "one of them");
  check_works(arguments.command(), asked(arguments, words, choice));
  if (!choice.network) return;
  if (const std::string residency = *arguments.text("residency"); residency != "on" && residency != "off")
    throw arguments.bad("--residency", fmt::format("`{}`", residency), "on or off");
  const auto said = [&](const char* option) { return arguments.has(option) ? arguments.text(option) : std::nullopt; };
  const auto residency = said("residency");
  check_fusion(arguments.command(), said("fusion"), residency ? std::optional(*residency == "on") : std::nullopt);
  check_network_numbers(arguments.command(), arguments.real("deadline"),
                        static_cast<Count>(*arguments.whole("inferences")));
}

void write_proof(const Arguments& arguments, const audit::NetworkCertificate& certificate) {
  const std::string file = *arguments.text("certificate");
  std::ofstream out(file, std::ios::binary);
  out << audit::write_network_certificate(certificate);
  if (!out.flush())
    throw arguments.bad("--certificate", fmt::format("cannot write `{}`", file), "a file that can be written");
}

}  // namespace

NetworkChoice choose_network(const Library& library, const Arguments& arguments, const TaskWords& words) {
  NetworkChoice choice;
  choice.asked = arguments.has("network");
  if (!words.layer && words.workload) choice.workload = open_workload(library, *words.workload);
  // What only layers can be asked for: other mappers prove nothing, and this objective is no network's.
  const bool layers_only = arguments.has("layers") || *arguments.text("mapper") != "exact" ||
                           words.objective == to_string(Objective::kEdpOverUtilization);
  choice.network = choice.asked || (choice.workload && choice.workload->graph && !layers_only);
  check_network_options(arguments, words, choice);
  return choice;
}

bool asks_for_proof(const Arguments& arguments, const Task& task) {
  if (!arguments.has("certificate") && !arguments.has("audit")) return false;
  Traits question{Trait::kCertificate};
  question.add(TraitGroup::kMappers, *arguments.text("mapper"));
  question.add_if(task.accelerator.hints.min_utilization > 0, Trait::kHints);
  check_works(arguments.command(), question, arguments.has("certificate") ? "--certificate" : "--audit");
  return true;
}

int map_network(const Arguments& arguments, const TaskWords& words, const Workload& workload, const Mapper& mapper,
                const std::vector<ReadTask>& tasks, SearchOptions search, Face& face) {
  const Interrupt interrupt(face);
  search.stop = interrupt.token();
  NetworkGoal goal;
  goal.objective = tasks.front().task.objective;
  if (const auto deadline = arguments.real("deadline")) goal.most_cycles = *deadline;
  ResidencyRequest request;
  request.stay = *arguments.text("residency") == "on" && *arguments.text("fusion") != "off";
  request.tiles = *arguments.text("fusion") == "tiles";
  request.inferences = static_cast<Count>(*arguments.whole("inferences"));
  request.ascii = arguments.has("ascii");
  search.record_parts = asks_for_proof(arguments, tasks.front().task);
  if (arguments.has("audit") && request.inferences > 1)
    throw arguments.bad("--audit", "of a network with weights that stay, which has no certificate", "no --inferences");
  const NetworkAnswer answer = ask_network(mapper, workload, tasks, goal, search, request);
  if (interrupt.asked()) return 130;
  if (!answer.found) {
    face.err << answer.text;
    return 3;
  }
  if (arguments.has("certificate")) write_proof(arguments, *answer.certificate);
  std::optional<MapAudit> audit;
  if (arguments.has("audit"))
    audit = audit_claim(*answer.certificate, answer.json.at("lower_bound").get<double>(), arguments.threads(),
                        interrupt.token());
  if (arguments.has("json")) {
    nlohmann::ordered_json json = network_json(words, workload, tasks, answer);
    if (audit) json["audit"] = audit->json();
    face.out << json.dump(2) << "\n";
  } else {
    if (workload.graph)
      face.out << fmt::format("{} as a network: tensors {}; --layers maps every layer by itself\n\n", workload.name,
                              request.tiles  ? "stay on chip or pass in tiles where that is best"
                              : request.stay ? "stay on chip where that is best"
                                             : "live outside between layers");
    face.out << answer.text;
    if (audit) face.out << audit->text();
  }
  if (interrupt.asked()) return 130;
  return audit ? audit->exit_code() : 0;
}

}  // namespace pliant
