// SPDX-License-Identifier: Apache-2.0
// What works with what, as data: the traits that a question can have, and the pairs of them that do not go together.
#pragma once

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pliant {

enum class Trait : std::uint8_t {
  // What is asked.
  kMap,
  kWorkload,
  kNetwork,
  kFrontier,
  kSweep,
  kDesign,
  kVerify,
  kTimeloop,
  kZigzag,
  kC,
  kFlexion,
  kCount,
  // From where.
  kCommandLine,
  kPython,
  // Who searches.
  kExact,
  kLocal,
  kGenetic,
  kRandom,
  kExhaustive,
  kGoma,
  // Which bounds are allowed, how accesses are counted, what is minimised.
  kPerfect,
  kRubyS,
  kRubyT,
  kRuby,
  kPadding,
  kPhysical,
  kTimeloopRules,
  kQuickflow,
  kRuntime,
  kEnergy,
  kEdp,
  kEd2p,
  kPerfPerWatt,
  kEdpOverUtilization,
  // Layers.
  kGemm,
  kConv,
  kStrided,
  kDilated,
  kGrouped,
  kDepthwise,
  kTransposed,
  kEinsum,
  // Accelerators and their rules.
  kBits,
  kFinishedOnly,  ///< a memory takes no partial sums
  kBus,
  kPortsByRole,
  kNetworkEnergy,
  kSystolic,
  kLeakage,
  kClock,
  kBurst,
  kPartition,
  kClass,
  kHints,
  // Searches and what becomes of them.
  kGap,
  kBudget,
  kThreads,
  kSave,
  kCertificate,
  kPredict,  ///< what a good kernel takes, beside the bound
  // Networks.
  kUnrelated,  ///< the workload has no graph
  kResidency,  ///< tensors may stay on chip; the opposite is kOutside
  kOutside,
  kTiles,  ///< layers may pass tiles on
  kInferences,
  kDeadline,
  // Mappings, and how they are counted.
  kRemainders,
  kPadded,
  kSplitDims,  ///< two loops over one dim at a level
  kLegal,      ///< count --legal
  kServed,     ///< a language model that is served
};
inline constexpr std::size_t kTraitCount = static_cast<std::size_t>(Trait::kServed) + 1;

/// Of the traits of one group a question has one; of those of kOptions, any.
enum class TraitGroup : std::uint8_t {
  kQuestions,
  kFaces,
  kMappers,
  kFactorizations,
  kConventions,
  kObjectives,
  kLayers,
  kOptions,
};

struct TraitInfo {
  Trait trait;
  TraitGroup group;
  std::string_view name;    ///< of a group with words of its own, that word: "ruby-s", "edp"
  std::string_view option;  ///< where a user says it: "--gap"; empty = in a file
};
std::span<const TraitInfo> all_traits();
const TraitInfo& info_of(Trait trait);
/// nullopt when the group has no such word.
std::optional<Trait> trait_named(TraitGroup group, std::string_view name);

class Traits {
 public:
  Traits() = default;
  Traits(std::initializer_list<Trait> some) {
    for (const Trait one : some) add(one);
  }
  Traits& add(Trait one) {
    bits_.set(static_cast<std::size_t>(one));
    return *this;
  }
  Traits& add_if(bool has, Trait one) { return has ? add(one) : *this; }
  /// By its word in a group; what the group does not know is for somebody else to refuse.
  Traits& add(TraitGroup group, std::string_view name);
  bool has(Trait one) const { return bits_.test(static_cast<std::size_t>(one)); }
  /// The first of these that it has.
  std::optional<Trait> first_of(const Traits& others) const;

 private:
  std::bitset<kTraitCount> bits_;
};

/// What has one of the first does not work with any of the second.
struct Refusal {
  Traits beside, refused;
  std::string_view what;     ///< `{}` stands for the name of the first
  std::string_view instead;  ///< what to do
};
std::span<const Refusal> refusals();

/// A question that has nothing to do with some traits: there is no option for them, and none is missed.
struct Absence {
  Trait question;
  Traits traits;
};
std::span<const Absence> absences();

struct Refused {
  Trait beside, refused;
  std::string what, instead;
};
/// The first pair that does not work.
std::optional<Refused> refused(const Traits& question);

/// InputError that says so and what to do instead; `command` as in "pliant map". `option`: where the user said it, if
/// that is not the option of the trait.
void check_works(std::string_view command, const Traits& question, std::string_view option = {});

/// docs/combinations.md.
std::string combinations_page();

}  // namespace pliant
