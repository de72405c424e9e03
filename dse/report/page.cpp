// SPDX-License-Identifier: Apache-2.0
#include "dse/report/page.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/version.h"
#include "dse/report/compact_json.h"
#include "dse/report/markup.h"
#include "dse/report/resources.h"
#include "dse/report/venn.h"
#include "dse/results/content_hash.h"

namespace pliant {

using nlohmann::ordered_json;

namespace {

/// In the order in which they build on each other; one script of them all.
constexpr const char* kScripts[] = {
    "data.js",      "format.js",    "theme.js",       "files.js",    "charts.js",  "together.js",   "filters.js",
    "frontier.js",  "recommend.js", "flexibility.js", "hardware.js", "space.js",   "design.js",     "inside.js",
    "residency.js", "mapping.js",   "compare.js",     "venn.js",     "serving.js", "provenance.js", "main.js"};
constexpr const char* kSpecs[] = {"frontier", "knee",      "classes", "isolation",   "overhead", "flexion",
                                  "array",    "scaling",   "stacked", "utilization", "roofline", "timeline",
                                  "bars",     "layerbars", "space",   "residency",   "serving"};

std::string dump(const ordered_json& json) { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

std::string packed(const ordered_json& json) { return base64(gzip(dump(json))); }

/// For the policy: only scripts with these hashes run, whatever a name in the data may try.
std::string script_hash(const std::string& script) {
  const std::string hex = sha256(script);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::strtol(hex.substr(i, 2).c_str(), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

ordered_json designs_json(const ReportData& data) {
  ordered_json columns = ordered_json::array();
  const auto infos = column_infos(TableKind::kDesigns);
  for (const DataColumn& column : data.designs.columns) {
    ordered_json one = compact_column(column);
    for (const ColumnInfo& info : infos)
      if (info.name == column.name) one.update({{"unit", info.unit}, {"meaning", info.meaning}});
    columns.push_back(std::move(one));
  }
  return {{"rows", data.designs.rows()}, {"columns", std::move(columns)}};
}

/// Sizes and circles: [c, a, w, a and w, c and w, H-F, W-F, radius of C, x and radius of W, x and radius of A].
ordered_json venn_json(const ReportData& data) {
  ordered_json panels = ordered_json::array(), of = ordered_json::array();
  for (const VennPanel& panel : data.sets) {
    const VennCircles circles = venn_circles(panel);
    ordered_json one = ordered_json::array();
    for (const double value : {panel.c, panel.a, panel.w, panel.a_and_w, panel.c_and_w, panel.h_f, panel.w_f,
                               circles.c.radius, circles.w.x, circles.w.radius, circles.a.x, circles.a.radius})
      one.push_back(compact_number(value));
    panels.push_back(std::move(one));
  }
  for (const auto& axes : data.sets_of) of.push_back(axes);
  return {{"panels", std::move(panels)}, {"of", std::move(of)}};
}

/// Each kind of design's [[component, um2], ...], and which kind every row is.
ordered_json areas_json(const ReportData& data) {
  ordered_json kinds = ordered_json::array();
  for (const auto& parts : data.areas) {
    ordered_json one = ordered_json::array();
    for (const auto& [component, area] : parts) one.push_back(ordered_json::array({component, compact_number(area)}));
    kinds.push_back(std::move(one));
  }
  return {{"kinds", std::move(kinds)}, {"of", data.areas_of}};
}

ordered_json provenance_json(const ReportData& data) {
  ordered_json json;
  json["report_by"] = version();
  json["damaged"] = data.damaged;
  json["parts_missing"] = data.parts_missing;
  if (data.over_limit > 0) json["over_limit"] = data.over_limit;
  if (!data.manifest) return json;
  const Manifest& m = *data.manifest;
  json["sweep"] = m.sweep_name;
  json["sweep_sha256"] = m.sweep_sha256;
  json["start"] = m.start;
  json["end"] = m.end;
  json["designs"] = m.designs;
  json["designs_raw"] = m.designs_raw;
  json["parts"] = m.parts;
  json["seed"] = m.seed;
  json["options"] = ordered_json::array();
  for (const auto& [key, value] : m.options) json["options"].push_back(ordered_json::array({key, value}));
  json["axes"] = ordered_json::array();
  for (std::size_t a = 0; a < m.axes.size(); ++a) {
    const AxisColumn& axis = m.axes[a];
    json["axes"].push_back(ordered_json::array({axis.key, axis.column, axis.unit}));
    if (a < m.axis_ends.size() && m.axis_ends[a])
      for (const double end : {m.axis_ends[a]->first, m.axis_ends[a]->second})
        json["axes"].back().push_back(compact_number(end));
  }
  json["inputs"] = ordered_json::array();
  for (const Manifest::Input& input : m.inputs)
    json["inputs"].push_back(ordered_json::array({input.what, input.name, input.sha256}));
  json["versions"] = ordered_json::array();
  json["versions"].push_back(ordered_json::array({"pliant", m.pliant_version}));
  json["versions"].push_back(ordered_json::array({"compiler", m.compiler}));
  for (const Manifest::Library& library : m.libraries)
    json["versions"].push_back(ordered_json::array({library.name, library.version}));
  return json;
}

ordered_json certificates_json(const CertificateSummary& all) {
  ordered_json json{{"layers", all.layers},         {"solved", all.solved},
                    {"certified", all.certified},   {"max_gap", all.max_gap},
                    {"max_gap_at", all.max_gap_at}, {"ended_by", all.ended_by},
                    {"by_status", all.by_status},   {"more_reasons", all.more_reasons}};
  json["reasons"] = ordered_json::array();
  for (const CertificateSummary::Reason& reason : all.reasons)
    json["reasons"].push_back(
        {{"status", reason.status}, {"reason", reason.reason}, {"example", reason.example}, {"layers", reason.layers}});
  return json;
}

/// The template with every `@mark@` replaced, each once and in this order; what is put in is not looked at again.
std::string assembled(const std::string& page, const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string whole;
  std::size_t from = 0;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark, from);
    if (at == std::string::npos) throw std::logic_error("page.html lacks " + std::string(mark));
    whole.append(page, from, at - from).append(text);
    from = at + mark.size();
  }
  return whole.append(page, from);
}

}  // namespace

std::string report_page(const ReportData& data, const LayerDetails& details) {
  ordered_json all{{"schema", 1}};
  all["designs"] = designs_json(data);
  all["varied"] = data.varied;
  all["venn"] = venn_json(data);
  all["areas"] = areas_json(data);
  all["space"] = data.space;
  all["provenance"] = provenance_json(data);
  all["certificates"] = certificates_json(data.certificates);
  all["details"] = {{"designs", details.designs}, {"layer_rows", details.layer_rows}};
  for (const char* name : kSpecs)
    all["specs"][name] = ordered_json::parse(resource("charts/" + std::string(name) + ".vl.json"));
  all["measures"] = ordered_json::parse(resource("charts/measures.json"));
  all["theme"] = ordered_json::parse(resource("charts/theme.json"));

  std::string script;
  for (const char* name : kScripts) script += resource(name);
  const std::string vega = resource("vega.js");
  // Nothing from outside, no other script than these two, no eval.
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {} {}; style-src 'unsafe-inline'; img-src data:; font-src 'none'; connect-src "
      "'none'; "
      "base-uri 'none'; form-action 'none'",
      script_hash(vega), script_hash(script));

  const std::string name = data.manifest ? data.manifest->sweep_name : "dataset";
  return assembled(resource("page.html"), {{"@policy@", policy},
                                           {"@title@", markup_text(name) + " - Pliant"},
                                           {"@style@", resource("page.css")},
                                           {"@designs@", packed(all)},
                                           {"@details@", packed(details.json)},
                                           {"@vega@", vega},
                                           {"@script@", script}});
}

}  // namespace pliant
