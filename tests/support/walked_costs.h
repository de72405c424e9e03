// SPDX-License-Identifier: Apache-2.0
// What a walk costs: energy and cycles of the words that were moved.
#pragma once

#include "support/listed_macs.h"
#include "support/reference_walker.h"

namespace pliant::reference {

class WalkedCosts : protected ListedMacs {
 protected:
  WalkedCosts(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping)
      : ListedMacs(layer, accelerator, mapping), conventions_(accelerator.conventions) {}

  bool boxes() const { return conventions_.footprint == Conventions::Footprint::kBoundingBox; }
  /// Words of one full tile.
  Count tile_words(int level, int tensor) const;
  /// Reads, writes, energy and cycles; the words and peaks are there already.
  void charge(Walked& walked) const;

  const Conventions& conventions_;

 private:
  double words_of(int level, int bits) const;
  bool shared_outside(int level) const;
  double finished(int level, Count first) const;
  double network_energy(const Words& words) const;
  static double last_cycle(double time);
  double array_cycles(const Words& words, double rows, double cols) const;
  double array_cycles(const Walked& walked, double steps) const;
  void charge_words(Walked& walked) const;
  void wait_for_ports(Walked& walked) const;
};

}  // namespace pliant::reference
