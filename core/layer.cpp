// SPDX-License-Identifier: Apache-2.0
#include "core/layer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/affine.h"

namespace pliant {

namespace {

Rank index(int dim) { return Rank{{Term{dim, 1}}}; }

/// "key=value" pairs of the in-place spelling; values equal to the default are left out.
class Spelling {
 public:
  explicit Spelling(std::string family) : text_(std::move(family)) {}
  Spelling& always(std::string_view key, Count value) {
    separate();
    text_ += key;
    text_ += '=';
    text_ += std::to_string(value);
    return *this;
  }
  Spelling& unless_one(std::string_view key, Count value) { return value == 1 ? *this : always(key, value); }
  /// One key for both directions when they agree, one key each when they do not.
  Spelling& pair(std::string_view both, std::string_view first_key, Count first, std::string_view second_key,
                 Count second) {
    if (first == second) return unless_one(both, first);
    return always(first_key, first).always(second_key, second);
  }
  Spelling& flag(std::string_view word) {
    separate();
    text_ += word;
    return *this;
  }
  std::string text() && { return std::move(text_); }

 private:
  void separate() {
    text_ += empty_ ? ':' : ',';
    empty_ = false;
  }
  std::string text_;
  bool empty_ = true;
};

std::string spell(const ConvShape& s) {
  Spelling spelling("conv");
  spelling.unless_one("B", s.B).always("M", s.M).always("C", s.C).always("P", s.P).always("Q", s.Q);
  spelling.always("R", s.R).always("S", s.S);
  spelling.pair("stride", "stride_p", s.stride_p, "stride_q", s.stride_q);
  spelling.pair("dilation", "dilation_r", s.dilation_r, "dilation_s", s.dilation_s);
  spelling.unless_one("groups", s.groups);
  if (s.transposed) spelling.flag("transposed");
  return std::move(spelling).text();
}

std::string spell(const GemmShape& s) {
  Spelling spelling("gemm");
  spelling.unless_one("B", s.B).always("M", s.M).always("N", s.N).always("K", s.K);
  return std::move(spelling).text();
}

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::kInput: return "inputs";
    case Role::kWeight: return "weights";
    case Role::kOutput: return "outputs";
  }
  return "?";
}

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::kConv: return "conv";
    case Operation::kGemm: return "gemm";
    case Operation::kEinsum: return "einsum";
    case Operation::kDepthwise: return "depthwise";
  }
  return "?";
}

int Layer::find_dim(std::string_view wanted) const {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d].name == wanted) return static_cast<int>(d);
  return -1;
}

int Layer::find_tensor(std::string_view wanted) const {
  for (std::size_t x = 0; x < tensors.size(); ++x)
    if (tensors[x].name == wanted) return static_cast<int>(x);
  return -1;
}

int Layer::output() const {
  for (std::size_t x = 0; x < tensors.size(); ++x)
    if (tensors[x].is_output()) return static_cast<int>(x);
  return -1;
}

DimSet Layer::coupled(int tensor) const {
  DimSet set = 0;
  for (const Rank& rank : tensors[static_cast<std::size_t>(tensor)].ranks)
    for (const Term& term : rank.terms) set |= DimSet{1} << term.dim;
  return set;
}

TensorSet Layer::tensors_with_role(Role role) const {
  TensorSet set = 0;
  for (std::size_t x = 0; x < tensors.size(); ++x)
    if (tensors[x].role == role) set |= TensorSet{1} << x;
  return set;
}

Count Layer::macs() const {
  Count product = 1;
  for (const Dim& dim : dims) product *= dim.size;
  return product;
}

std::vector<Rank> Layer::independent_ranks(int tensor) const {
  const auto size_of = [this](const Term& term) { return dims[static_cast<std::size_t>(term.dim)].size; };
  std::vector<Rank> ranks;
  for (const Rank& rank : tensors[static_cast<std::size_t>(tensor)].ranks) {
    Rank merged = rank;
    // Earlier ranks that mention one of its dims are drawn in; they share none with each other.
    for (std::size_t r = 0; r < ranks.size();) {
      const auto mentions = [&](const Term& term) {
        return std::any_of(merged.terms.begin(), merged.terms.end(), [&](const Term& t) { return t.dim == term.dim; });
      };
      if (std::none_of(ranks[r].terms.begin(), ranks[r].terms.end(), mentions)) {
        ++r;
        continue;
      }
      Count weight = 1;
      for (const Term& term : ranks[r].terms) weight += term.coefficient * (size_of(term) - 1);
      Rank both = ranks[r];
      for (const Term& term : merged.terms) {
        const auto known =
            std::find_if(both.terms.begin(), both.terms.end(), [&](const Term& t) { return t.dim == term.dim; });
        if (known == both.terms.end())
          both.terms.push_back({term.dim, weight * term.coefficient});
        else
          known->coefficient += weight * term.coefficient;
      }
      merged = std::move(both);
      ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(r));
      r = 0;
    }
    ranks.push_back(std::move(merged));
  }
  return ranks;
}

