// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/transfers.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/audit/index_values.h"

namespace pliant::audit {

Measures::Measures(const Problem& problem) : ports(problem.ports) {}

void Measures::charge(std::vector<double>& per_word, int tensor, int level, bool write, double words,
                      double copies) const {
  for (std::size_t i = 0; i < ports.size(); ++i)
    if (ports[i].level == level && ((write ? ports[i].writes : ports[i].reads) >> tensor & 1U) != 0)
      per_word[i + 1] += words / (ports[i].bandwidth * copies);
}

ChoiceTransfers::ChoiceTransfers(const Problem& problem, const Measures& measures, const Factors& unrolling,
                                 const Kept& kept, Factorization factorization, bool differences)
    : p_(problem),
      factorization_(factorization),
      remainders_(factorization != Factorization::kPerfect),
      differences_(differences),
      transfers_(static_cast<std::size_t>(problem.tensors)) {
  spread(unrolling);
  for (int x = 0; x < p_.tensors; ++x) {
    int child = p_.levels;
    std::size_t memory = kept.size();
    for (int l = p_.levels - 1; l >= 0; --l) {
      if (!p_.is_memory[l] || !(kept[--memory] >> x & 1U)) continue;
      Transfer transfer = make_transfer(measures, x, l, child);
      const Transfer* const inner = transfers_[x].empty() ? nullptr : &transfers_[x].back();
      if (x == p_.output)
        charge_output(measures, transfer, inner);
      else
        charge_input(measures, transfer);
      charge_array(measures, transfer);
      transfers_[x].push_back(std::move(transfer));
      child = l;
    }
  }
}

void ChoiceTransfers::spread(const Factors& unrolling) {
  for (auto& level : factor_) level.fill(1);
  std::size_t at = 0;
  for (int l = 0; l < p_.levels; ++l)
    if (!p_.is_memory[l])
      for (int d = 0; d < p_.dims; ++d) factor_[l][d] = unrolling[at++];
  inside_[p_.levels].fill(1);
  for (int l = p_.levels - 1; l >= 0; --l)
    for (int d = 0; d < p_.dims; ++d) inside_[l][d] = l + 1 > p_.levels ? 1 : inside_[l + 1][d] * factor_[l + 1][d];
  double copies = 1;
  for (int l = 0; l <= p_.levels; ++l) {
    copies_[l] = copies;
    for (int d = 0; d < p_.dims; ++d) copies *= static_cast<double>(factor_[l][d]);
  }
  steps_ = p_.cycles_per_mac;
  for (int d = 0; d < p_.dims; ++d) {
    left_[d] = static_cast<Count>(p_.size[d]) / (inside_[0][d] * factor_[0][d]);
    steps_ *= static_cast<double>(left_[d]);
  }
}

double ChoiceTransfers::copies_outside(int level, DimSet dims) const {
  double copies = 1;
  for (int l = 0; l < level; ++l) for_each_bit(dims, [&](int d) { copies *= static_cast<double>(factor_[l][d]); });
  return copies;
}

std::uint32_t ChoiceTransfers::fanouts_between(int parent, int child) const {
  return p_.fanouts & below(child) & ~below(parent);
}

/// Copies under fanouts that cannot share a word between them.
double ChoiceTransfers::unshared(const Transfer& transfer) const {
  const DimSet uncoupled = below(p_.dims) & ~p_.coupled[transfer.tensor];
  double copies = 1;
  for_each_bit(fanouts_between(transfer.parent, transfer.child) & ~p_.sharing[transfer.tensor],
               [&](int l) { for_each_bit(uncoupled, [&](int d) { copies *= static_cast<double>(factor_[l][d]); }); });
  return copies;
}

Transfer ChoiceTransfers::make_transfer(const Measures& measures, int x, int parent, int child) const {
  Transfer t;
  t.tensor = x;
  t.parent = parent;
  t.child = child;
  t.served.assign(measures.size(), 0);
  t.delivered = t.constant = t.read_back = t.fill = t.served;
  const DimSet uncoupled = below(p_.dims) & ~p_.coupled[x];
  const double parents = copies_outside(parent, uncoupled), children = copies_outside(child, uncoupled);
  t.served_words = p_.simple_words[x] * parents * unshared(t) * copies_outside(parent, p_.affine_dims[x]);
  t.delivered_words = p_.simple_words[x] * children * copies_outside(child, p_.affine_dims[x]);
  // Every copy of the parent serves each element of the tensor once, at least.
  t.least_served = p_.tensor_words[x] * (remainders_ ? 1 : parents);
  t.least_delivered = p_.tensor_words[x] * (remainders_ ? 1 : children);
  if (child == p_.levels) least_towards_compute(t);
  return t;
}

void ChoiceTransfers::charge_input(const Measures& measures, Transfer& t) const {
  const double parent_words = p_.element_words[t.parent][t.tensor];
  t.served[0] = parent_words * p_.read_pj[t.parent];
  measures.charge(t.served, t.tensor, t.parent, false, parent_words, copies_[t.parent]);
  if (t.child == p_.levels) return charge_compute_network(t);
  t.delivered[0] += parent_words * p_.word_bits[t.parent] * network_pj(t);
  const double child_words = p_.element_words[t.child][t.tensor];
  t.delivered[0] += child_words * p_.write_pj[t.child];
  measures.charge(t.delivered, t.tensor, t.child, true, child_words, copies_[t.child]);
}

/// Energy of a bit in the networks of a transfer, for every word delivered. Children that may share what passes a
/// fanout outside their own pay a part of it each.
double ChoiceTransfers::network_pj(const Transfer& t) const {
  double pj = 0;
  for_each_bit(fanouts_between(t.parent, t.child) & p_.networks, [&](int l) {
    double sharing = 1;
    for_each_bit(fanouts_between(l + 1, t.child) & p_.sharing[t.tensor], [&](int inner) {
      for (int d = 0; d < p_.dims; ++d)
        if (!p_.is_coupled(t.tensor, d)) sharing *= static_cast<double>(factor_[inner][d]);
    });
    pj += p_.network_pj[l] / sharing;
  });
  return pj;
}

/// Every MAC takes or gives a word; where operands stay at the compute units, no fewer than are served.
void ChoiceTransfers::charge_compute_network(Transfer& t) const {
  const double pj = network_pj(t) * p_.element_words[t.parent][t.tensor] * p_.word_bits[t.parent];
  const bool stays = p_.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory &&
                     t.parent != p_.innermost_memory;
  (stays ? t.served : t.constant)[0] += stays ? pj : pj * p_.macs;
}

/// A systolic array shifts every tile of the tensor that stays in it through its rows and runs full and empty for it.
/// A copy is given no more words than there are tiles times words of a tile. A memory with several buffers takes a tile
/// while the one before is in use.
void ChoiceTransfers::charge_array(const Measures& measures, Transfer& t) const {
  for (std::size_t i = 0; i < measures.ports.size(); ++i) {
    const Port& array = measures.ports[i];
    if (array.stationary != t.tensor || (fanouts_between(t.parent, t.child) >> array.level & 1U) == 0) continue;
    const double least_steps = remainders_ ? p_.macs * p_.cycles_per_mac / copies_[p_.levels] : steps_;
    const bool boxes = p_.conventions.footprint == Conventions::Footprint::kBoundingBox && !p_.affine[t.tensor].empty();
    if (t.child == p_.levels || boxes || array.once) {  // at least one tile
      t.constant[i + 1] += least_steps + array.shift + array.skew;
      continue;
    }
    if (p_.accelerator.levels[static_cast<std::size_t>(t.child)].memory().buffers > 1) {
      // Tiles come in one after the other, behind steps; after the last one its steps are left, one at least.
      t.constant[i + 1] += array.skew + p_.cycles_per_mac;
      t.delivered[i + 1] += array.shift / copies_[t.child];
      continue;
    }
    t.constant[i + 1] += least_steps;
    const auto role = static_cast<std::size_t>(p_.layer.tensors[static_cast<std::size_t>(t.tensor)].role);
    const bool lives = p_.accelerator.levels[static_cast<std::size_t>(t.child)].memory().resident[role];
    const double room = p_.capacity[t.child] / p_.element_words[t.child][t.tensor];
    const double most = lives ? p_.most_words[t.tensor] : std::min(p_.most_words[t.tensor], room);
    t.delivered[i + 1] += (array.shift + array.skew / std::max(1.0, most)) / copies_[t.child];
  }
}

/// What a finished output takes less than a partial sum at a memory, unless other copies may have parts of its sum.
double ChoiceTransfers::finished_saves(int level) const {
  return copies_outside(level, p_.summing) == 1 ? p_.finished_saves[level] : 0;
}

/// What one copy of the level works on has at most one element for each of its iterations, all copies together no more
/// than there are iterations, and each at most those of the whole tensor. A share of a bounding box may have holes, so
/// that only the whole box limits it.
double ChoiceTransfers::most_first_arrivals(int level) const {
  const int x = p_.output;
  const bool box = p_.conventions.footprint == Conventions::Footprint::kBoundingBox;
  double words = p_.simple_words[x] * copies_outside(level, below(p_.dims) & ~p_.simple[x]);
  for (const Problem::AffineRank& rank : p_.affine[x]) {
    std::array<IndexTerm, kMaxDims> whole;
    double iterations = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      whole[static_cast<std::size_t>(i)] = {rank.coefficient[i], static_cast<Count>(p_.size[d])};
      iterations *= p_.size[d] / copies_outside(level, DimSet{1} << d);
    }
    const std::span<const IndexTerm> strides(whole.data(), static_cast<std::size_t>(rank.terms));
    words *= box ? static_cast<double>(box_of_values(strides))
                 : std::min(iterations, static_cast<double>(most_values(strides)));
  }
  return words;
}

