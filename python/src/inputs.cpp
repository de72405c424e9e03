// SPDX-License-Identifier: Apache-2.0
#include "src/inputs.h"

#include <nlohmann/json.hpp>

#include "dse/answers/show_json.h"
#include "dse/answers/show_text.h"
#include "dse/import/open.h"
#include "src/bindings.h"

namespace pliant::python {
namespace {

std::optional<Library> the_library;

LoadedAccelerator read(LoadedAccelerator loaded) {
  loaded.accelerator = loaded.in_memory ? parse_accelerator_text(library(), loaded.source, kInMemory, loaded.settings)
                                        : open_accelerator(library(), loaded.source, loaded.settings);
  loaded.accelerator =
      with_chosen_rules(library(), "pliant", std::move(loaded.accelerator), loaded.flexibility, loaded.conventions);
  return loaded;
}

LoadedAccelerator load_accelerator(std::string source, bool in_memory, std::vector<Setting> settings,
                                   std::optional<std::string> flexibility, std::optional<std::string> conventions) {
  return read({std::move(source), in_memory, std::move(settings), std::move(flexibility), std::move(conventions), {}});
}

/// Later settings win, as on the command line.
LoadedAccelerator set(LoadedAccelerator loaded, const std::vector<Setting>& settings,
                      std::optional<std::string> flexibility, std::optional<std::string> conventions) {
  loaded.settings.insert(loaded.settings.end(), settings.begin(), settings.end());
  if (flexibility) loaded.flexibility = std::move(flexibility);
  if (conventions) loaded.conventions = std::move(conventions);
  return read(std::move(loaded));
}

LoadedWorkload load_workload(std::string source, bool in_memory) {
  Workload workload = in_memory ? parse_workload_text(source, kInMemory) : open_workload(library(), source);
  return {std::move(source), in_memory, std::move(workload)};
}

LoadedLayer load_layer(const std::string& source, bool in_memory, const LoadedWorkload* workload) {
  if (in_memory) return {parse_layer_text(source, kInMemory), std::nullopt, std::nullopt};
  LoadedLayer loaded{resolve_layer(source, workload == nullptr ? nullptr : &workload->workload), source, std::nullopt};
  if (workload != nullptr && workload->in_memory) loaded.text.reset();
  if (workload != nullptr && !workload->in_memory) loaded.workload = workload->source;
  return loaded;
}

std::vector<std::pair<std::string, Count>> layer_counts(const LoadedWorkload& loaded) {
  std::vector<std::pair<std::string, Count>> all;
  for (const Workload::Entry& entry : loaded.workload.layers) all.emplace_back(entry.layer.name, entry.count);
  return all;
}

LoadedLayer layer_at(const LoadedWorkload& loaded, std::size_t index) {
  LoadedLayer layer{loaded.workload.layers.at(index).layer, std::nullopt, std::nullopt};
  if (loaded.in_memory) return layer;
  layer.text = layer.layer.name;
  layer.workload = loaded.source;
  return layer;
}

std::vector<std::pair<std::string, Count>> dims(const LoadedLayer& loaded) {
  std::vector<std::pair<std::string, Count>> all;
  for (const Dim& dim : loaded.layer.dims) all.emplace_back(dim.name, dim.size);
  return all;
}

}  // namespace

const Library& library() {
  if (!the_library) throw std::logic_error("the package has not said where its configurations are");
  return *the_library;
}

Shard shard_of(std::pair<int, int> given) {
  const auto [index, count] = given;
  if (count < 1 || index < 0 || index >= count)
    throw bad_option("pliant", "--shard", "not a shard", "(I, N) with I from 0 to N-1");
  return {index, count};
}

TaskWords words_of(const LoadedAccelerator& accelerator) {
  TaskWords words;
  words.command = "pliant";
  words.accelerator = accelerator.source;
  words.conventions = accelerator.conventions;
  words.flexibility = accelerator.flexibility;
  for (const auto& [key, value] : accelerator.settings) words.settings.push_back(key + "=" + value);
  return words;
}

std::optional<TaskWords> words_of(const LoadedLayer& layer, const LoadedAccelerator& accelerator) {
  if (!layer.text || accelerator.in_memory) return std::nullopt;
  TaskWords words = words_of(accelerator);
  words.workload = layer.workload;
  words.layer = layer.text;
  return words;
}

void bind_inputs(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "use_configs", [](const std::filesystem::path& configs) { the_library.emplace(configs); }, "configs"_a);
  module.def("shipped_accelerators", [] { return library().accelerator_names(); });
  module.def("shipped_workloads", [] { return library().workload_names(); });

  nb::class_<LoadedAccelerator>(module, "Accelerator")
      .def_prop_ro("name", [](const LoadedAccelerator& a) { return a.accelerator.name; })
      .def_prop_ro("description", [](const LoadedAccelerator& a) { return a.accelerator.description; })
      .def_prop_ro("mac_units", [](const LoadedAccelerator& a) { return a.accelerator.macs_units(); })
      .def_ro("settings", &LoadedAccelerator::settings)
      .def("set", &set, "settings"_a, "flexibility"_a.none(), "conventions"_a.none())
      .def("json", [](const LoadedAccelerator& a) { return show_json(a.accelerator).dump(); })
      .def("text", [](const LoadedAccelerator& a) { return show_text(a.accelerator, false); })
      .def("yaml", [](const LoadedAccelerator& a) { return write_accelerator(a.accelerator); });
  nb::class_<LoadedLayer>(module, "Layer")
      .def_prop_ro("name", [](const LoadedLayer& l) { return l.layer.name; })
      .def_prop_ro("macs", [](const LoadedLayer& l) { return l.layer.macs(); })
      .def_prop_ro("dims", &dims)
      .def("json", [](const LoadedLayer& l) { return show_json(l.layer).dump(); })
      .def("text", [](const LoadedLayer& l) { return show_text(l.layer, false); })
      .def("yaml", [](const LoadedLayer& l) { return write_layer(l.layer); });
  nb::class_<LoadedWorkload>(module, "Workload")
      .def_prop_ro("name", [](const LoadedWorkload& w) { return w.workload.name; })
      .def_prop_ro("description", [](const LoadedWorkload& w) { return w.workload.description; })
      .def_ro("source", &LoadedWorkload::source)
      .def_ro("in_memory", &LoadedWorkload::in_memory)
      .def("layer_counts", &layer_counts)
      .def("layer_at", &layer_at, "index"_a)
      .def("json", [](const LoadedWorkload& w) { return show_json(w.workload).dump(); })
      .def("text", [](const LoadedWorkload& w) { return show_text(w.workload, false); })
      .def("yaml", [](const LoadedWorkload& w) { return write_workload(w.workload); });

  const nb::call_guard<nb::gil_scoped_release> unlocked;
  module.def("load_accelerator", &load_accelerator, "source"_a, "in_memory"_a, "settings"_a, "flexibility"_a.none(),
             "conventions"_a.none(), unlocked);
  module.def("load_workload", &load_workload, "source"_a, "in_memory"_a, unlocked);
  module.def("load_layer", &load_layer, "source"_a, "in_memory"_a, "workload"_a.none(), unlocked);
}

}  // namespace pliant::python
