// SPDX-License-Identifier: Apache-2.0
// What charts show and in which colours: dse/report/page/charts/measures.json, shared with the page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pliant {

const nlohmann::ordered_json& measures();

/// A column of the designs as it stands on an axis.
struct Metric {
  std::string name, title, unit;
  double scale = 1;  ///< of the column's values
  std::string format;
  std::string axis() const { return unit.empty() ? title : title + " (" + unit + ")"; }
  std::string word() const { return name.substr(0, name.find('_')); }  ///< "edp", for file names
};
bool has_metric(std::string_view name);
/// std::logic_error when there is none of that name.
const Metric& metric(std::string_view name);

/// "382 k": three digits and a prefix.
std::string si_text(double value);

}  // namespace pliant