/// Outputs: every arrival is a write at the parent and, unless it is the first, reads the old value. Every arrival at
/// the child that is not the first of its copy is a fill. Draining reads the child.
void ChoiceTransfers::charge_output(const Measures& measures, Transfer& t, const Transfer* inner) const {
  const auto charge = [&](std::vector<double>& per_word, int level, bool write, double pj, double words, double fewer) {
    per_word[0] += words * pj;
    t.constant[0] -= fewer * pj;
    measures.charge(per_word, t.tensor, level, write, words, copies_[level]);
    measures.charge(t.constant, t.tensor, level, write, -fewer, copies_[level]);
  };
  const bool windows = p_.affine_dims[t.tensor] != 0;
  const bool per_sweep = p_.conventions.first_time == Conventions::FirstTime::kPerSweep;
  const DimSet uncoupled = below(p_.dims) & ~p_.coupled[t.tensor];
  const double first_parent = windows     ? most_first_arrivals(t.parent)
                              : per_sweep ? t.served_words
                                          : p_.simple_words[t.tensor] * copies_outside(t.parent, uncoupled);
  const double first_child = windows ? most_first_arrivals(t.child) : t.delivered_words;
  // Units may be idle, and overlapping windows may arrive for the first time more often than they arrive for certain:
  // then none is read back for certain.
  const bool counts_first = !remainders_ && !(windows && per_sweep);
  // An arrival that finishes an output is narrower than a partial sum, and there are as many as first arrivals. Where
  // those are not certain, any may be finished.
  const bool plain = !remainders_ && !windows;
  const double sum = p_.element_words[t.parent][t.tensor], less = finished_saves(t.parent);
  charge(t.served, t.parent, true, p_.update_pj[t.parent], plain ? sum : sum - less, plain ? first_parent * less : 0);
  if (counts_first && !(windows && !differences_ && first_parent > t.least_served))
    charge(t.served, t.parent, false, p_.read_pj[t.parent], sum, first_parent * sum);
  const double child_sum = t.child < p_.levels ? p_.element_words[t.child][t.tensor] : 0;
  const double bit_pj = network_pj(t) * p_.word_bits[t.parent];
  const bool boxes = p_.conventions.footprint == Conventions::Footprint::kBoundingBox;
  if (remainders_ && !(windows && (boxes || per_sweep))) {
    t.most_first_parent = first_parent;
    t.most_first_child = first_child;
    charge(t.read_back, t.parent, false, p_.read_pj[t.parent], sum, 0);
    if (t.child < p_.levels) {
      charge(t.fill, t.child, true, p_.write_pj[t.child], child_sum, 0);
      t.fill[0] += bit_pj * sum;
    }
    // Towards the compute units the words do not depend on tiles.
    if (t.child == p_.levels)
      for (std::size_t m = 0; m < measures.size(); ++m)
        t.constant[m] += t.read_back[m] * std::max(0.0, t.least_served - first_parent);
  }
  if (t.child == p_.levels) return charge_compute_network(t);
  const double narrower = copies_outside(t.child, p_.summing) == 1 ? p_.finished_saves[t.parent] : 0;
  t.delivered[0] += bit_pj * (plain ? sum : sum - narrower);
  if (plain) t.constant[0] -= bit_pj * first_child * narrower;
  if (counts_first && !(windows && !differences_ && first_child > t.least_delivered)) {
    charge(t.delivered, t.child, true, p_.write_pj[t.child], child_sum, first_child * child_sum);
    t.delivered[0] += bit_pj * sum;
    t.constant[0] -= bit_pj * sum * first_child;
  }
  if (p_.conventions.drain == Conventions::Drain::kFree) return;
  const double child_less = p_.conventions.drain == Conventions::Drain::kCounted ? finished_saves(t.child) : 0;
  charge(t.delivered, t.child, false, p_.read_pj[t.child], plain ? child_sum : child_sum - child_less,
         plain ? first_child * child_less : 0);
  if (p_.conventions.drain != Conventions::Drain::kParentWrites || windows || remainders_) return;
  // QuickFlow: fills of this child are writes there, for which the next child inside is drained once more.
  if (inner == nullptr || inner->child == p_.levels) return;
  const double ratio = inner->delivered_words / inner->served_words * p_.element_words[inner->child][t.tensor];
  charge(t.delivered, inner->child, false, p_.read_pj[inner->child], ratio, ratio * t.delivered_words);
}

