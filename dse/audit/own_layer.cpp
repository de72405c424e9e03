// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dse/audit/task_reader.h"
#include "dse/audit/yaml_block.h"

namespace pliant::audit {

namespace {

/// Dims of one iteration stay, but for the batch and the groups.
Layer convolution(const YAML::Node& node) {
  Block sizes(node, "conv");
  const auto size = [&](const char* key) { return sizes.or_else<Count>(key, 1); };
  const Count batch = size("B"), groups = size("groups"), stride = size("stride"), dilation = size("dilation");
  const Count m = size("M"), c = size("C");
  const bool each_channel_alone = groups > 1 && groups == m && groups == c;
  const bool transposed = sizes.or_else<bool>("transposed", false);
  Layer layer;
  layer.operation = each_channel_alone ? Operation::kDepthwise : Operation::kConv;
  Tensor inputs{"Inputs", Role::kInput, {}}, weights{"Weights", Role::kWeight, {}},
      outputs{"Outputs", Role::kOutput, {}};
  const auto add = [&](const char* name, Count iterations, std::initializer_list<Tensor*> indexed) {
    const auto d = static_cast<int>(layer.dims.size());
    layer.dims.push_back({name, iterations});
    for (Tensor* tensor : indexed) tensor->ranks.push_back({{{d, 1}}});
    return d;
  };
  if (batch > 1) add("B", batch, {&inputs, &outputs});
  if (groups > 1 && !each_channel_alone) add("G", groups, {&inputs, &weights, &outputs});
  if (each_channel_alone) {
    add("C", c, {&inputs, &weights, &outputs});
  } else {
    add("M", m / groups, {&weights, &outputs});
    add("C", c / groups, {&inputs, &weights});
  }
  Tensor &still = transposed ? inputs : outputs, &windows = transposed ? outputs : inputs;
  const int p = add("P", size("P"), {&still}), q = add("Q", size("Q"), {&still});
  const int r = add("R", size("R"), {&weights}), s = add("S", size("S"), {&weights});
  windows.ranks.push_back({{{p, sizes.or_else("stride_p", stride)}, {r, sizes.or_else("dilation_r", dilation)}}});
  windows.ranks.push_back({{{q, sizes.or_else("stride_q", stride)}, {s, sizes.or_else("dilation_s", dilation)}}});
  sizes.end();
  layer.tensors = {inputs, weights, outputs};
  return layer;
}

Layer matrix_product(const YAML::Node& node) {
  Block sizes(node, "gemm");
  Layer layer;
  layer.operation = Operation::kGemm;
  Tensor inputs{"Inputs", Role::kInput, {}}, weights{"Weights", Role::kWeight, {}},
      outputs{"Outputs", Role::kOutput, {}};
  const auto add = [&](const char* name, Count iterations) {
    layer.dims.push_back({name, iterations});
    return Rank{{{static_cast<int>(layer.dims.size()) - 1, 1}}};
  };
  if (const Count batch = sizes.or_else<Count>("B", 1); batch > 1) {
    const Rank b = add("B", batch);
    for (Tensor* tensor : {&inputs, &weights, &outputs}) tensor->ranks.push_back(b);
  }
  const Rank m = add("M", sizes.or_else<Count>("M", 1)), n = add("N", sizes.or_else<Count>("N", 1)),
             k = add("K", sizes.or_else<Count>("K", 1));
  sizes.end();
  inputs.ranks.insert(inputs.ranks.end(), {m, k});
  weights.ranks.insert(weights.ranks.end(), {k, n});
  outputs.ranks.insert(outputs.ranks.end(), {m, n});
  layer.tensors = {inputs, weights, outputs};
  return layer;
}

/// "2*P+R": a sum of dims, each with or without a factor before it.
Rank index_sum(const Layer& layer, const std::string& text) {
  Rank rank;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const std::string term = text.substr(begin, end - begin);
    const std::size_t star = term.find('*');
    const std::string name = star == std::string::npos ? term : term.substr(star + 1);
    const auto dim = std::ranges::find(layer.dims, name, &Dim::name);
    if (dim == layer.dims.end()) throw std::runtime_error(fmt::format("einsum: no dim `{}`", name));
    rank.terms.push_back(
        {static_cast<int>(dim - layer.dims.begin()), star == std::string::npos ? 1 : std::stoll(term.substr(0, star))});
    begin = end + 1;
  }
  return rank;
}

Layer free_einsum(const YAML::Node& node) {
  Block block(node, "einsum");
  Layer layer;
  layer.operation = Operation::kEinsum;
  for (const auto& dim : block.at("dims")) layer.dims.push_back({dim.first.as<std::string>(), dim.second.as<Count>()});
  for (const auto& entry : block.at("tensors")) {
    Block tensor(entry, "einsum.tensors");
    Tensor& read = layer.tensors.emplace_back();
    read.name = tensor.at("name").as<std::string>();
    const auto role = std::ranges::find(kRoleWords, tensor.at("role").as<std::string>());
    if (role == kRoleWords.end()) throw std::runtime_error("einsum: an unknown role");
    read.role = static_cast<Role>(role - kRoleWords.begin());
    for (const auto& index : tensor.at("projection")) read.ranks.push_back(index_sum(layer, index.as<std::string>()));
    tensor.end();
  }
  block.end();
  return layer;
}

Layer layer_in(Block& block) {
  Layer layer = block.find("conv")   ? convolution(block.at("conv"))
                : block.find("gemm") ? matrix_product(block.at("gemm"))
                                     : free_einsum(block.at("einsum"));
  layer.name = block.at("layer").as<std::string>();
  layer.bits = bits_of(block.find("bits"));
  return layer;
}

}  // namespace

Layer own_layer(const std::string& text) {
  Block block(YAML::Load(text), "the layer");
  if (block.at("pliant").as<std::string>() != "layer") throw std::runtime_error("it is no layer");
  Layer layer = layer_in(block);
  block.end();
  return layer;
}

std::string difference(const Layer& own, const Layer& other) {
  if (own.dims != other.dims) return "its dims";
  if (own.tensors != other.tensors) return "its tensors";
  if (own.operation != other.operation) return "its family";
  if (own.bits != other.bits) return "its bits";
  return "";
}

}  // namespace pliant::audit
