// SPDX-License-Identifier: Apache-2.0
// Small ONNX models, written field by field (protobuf's wire format), so that tests need no other tool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pliant::onnx_bytes {

using Bytes = std::string;

inline Bytes varint(std::uint64_t value) {
  Bytes bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline Bytes number(int field, std::int64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(static_cast<std::uint64_t>(value));
}
inline Bytes block(int field, const Bytes& inside) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(inside.size()) + inside;
}

inline Bytes attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  Bytes inside = block(1, name);
  for (const std::int64_t value : values) inside += number(8, value);
  return block(5, inside);
}
inline Bytes attribute(const std::string& name, std::int64_t value) {
  return block(5, block(1, name) + number(3, value));
}
inline Bytes word(const std::string& name, const std::string& text) {
  return block(5, block(1, name) + block(4, text));
}

inline Bytes node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
                  const Bytes& attributes = "", const std::string& domain = "") {
  Bytes inside;
  for (const std::string& input : inputs) inside += block(1, input);
  inside += block(2, output) + block(3, "n_" + output) + block(4, type) + attributes;
  return block(1, domain.empty() ? inside : inside + block(7, domain));
}

/// A weight: its shape, and `bytes` of data that nobody needs.
inline Bytes weight(const std::string& name, const std::vector<std::int64_t>& dims, std::size_t bytes = 0) {
  Bytes inside;
  for (const std::int64_t dim : dims) inside += number(1, dim);
  return block(5, inside + number(2, 1) + block(8, name) + block(9, Bytes(bytes, 'w')));
}
/// A list of 64-bit numbers, as shapes are stored.
inline Bytes numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  Bytes inside = number(1, static_cast<std::int64_t>(values.size())) + number(2, 7) + block(8, name);
  for (const std::int64_t value : values) inside += number(7, value);
  return block(5, inside);
}
/// A graph input; -1 stands for a dim with a name instead of a size, here `axis`.
inline Bytes input(const std::string& name, const std::vector<std::int64_t>& dims, const std::string& axis = "batch") {
  Bytes shape;
  for (const std::int64_t dim : dims) shape += block(1, dim < 0 ? block(2, axis) : number(1, dim));
  return block(11, block(1, name) + block(2, block(1, number(1, 1) + block(2, shape))));
}
/// What the graph gives to its user.
inline Bytes output(const std::string& name) { return block(12, block(1, name)); }
inline Bytes model(const Bytes& graph) { return number(1, 8) + block(7, graph + block(2, "g")); }

}  // namespace pliant::onnx_bytes