// ---- Windows ----

/// Distinct values (or the box) of one rank in one run: the tile of the child, moved along by the sliding loop.
double ChoiceTransfers::extent(const Problem::AffineRank& rank, const Transfer& t,
                               const std::array<Count, kMaxDims>& tile, int mover_level, int mover_dim, Count bound,
                               std::uint32_t united, bool beside) const {
  const bool box = p_.conventions.footprint == Conventions::Footprint::kBoundingBox;
  std::array<IndexTerm, kMostTerms> strides;
  std::size_t n = 0;
  double span = 1, slide_step = 0, slides = 1;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    const Count coefficient = rank.coefficient[i];
    Count count = tile[d] * inside_[t.child][d];
    for_each_bit(united, [&](int l) {
      if (factor_[l][d] <= 1) return;
      const Count step = tile[d] * inside_[l][d];
      span += static_cast<double>(coefficient * step * (factor_[l][d] - 1));
      strides[n++] = {coefficient * step, factor_[l][d]};
    });
    if (d == mover_dim && bound > 1) {
      const Count step = beside ? count : tile[d] * inside_[mover_level][d];
      if (box) {
        slide_step = static_cast<double>(step * coefficient);
        slides = static_cast<double>(bound);
      } else if (step == count) {
        count *= bound;
      } else {
        strides[n++] = {coefficient * step, bound};
      }
    }
    if (count <= 1) continue;
    span += static_cast<double>(coefficient * (count - 1));
    strides[n++] = {coefficient, count};
  }
  if (box) return span + (slides - 1) * std::min(slide_step, span);
  return static_cast<double>(fewest_values(std::span<const IndexTerm>(strides.data(), n)));
}

