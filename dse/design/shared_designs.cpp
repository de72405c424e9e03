// SPDX-License-Identifier: Apache-2.0
#include "dse/design/shared_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "dse/results/atomic_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

std::vector<HardwareBox> boxes_of_shard(IdealDesigns& ideals, const HardwareBox& space, const Shard& shard) {
  constexpr std::size_t kPartsOfShard = 4;
  std::vector<HardwareBox> all = {space};
  while (all.size() < kPartsOfShard * static_cast<std::size_t>(shard.count)) {
    const auto largest = std::ranges::max_element(all, {}, &HardwareBox::points);
    if (largest->is_point()) break;
    const HardwareBox box = *largest;
    all.erase(largest);
    std::vector<HardwareBox> parts = ideals.parts(box);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  std::vector<HardwareBox> own;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (shard.owns(static_cast<std::int64_t>(k))) own.push_back(all[k]);
  return own;
}

SharedDesigns::SharedDesigns(std::filesystem::path folder, const Shard& shard, std::string question,
                             double pause_seconds)
    : folder_(std::move(folder)),
      shard_(shard),
      question_(std::move(question)),
      pause_seconds_(pause_seconds),
      written_(real_clock().wall_seconds() - pause_seconds),
      read_(written_) {
  make_folder(folder_);
}

SharedDesigns::~SharedDesigns() {
  try {
    write();
  } catch (const StorageError&) {
    // The others search a little more.
  }
}

std::filesystem::path SharedDesigns::file_of(int shard) const {
  return folder_ / fmt::format("found-{}-of-{}.json", shard, shard_.count);
}

void SharedDesigns::write() {
  if (told_all_) return;
  nlohmann::json designs = nlohmann::json::array();
  for (const auto& [design, values] : own_) designs.push_back({design, values});
  write_atomically(file_of(shard_.index), nlohmann::json{{"question", question_}, {"designs", designs}}.dump());
  told_all_ = true;
  written_ = real_clock().wall_seconds();
}

void SharedDesigns::tell(std::int64_t design, const Point& values) {
  own_.emplace_back(design, values);
  told_all_ = false;
  if (real_clock().wall_seconds() - written_ >= pause_seconds_) write();
}

std::vector<SharedDesigns::Told> SharedDesigns::news() {
  std::vector<Told> all;
  const double now = real_clock().wall_seconds();
  if (now - read_ < pause_seconds_) return all;
  read_ = now;
  write();
  for (int shard = 0; shard < shard_.count; ++shard) {
    if (shard == shard_.index) continue;
    const std::filesystem::path told = file_of(shard);
    const nlohmann::json file =
        is_there(told) ? nlohmann::json::parse(file_bytes(told), nullptr, false) : nlohmann::json();
    if (!file.is_object() || file.value("question", "") != question_) continue;
    const nlohmann::json designs = file.value("designs", nlohmann::json::array());
    try {
      for (std::size_t& next = seen_[shard]; next < designs.size(); ++next)
        all.emplace_back(designs[next].at(0).get<std::int64_t>(), designs[next].at(1).get<Point>());
    } catch (const nlohmann::json::exception&) {
      continue;  // no file of ours
    }
  }
  return all;
}

}  // namespace pliant
