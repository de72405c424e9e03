// SPDX-License-Identifier: Apache-2.0
// Everything Timeloop's files say, as plain data: what each component is, what constraints and a mapping ask of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/input/cursor.h"
#include "core/layer.h"
#include "dse/import/imported.h"

namespace pliant::timeloop {

/// "R=3", "C<=16".
struct Factor {
  std::string dim;
  char relation = '=';  ///< '=', '<' (at most) or '>' (at least)
  Count value = 1;      ///< 0 = whatever is left
};

/// A constraint, or a step of a mapping.
struct Directive {
  enum class Kind { kTemporal, kSpatial, kDataspace };
  Kind kind = Kind::kTemporal;
  std::string target;
  Position at;
  std::vector<Factor> factors;
  std::vector<std::string> permutation;  ///< innermost first
  std::optional<Count> split;            ///< so many of the permutation's dims go to X, the others to Y
  std::vector<std::string> keep, bypass;
  bool others_one = false;               ///< factors_only: every dim not listed has the factor 1
  bool bypass_others = false;            ///< keep_only: what is not kept bypasses
  std::vector<std::string> no_loops_of;  ///< data spaces whose dims have the factor 1
};

/// Name -> text of its value, which may be an expression of other names.
using Variables = std::map<std::string, std::string>;

struct Component {
  std::string name, type;  ///< type: the class
  Position at;
  Count x = 1, y = 1;  ///< copies inside one instance of the component before it
  bool is_compute = false;
  bool is_network = false;  ///< keeps nothing: only the copies below it matter
  Variables attributes;
  std::map<std::string, double> energy_pj;  ///< of an action
  std::optional<double> area_um2;
};

struct Architecture {
  std::string name;
  std::vector<Component> components;  ///< outermost first, the compute last
  std::vector<Directive> constraints;
};

/// A problem with the names of its file: which of our layer's dims stands for which of its dims.
struct Problem {
  Layer layer;
  std::map<std::string, int> dims;     ///< -1: the layer does not have it because it is of size 1
  std::map<std::string, int> tensors;  ///< data space -> tensor of the layer
};

/// "R=3,P=1" or [R=3, P=1].
std::vector<Factor> read_factors(const Cursor& cursor);
/// "PRKC", "P,R" or [P, R].
std::vector<std::string> read_names(const Cursor& cursor, bool letters);
/// One entry of a mapping or of a list of constraints; nothing after noting problems or for what says nothing.
std::optional<Directive> read_directive(const Cursor& entry, ImportLog& log);

/// `variables`: names that expressions in attributes may use.
std::optional<Architecture> read_architecture(const Cursor& architecture, const Variables& variables, ImportLog& log);
std::vector<Directive> read_directives(const Cursor& list, ImportLog& log);
void read_energies(const Cursor& table, Architecture& architecture, ImportLog& log);
void read_areas(const Cursor& table, Architecture& architecture, ImportLog& log);
std::optional<Problem> read_problem(const Cursor& problem, const std::string& name, ImportLog& log);

}  // namespace pliant::timeloop