/// Different windows among the children that some fanouts of one network give a tile each.
Count ChoiceTransfers::displacements(const Problem::AffineRank& rank, std::uint32_t fanouts,
                                     const std::array<Count, kMaxDims>& tile) const {
  std::array<IndexTerm, kMostTerms> strides;
  std::size_t n = 0;
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    for_each_bit(fanouts, [&](int l) {
      if (factor_[l][d] > 1) strides[n++] = {rank.coefficient[i] * tile[d] * inside_[l][d], factor_[l][d]};
    });
  }
  return fewest_values(std::span<const IndexTerm>(strides.data(), n));
}

/// The fewest of these where loops that are not known yet lie between the tile and the fanouts: some divisor of the
/// iterations that are left along every dim.
Count ChoiceTransfers::fewest_displacements(const Problem::AffineRank& rank, std::uint32_t fanouts,
                                            const std::array<Count, kMaxDims>& tile) const {
  Count fewest = std::numeric_limits<Count>::max();
  std::array<Count, kMaxDims> grown = tile;
  const auto grow = [&](auto&& self, int i) -> void {
    if (i == rank.terms) {
      fewest = std::min(fewest, displacements(rank, fanouts, grown));
      return;
    }
    const int d = rank.dim[i];
    bool spread = false;
    for_each_bit(fanouts, [&](int l) { spread |= factor_[l][d] > 1; });
    const Count loops = spread ? left_[d] / tile[d] : 1;
    for (Count m = 1; m <= loops; ++m) {
      if (loops % m != 0) continue;
      grown[d] = tile[d] * m;
      self(self, i + 1);
    }
    grown[d] = tile[d];
  };
  grow(grow, 0);
  return fewest;
}

