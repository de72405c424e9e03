// SPDX-License-Identifier: Apache-2.0
// Large arrays of doubles that come and go with every memory of every lattice. The system would hand out fresh pages
// each time, and their first touch costs more than the arithmetic; a store keeps them. One store per thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace pliant::exact {

class ArrayStore {
 public:
  ArrayStore() = default;
  ArrayStore(ArrayStore&&) = default;
  ~ArrayStore() { free_idle(); }
  double* take(std::size_t n) {
    const std::size_t kind = kind_of(n), bytes = bytes_of(kind);
    in_use_ += bytes;
    if (idle_[kind].empty()) {
      if (idle_bytes_ > kMostIdle) free_idle();
      return static_cast<double*>(::operator new(bytes, kAlignment));
    }
    double* block = idle_[kind].back();
    idle_[kind].pop_back();
    idle_bytes_ -= bytes;
    return block;
  }
  void give_back(double* block, std::size_t n) {
    const std::size_t kind = kind_of(n), bytes = bytes_of(kind);
    in_use_ -= bytes;
    idle_[kind].push_back(block);
    idle_bytes_ += bytes;
  }
  std::size_t bytes_in_use() const { return in_use_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  static constexpr std::size_t kMostIdle = std::size_t{64} << 20;  // bytes that wait while others are asked for

  /// Four sizes between a power of two and the next.
  static std::size_t kind_of(std::size_t n) {
    const std::size_t octets = (n + 7) / 8, width = static_cast<std::size_t>(std::bit_width(octets));
    if (width < 3) return octets;
    const std::size_t shift = width - 3, steps = (octets + (std::size_t{1} << shift) - 1) >> shift;  // 4 to 8
    return 4 * shift + steps;
  }
  static std::size_t bytes_of(std::size_t kind) {
    if (kind < 4) return 64 * kind;
    return 64 * ((4 + kind % 4) << (kind / 4 - 1));
  }
  void free_idle() {
    for (auto& blocks : idle_) {
      for (double* block : blocks) ::operator delete(block, kAlignment);
      blocks.clear();
    }
    idle_bytes_ = 0;
  }

  std::array<std::vector<double*>, 4 * 64> idle_;  // by size
  std::size_t in_use_ = 0, idle_bytes_ = 0;
};

/// A vector of fixed size out of a store.
class Array {
 public:
  Array() = default;
  Array(ArrayStore& store, std::size_t n) : store_(&store), data_(store.take(n)), size_(n) {}
  Array(ArrayStore& store, std::size_t n, double value) : Array(store, n) { std::fill_n(data_, n, value); }
  Array(const Array& other) : Array(*other.store_, other.size_) { std::copy_n(other.data_, size_, data_); }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) store_->give_back(data_, size_);
  }
  double* data() { return data_; }
  const double* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  double& operator[](std::size_t i) { return data_[i]; }
  double operator[](std::size_t i) const { return data_[i]; }
  double* begin() { return data_; }
  double* end() { return data_ + size_; }
  const double* begin() const { return data_; }
  const double* end() const { return data_ + size_; }

 private:
  void swap(Array& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  ArrayStore* store_ = nullptr;
  double* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pliant::exact
