// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/goma/closed_form.h"

namespace pliant {
namespace {

constexpr int kX = 0, kY = 1, kZ = 2;

/// Loops of a stage, innermost first: the walking axis, then the others in the order x, y, z.
std::array<int, 3> stage_order(int walking) {
  std::array<int, 3> order{walking, 0, 0};
  int at = 1;
  for (int d = kX; d <= kZ; ++d)
    if (d != walking) order[at++] = d;
  return order;
}

}  // namespace

GomaEnergies goma_energies(const Accelerator& accelerator) {
  const Memory& dram = accelerator.levels[0].memory();
  const Memory& sram = accelerator.levels[1].memory();
  const Memory& regfile = accelerator.levels[3].memory();
  return {dram.read_pj,
          dram.write_pj,
          sram.read_pj,
          sram.write_pj,
          regfile.read_pj,
          regfile.write_pj,
          accelerator.levels[4].compute().mac_pj};
}

GomaMapping with_moving_axes(GomaMapping m) {
  for (std::size_t stage = 0; stage < 2; ++stage)
    for (const int loop : stage_order(m.walking[stage])) {
      if (m.tile[stage][loop] == m.tile[stage + 1][loop]) continue;
      m.walking[stage] = loop;
      break;
    }
  return m;
}

GomaCompression as_published(const GomaMapping& m) {
  GomaCompression c;
  c.dram_stage[m.walking[0]] = m.tile[0][m.walking[0]] / m.tile[1][m.walking[0]];
  c.sram_stage[m.walking[1]] = m.tile[1][m.walking[1]] / m.tile[2][m.walking[1]];
  return c;
}

GomaCompression as_walked(const GomaMapping& m) {
  GomaCompression c;
  for (int d = kX; d <= kZ; ++d) {
    for (const int receiver : {1, 3}) {  // whose tile is it: SRAM's or the register file's
      double run = 1;
      bool alive = true;
      for (int stage = receiver == 3 ? 1 : 0; stage >= 0 && alive; --stage) {
        for (const int loop : stage_order(m.walking[stage])) {
          const double bound = m.tile[stage][loop] / m.tile[stage + 1][loop];
          if (bound == 1) continue;
          alive = loop == d;
          if (!alive) break;
          run *= bound;
        }
      }
      (receiver == 3 ? c.sram_stage : c.dram_stage)[d] = run;
    }
  }
  return c;
}

double goma_axis_energy(const GomaMapping& m, int d, const GomaEnergies& e, const GomaCompression& c) {
  const auto& L = m.tile;
  const double V = L[0][kX] * L[0][kY] * L[0][kZ];
  const double spatial = L[2][d] / L[3][d];
  const bool output = d == kZ;
  // Weights of eq. 17-23; rho is eq. 16 with the effective column counts of eq. 13-15, and concerns outputs only.
  const auto weight = [&](double read, double write, double rho) { return output ? write + rho * read : read; };
  const auto receive = [&](double write, double rho) { return output ? rho * write : write; };
  double total = 0;
  if (m.in_sram[d]) {
    const double traffic = V / (L[1][d] * c.dram_stage[d]);  // eq. 10
    const double rho = 1 - 1 / (L[0][d] / L[1][d] / c.dram_stage[d]);
    total += traffic * (weight(e.dram_read, e.dram_write, rho) + receive(e.sram_write, rho));  // eq. 25
  }
  if (m.in_regfile[d]) {
    const double traffic = V / (L[3][d] * c.sram_stage[d]);  // eq. 11
    const double rho = 1 - 1 / (L[0][d] / L[2][d] / c.sram_stage[d]);
    const double source =
        m.in_sram[d] ? weight(e.sram_read, e.sram_write, rho) : weight(e.dram_read, e.dram_write, rho);
    total += traffic * (receive(e.reg_write, rho) + source / spatial);  // eq. 26
  }
  const double rho = 1 - 1 / (L[0][d] / spatial);  // eq. 27
  if (m.in_regfile[d]) return total + V * weight(e.reg_read, e.reg_write, rho);
  if (m.in_sram[d]) return total + V * weight(e.sram_read, e.sram_write, rho) / spatial;
  return total + V * weight(e.dram_read, e.dram_write, rho) / spatial;
}

double goma_energy(const GomaMapping& m, const GomaEnergies& e, const GomaCompression& c) {
  double total = m.tile[0][kX] * m.tile[0][kY] * m.tile[0][kZ] * e.mac;  // eq. 28
  for (int d = kX; d <= kZ; ++d) total += goma_axis_energy(m, d, e, c);
  return total;
}

Mapping to_mapping(const GomaMapping& m, const Layer& gemm) {
  const std::array<int, 3> dim{gemm.find_dim("M"), gemm.find_dim("N"), gemm.find_dim("K")};
  const std::array<int, 3> tensor{gemm.find_tensor("Weights"), gemm.find_tensor("Inputs"), gemm.find_tensor("Outputs")};
  Mapping mapping;
  mapping.levels.resize(5);
  mapping.levels[0].keeps = 7;
  for (int d = kX; d <= kZ; ++d) {
    if (m.in_sram[d]) mapping.levels[1].keeps |= TensorSet{1} << tensor[d];
    if (m.in_regfile[d]) mapping.levels[3].keeps |= TensorSet{1} << tensor[d];
    const auto bound = static_cast<Count>(m.tile[2][d] / m.tile[3][d]);
    if (bound > 1) mapping.levels[2].spatial.push_back({dim[d], bound, Side::kCols});
    if (m.tile[3][d] > 1) mapping.levels[3].temporal.push_back({dim[d], static_cast<Count>(m.tile[3][d])});
  }
  for (const int stage : {0, 1}) {
    const std::array<int, 3> order = stage_order(m.walking[stage]);
    for (int i = 2; i >= 0; --i) {
      const auto bound = static_cast<Count>(m.tile[stage][order[i]] / m.tile[stage + 1][order[i]]);
      if (bound > 1) mapping.levels[stage].temporal.push_back({dim[order[i]], bound});
    }
  }
  return mapping;
}

}  // namespace pliant