/// Different windows among the children of one copy of the parent. Beyond the mover the tile is not known.
double ChoiceTransfers::distinct(const Problem::AffineRank& rank, const Transfer& t,
                                 const std::array<Count, kMaxDims>& tile, int mover_level, std::uint32_t united) const {
  const int x = t.tensor;
  double windows = 1;
  for (std::uint32_t rest = fanouts_between(t.parent, t.child) & ~united; rest != 0;) {
    const int outermost = std::countr_zero(rest);
    const std::uint32_t network = rest & p_.network[outermost], equal = network & p_.sharing_equal[x];
    rest &= ~network;
    int spread = 0;
    double all = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const int d = rank.dim[i];
      bool here = false;
      for_each_bit(network, [&](int l) {
        const bool shares = (equal >> l & 1U) != 0;
        here |= shares && factor_[l][d] > 1;
        (shares ? all : windows) *= static_cast<double>(factor_[l][d]);
      });
      spread += here ? 1 : 0;
    }
    if (spread <= 1)
      windows *= all;
    else
      windows *= static_cast<double>(outermost > mover_level ? displacements(rank, equal, tile)
                                                             : fewest_displacements(rank, equal, tile));
  }
  return windows;
}

ChoiceTransfers::Windows ChoiceTransfers::windows(const Transfer& t, const std::array<Count, kMaxDims>& tile,
                                                  int mover_level, int mover_dim, Count bound) const {
  Windows words;
  const int x = t.tensor;
  if (p_.affine_dims[x] == 0) return words;
  double visits = 1;
  for_each_bit(p_.affine_dims[x], [&](int d) { visits *= static_cast<double>(left_[d] / tile[d]); });
  if (mover_dim >= 0) visits /= static_cast<double>(bound);
  std::uint32_t spread = 0;
  for (int l = 0; l < p_.levels; ++l)
    for_each_bit(p_.affine_dims[x], [&](int d) { spread |= std::uint32_t{factor_[l][d] > 1} << l; });
  const bool one_loop = p_.conventions.halo == Conventions::Halo::kOneLoop;
  const auto extents = [&](std::uint32_t united, bool beside) {
    double product = 1;
    for (const Problem::AffineRank& rank : p_.affine[x])
      product *= extent(rank, t, tile, mover_level, mover_dim, bound, united, beside);
    return product;
  };
  words.delivered = visits * extents(0, one_loop);
  // Fanouts that can serve windows together may do so or not, whatever is less. Beyond the mover the windows are not
  // known: together they are one of them, at least.
  double served = kInfinity;
  for_each_subset(fanouts_between(t.parent, t.child) & p_.uniting[x] & spread, [&](std::uint32_t united) {
    const std::uint32_t known = united & ~below(mover_level);
    double one = extents(known, united == 0 && one_loop);
    if (united != 0 && known == 0) one = std::min(one, extents(0, one_loop));
    for (const Problem::AffineRank& rank : p_.windows[x]) one *= distinct(rank, t, tile, mover_level, united);
    served = std::min(served, one);
  });
  words.served = visits * served;
  return words;
}

}  // namespace pliant::audit
