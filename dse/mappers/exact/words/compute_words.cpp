// SPDX-License-Identifier: Apache-2.0
// The words that compute units ask their memory for.
#include <array>
#include <cmath>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/words/costs.h"
#include "dse/mappers/exact/words/network_rounds.h"
#include "dse/mappers/exact/words/windows.h"

namespace pliant::exact {

double window_sharing(const ResolvedTask& resolved, const Spatial& spatial, const KeeperPair& pair) {
  const Problem& p = resolved.problem;
  const auto all_networks = networks_between(p, pair.parent, p.levels);
  const bool loops_divide = !may_be_imperfect(resolved.rules.factorization, false);
  const auto different = [&](const Problem::AffineRank& rank, std::pair<int, int> network) {
    const double units = spatial_between(spatial, dims_of(rank), network.first - 1, network.second + 1);
    const Sharing s = sharing(p, network, pair.tensor);
    const bool innermost = network.second == p.levels - 1;
    if (s.partial) return (innermost ? fewest_windows(spatial, rank, network, true) : 1.0) / units;
    std::array<double, kMaxDims> one;
    one.fill(1);
    if (s.shared && !resolved.perfect && unrolls_alone(spatial, rank, network, all_networks)) {
      if (!innermost) return least_share_of_windows(spatial, rank, network, p.levels, one, p.size, loops_divide);
      // Which rounds ask is known where every one does.
      if (!resolved.compute_runs) {
        double served = words_of_rounds(spatial, rank, network, p.size, one, [](const auto&) { return 1.0; });
        for (const int d : members(dims_of(rank))) served /= p.size[d];
        return served;
      }
    }
    if (innermost) return windows(spatial, rank, network, one, s.shared) / units;
    if (s.shared && resolved.perfect)
      return fewest_windows_beyond(spatial, rank, network, p.levels, one, p.size) / units;
    return fewest_windows(spatial, rank, network, s.shared) / units;
  };
  double share = 1;
  for (const Problem::AffineRank& rank : p.affine[pair.tensor])
    for (const auto& network : all_networks) share *= different(rank, network);
  return at_least<"L5.12">(share, 0);
}

double compute_words(const ResolvedTask& resolved, const Spatial& spatial, const KeeperPair& pair, DimSet except) {
  const Problem& p = resolved.problem;
  const int x = pair.tensor;
  double words = p.simple_words[x];
  for (int d = 0; d < p.dims; ++d) {
    const DimSet bit = only(d);
    if (p.affine_dims[x] & bit) words *= p.size[d];
    if ((p.coupled[x] | except) & bit) continue;
    double shared = 1;
    for (int l = pair.parent + 1; l < p.levels; ++l)
      if (!p.is_memory[l] && (x == p.output ? p.reduction[l] : p.multicast[l]))
        shared *= static_cast<double>(spatial.factor[l][d]);
    // Each time a word is asked for it serves at most so many iterations.
    words *= shared == 1 ? p.size[d] : std::ceil(p.size[d] / shared);
  }
  return at_least<"L5.13">(words, 0) * window_sharing(resolved, spatial, pair);
}

}  // namespace pliant::exact
