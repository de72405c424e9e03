// SPDX-License-Identifier: Apache-2.0
// Chains as the walker of fused groups wants them described.
#include <tuple>

#include "support/fused_walker.h"

namespace pliant::reference {

void count_layers(WalkedChain& chain, Count groups, Count heads, std::vector<TensorSet> same) {
  const auto add = [&](const std::string& axis, Count size, std::vector<TensorSet> of) {
    if (size < 2) return;
    chain.sizes[axis] = size;
    chain.same[axis] = std::move(of);
    for (auto& places : chain.places) places[axis] = {-1};
  };
  add("groups", groups, std::vector<TensorSet>(chain.layers.size(), 0));
  add("heads", heads, std::move(same));
}

WalkedChain walked_gemms(std::vector<Layer> layers) {
  WalkedChain chain;
  chain.places.resize(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    const auto at = [&](const std::string& axis, const char* dim) {
      chain.places[l][axis] = {layer.find_dim(dim)};
      chain.sizes[axis] = layer.dims[static_cast<std::size_t>(layer.find_dim(dim))].size;
    };
    at("m", "M");
    if (layer.find_dim("B") >= 0) at("b", "B");
    if (l > 0) {
      at("n" + std::to_string(l), "K");
      chain.reads.push_back(layer.find_tensor("Inputs"));
    }
    if (l + 1 < layers.size()) at("n" + std::to_string(l + 1), "N");
  }
  chain.layers = std::move(layers);
  return chain;
}

WalkedChain walked_convs(std::vector<Layer> layers) {
  WalkedChain chain;
  chain.places.resize(layers.size());
  const auto size = [&](std::size_t l, const char* dim) {
    return layers[l].dims[static_cast<std::size_t>(layers[l].find_dim(dim))].size;
  };
  const auto set = [&](std::size_t l, const std::string& axis, const char* dim, WalkedPlace place) {
    place.dim = layers[l].find_dim(dim);
    chain.places[l][axis] = place;
  };
  std::string channels = "c1";
  std::map<std::string, std::string> axes;  // of p and q, as the layer before has them
  for (std::size_t l = 1; l < layers.size(); ++l) {
    chain.reads.push_back(layers[l].find_tensor("Inputs"));
    const bool depthwise_before = layers[l - 1].find_dim("M") < 0;
    if (!depthwise_before) channels = "c" + std::to_string(l);
    set(l - 1, channels, depthwise_before ? "C" : "M", {});
    set(l, channels, "C", {});
    chain.padded.push_back({{0, size(l, "C")}});
    chain.sizes[channels] = size(l, "C");
    for (const auto& [name, out, filter, rank] :
         {std::tuple{std::string("p"), "P", "R", 1}, std::tuple{std::string("q"), "Q", "S", 2}}) {
      const Tensor& inputs = layers[l].tensors[static_cast<std::size_t>(chain.reads.back())];
      const Count stride = inputs.ranks[static_cast<std::size_t>(rank)].terms.front().coefficient;
      const Count overlap = size(l, filter) - stride;
      const Count padding = stride * size(l, out) + overlap - size(l - 1, out),
                  before = padding < 0 ? 0 : (padding + 1) / 2;
      chain.padded.back().push_back({before, size(l - 1, out)});
      if (overlap < 0 || padding < 0) continue;  // rows that nobody reads
      // A filter of one element has no window: the axis is the one of the layer before.
      std::string& axis = axes[name];
      if (axis.empty() || size(l, filter) > 1) axis = name + std::to_string(l);
      set(l - 1, axis, out, {0, stride, overlap, before, overlap > 0 || padding > 0});
      set(l, axis, out, {});
      chain.sizes[axis] = size(l, out);
    }
  }
  chain.layers = std::move(layers);
  return chain;
}

}  // namespace pliant::reference
