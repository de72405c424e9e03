// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/random/random_mapper.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/arithmetic.h"
#include "dse/mappers/mapper_options.h"
#include "dse/mappers/space.h"
#include "flex/mapspace/random_draws.h"
#include "flex/mapspace/sampler.h"

namespace pliant {

namespace {

// Streams are drawn in parallel and absorbed one after the other, as if a single search had drawn them in that order:
// the answer depends on the seed, not on the threads. More threads than streams find nothing to do.
constexpr std::size_t kStreams = 16;
constexpr std::size_t kDrawsPerRound = 32;      ///< valid mappings of each stream
constexpr std::uint64_t kTriesPerRound = 8192;  ///< of each stream, valid or not

struct Drawn {
  Mapping mapping;  ///< only of those that improve on what the stream knew
  Totals totals;
  double value = 0;
  std::uint64_t tries = 0;  ///< illegal ones just before
};

struct Stream {
  std::mt19937_64 random;
  Sampler sampler;
  Pricer pricer;
  std::vector<Drawn> drawn;
  std::uint64_t tries_after = 0;  ///< illegal ones since the last drawn
};

/// One round of a stream. `to_beat` is the best of all streams so far.
void draw(const Space& space, Deadline deadline, double to_beat, Stream& stream) {
  stream.drawn.clear();
  stream.tries_after = 0;
  for (std::uint64_t tries = 0; tries < kTriesPerRound && stream.drawn.size() < kDrawsPerRound; ++tries) {
    if (deadline.reached()) return;
    if (!stream.sampler.draw(stream.random)) {
      ++stream.tries_after;
      continue;
    }
    Drawn one;
    stream.pricer.load(stream.sampler.candidate());
    one.totals = stream.pricer.price();
    one.value = task_value(space.task, one.totals);
    if (one.value <= to_beat) {
      to_beat = one.value;
      one.mapping = space.mapping(stream.sampler.candidate());
    }
    one.tries = std::exchange(stream.tries_after, 0);
    stream.drawn.push_back(std::move(one));
  }
}

class RandomMapper final : public Mapper {
 public:
  std::string_view name() const override { return "random"; }

  SearchResult search(const Task& task, const SearchOptions& options) const override {
    double victory = 3000, most_tries = 2e6;
    read_mapper_options(name(), options, {{"victory", &victory, 1, 1e12}, {"tries", &most_tries, 1, 1e12}});
    Deadline deadline(options, 32);
    const Space space(task);
    const Sampler sampler(space);
    std::vector<Stream> streams;
    for (std::size_t s = 0; s < kStreams; ++s)
      streams.push_back({random_stream(options.seed, s), sampler, Pricer(space), {}, 0});
    SearchResult result;
    if (sampler.empty()) {
      result.infeasible = true;
      result.ended_by = EndedBy::kProof;
      result.seconds = deadline.seconds();
      return result;
    }
    const std::uint64_t most =
        options.budget.evaluations > 0 ? options.budget.evaluations : std::numeric_limits<std::uint64_t>::max();
    tbb::task_arena arena(std::max(1, options.threads));
    std::uint64_t without_improvement = 0, without_valid = 0;
    const auto absorb = [&](Drawn& one) {
      without_valid = 0;
      ++result.evaluations;
      if (!result.mapping || better(one.value, one.totals, result.value, result.totals)) {
        result.mapping = std::move(one.mapping);
        result.totals = one.totals;
        result.value = one.value;
        without_improvement = 0;
        if (options.on_progress) options.on_progress({result.value, 0, result.evaluations, deadline.seconds()});
      } else if (++without_improvement >= static_cast<std::uint64_t>(victory)) {
        result.ended_by = EndedBy::kVictoryCondition;
      }
      if (result.evaluations >= most) result.ended_by = EndedBy::kEvaluations;
    };
    while (result.ended_by == EndedBy::kNothing) {
      arena.execute([&] {
        const double to_beat = result.mapping ? result.value : kInfinity;
        tbb::parallel_for(std::size_t{0}, kStreams, [&](std::size_t s) { draw(space, deadline, to_beat, streams[s]); });
      });
      for (Stream& stream : streams) {
        for (Drawn& one : stream.drawn) {
          absorb(one);
          if (result.ended_by != EndedBy::kNothing) break;
        }
        without_valid += stream.tries_after;
        if (without_valid >= static_cast<std::uint64_t>(most_tries) && result.ended_by == EndedBy::kNothing)
          result.ended_by = EndedBy::kNoValidMappingDrawn;
        if (result.ended_by != EndedBy::kNothing) break;
      }
      if (deadline.look() && result.ended_by == EndedBy::kNothing)
        result.ended_by = deadline.stopped() ? EndedBy::kStopped : EndedBy::kBudget;
    }
    result.seconds = deadline.seconds();
    return result;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_random_mapper() { return std::make_unique<RandomMapper>(); }

}  // namespace pliant