Count Layer::tensor_words(int tensor) const {
  Count words = 1;
  std::vector<Stride> strides;
  for (const Rank& rank : independent_ranks(tensor)) {
    strides.clear();
    for (const Term& term : rank.terms)
      strides.push_back({term.coefficient, dims[static_cast<std::size_t>(term.dim)].size});
    words *= distinct_values(strides);
  }
  return words;
}

const Workload::Entry* Workload::find(std::string_view layer_name) const {
  for (const Entry& entry : layers)
    if (entry.layer.name == layer_name) return &entry;
  return nullptr;
}

Layer make_conv(std::string name, const ConvShape& s) {
  assert(s.groups >= 1 && s.M % s.groups == 0 && s.C % s.groups == 0);
  Layer layer;
  layer.name = std::move(name);
  layer.written_as = spell(s);
  const auto add_dim = [&layer](const char* dim, Count size) {
    layer.dims.push_back({dim, size});
    return static_cast<int>(layer.dims.size()) - 1;
  };

  const bool depthwise = s.groups > 1 && s.groups == s.C && s.groups == s.M;
  layer.operation = depthwise ? Operation::kDepthwise : Operation::kConv;
  const bool grouped = s.groups > 1 && !depthwise;
  const int B = s.B > 1 ? add_dim("B", s.B) : -1;
  const int G = grouped ? add_dim("G", s.groups) : -1;
  const int M = depthwise ? -1 : add_dim("M", s.M / s.groups);
  const int C = add_dim("C", depthwise ? s.C : s.C / s.groups);
  const int P = add_dim("P", s.P);
  const int Q = add_dim("Q", s.Q);
  const int R = add_dim("R", s.R);
  const int S = add_dim("S", s.S);

  Tensor inputs{"Inputs", Role::kInput, {}};
  Tensor weights{"Weights", Role::kWeight, {}};
  Tensor outputs{"Outputs", Role::kOutput, {}};
  if (B >= 0)
    for (Tensor* x : {&inputs, &outputs}) x->ranks.push_back(index(B));
  if (G >= 0)
    for (Tensor* x : {&inputs, &weights, &outputs}) x->ranks.push_back(index(G));
  if (M >= 0)
    for (Tensor* x : {&weights, &outputs}) x->ranks.push_back(index(M));
  inputs.ranks.push_back(index(C));
  weights.ranks.push_back(index(C));
  if (depthwise) outputs.ranks.push_back(index(C));
  weights.ranks.push_back(index(R));
  weights.ranks.push_back(index(S));

  // The sliding window moves over the inputs; a transposed convolution scatters it over the outputs instead.
  Tensor& windowed = s.transposed ? outputs : inputs;
  Tensor& plain = s.transposed ? inputs : outputs;
  windowed.ranks.push_back(Rank{{Term{P, s.stride_p}, Term{R, s.dilation_r}}});
  windowed.ranks.push_back(Rank{{Term{Q, s.stride_q}, Term{S, s.dilation_s}}});
  plain.ranks.push_back(index(P));
  plain.ranks.push_back(index(Q));

  layer.tensors = {std::move(inputs), std::move(weights), std::move(outputs)};
  return layer;
}

Layer make_gemm(std::string name, const GemmShape& s) {
  Layer layer;
  layer.name = std::move(name);
  layer.operation = Operation::kGemm;
  layer.written_as = spell(s);
  if (s.B > 1) layer.dims.push_back({"B", s.B});
  const int M = static_cast<int>(layer.dims.size());
  const int N = M + 1, K = M + 2;
  layer.dims.insert(layer.dims.end(), {{"M", s.M}, {"N", s.N}, {"K", s.K}});
  layer.tensors = {{"Inputs", Role::kInput, {index(M), index(K)}},
                   {"Weights", Role::kWeight, {index(K), index(N)}},
                   {"Outputs", Role::kOutput, {index(M), index(N)}}};
  if (s.B > 1)
    for (Tensor& x : layer.tensors) x.ranks.insert(x.ranks.begin(), index(0));
  return layer;
}

}  // namespace pliant
