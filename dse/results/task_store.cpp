// SPDX-License-Identifier: Apache-2.0
#include "dse/results/task_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <unordered_set>

#include "dse/results/atomic_file.h"
#include "dse/results/stored_files.h"
#include "dse/results/thread_time.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

// "00001234 89abcdef01234567 <32 digits> " and the text and a line end.
constexpr std::size_t kHead = 8 + 1 + 16 + 1 + 32 + 1;
constexpr std::size_t kMaxText = std::size_t{16} << 20;
/// Records wait for each other until there are so many bytes, or for so long. One that took as long to find never
/// waits: the next may be hours away, and a kill must not cost more than a moment's work of each thread.
constexpr std::size_t kEnough = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kMoment{200};
/// In object storage nothing can be appended: what waited becomes an object, which costs a request now and one at every
/// start.
constexpr std::chrono::milliseconds kMomentOfObjects{5000};
/// So many results become records at once.
constexpr std::size_t kTogether = 64;

/// Raised when a record's bytes change. Files of other formats are left alone.
constexpr std::string_view kFormat = ".v3";
constexpr std::string_view kEnding = ".tasks";

/// Word by word, as the table of a byte-wise CRC would have to be fetched again after every search. Each step can be
/// undone, so damage within one word always shows; any other goes unseen once in 2^64 times.
std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = text.size();
  const auto add = [&](std::uint64_t word) {
    sum = (sum ^ word) * 0x9E3779B97F4A7C15;
    sum ^= sum >> 32;
  };
  const auto take = [&](std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), bytes);
    text.remove_prefix(bytes);
    return word;
  };
  while (text.size() >= 8) add(take(8));
  add(take(text.size()));
  return sum;
}

void write_hex(char* to, std::size_t digits, std::uint64_t value) {
  for (; digits > 0; value >>= 4) to[--digits] = "0123456789abcdef"[value & 15];
}

template <class Number>
bool parse_hex(std::string_view text, Number& value) {
  return std::from_chars(text.data(), text.data() + text.size(), value, 16).ptr == text.data() + text.size();
}

void write_record(const TaskKey& key, const TaskResult& result, std::string& bytes) {
  bytes.assign(kHead, ' ');
  append_task_result(result, bytes);
  char* const at = bytes.data();
  write_hex(at, 8, bytes.size() - kHead);
  write_hex(at + 26, 16, key.words[0]);
  write_hex(at + 42, 16, key.words[1]);
  write_hex(at + 9, 16, checksum(std::string_view(bytes).substr(26)));
  bytes += '\n';
}

/// The record at the start of `bytes`: its key and text, or nothing when it is damaged.
struct Record {
  TaskKey key;
  std::string_view text;
  std::size_t length = 0;
};
std::optional<Record> parse_record(std::string_view bytes) {
  if (bytes.size() < kHead) return std::nullopt;
  std::uint32_t size = 0;
  std::uint64_t sum = 0;
  if (bytes[8] != ' ' || bytes[25] != ' ') return std::nullopt;  // the checksum covers what follows them
  if (!parse_hex(bytes.substr(0, 8), size) || !parse_hex(bytes.substr(9, 16), sum)) return std::nullopt;
  if (size > kMaxText || bytes.size() < kHead + size + 1 || bytes[kHead + size] != '\n') return std::nullopt;
  if (checksum(bytes.substr(26, 33 + size)) != sum) return std::nullopt;
  const auto key = TaskKey::parse(bytes.substr(26, 32));
  if (!key) return std::nullopt;
  return Record{*key, bytes.substr(kHead, size), kHead + size + 1};
}

/// What a record says of its own length; 0 when it says nothing that can be.
std::size_t length_said(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < kHead) return kHead;
  return parse_hex(bytes.substr(0, 8), size) && size <= kMaxText ? kHead + size + 1 : 0;
}

/// Open for reading and appending, without a name: it is gone with the process.
int nameless_file() {
  std::string name = (fs::temp_directory_path() / "pliant-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_APPEND | O_CLOEXEC);
  if (fd < 0) throw StorageError(fmt::format("{}: cannot create it: {}", name, std::generic_category().message(errno)));
  ::unlink(name.c_str());
  return fd;
}

/// What was not written after a mistake, whose number is left in errno.
std::string_view write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return bytes;
}

int open_to_read(const fs::path& file) {
  if (!is_address(file)) return ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const int fd = nameless_file();
  if (write_all(fd, file_bytes(file)).empty()) return fd;
  ::close(fd);
  return -1;
}

/// Process ids come again after a reboot and on other machines.
fs::path new_file(const fs::path& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto stamp = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return folder / fmt::format("{:016x}-{:x}{}{}", stamp, ::getpid(), kFormat, kEnding);
}

std::string read_at(int fd, std::uint64_t offset, std::size_t length) {
  std::string bytes(length, '\0');
  std::size_t have = 0;
  while (have < length) {
    const ssize_t got = ::pread(fd, bytes.data() + have, length - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

std::optional<TaskKey> TaskKey::parse(std::string_view hex) {
  TaskKey key;
  if (hex.size() < 32 || !parse_hex(hex.substr(0, 16), key.words[0]) || !parse_hex(hex.substr(16, 16), key.words[1]))
    return std::nullopt;
  return key;
}

std::string TaskKey::text() const {
  std::string digits(32, '0');
  write_hex(digits.data(), 16, words[0]);
  write_hex(digits.data() + 16, 16, words[1]);
  return digits;
}

TaskStore::TaskStore(fs::path folder, bool writable) : folder_(std::move(folder)), writable_(writable) {
  for (const StoredFile& file : files_in(folder_)) {
    if (file.path.extension() != kEnding) continue;
    if (file.path.stem().extension() == kFormat)
      scan(file.path);
    else
      ++other_formats_;
  }
}

TaskStore::~TaskStore() {
  try {
    pack_newest();
    write_pending();
  } catch (const StorageError&) {
    // A caller that must know calls flush() first. A result that is lost here is solved again by the next run.
  }
  for (const int fd : descriptors_) ::close(fd);
}

void TaskStore::scan(const fs::path& file) {
  const int fd = open_to_read(file);
  if (fd < 0) {
    ++damaged_;
    return;
  }
  const auto index = static_cast<std::uint32_t>(descriptors_.size());
  descriptors_.push_back(fd);
  // A window over the file; it grows only for a record that does not fit.
  std::uint64_t at = 0;
  std::size_t window = std::size_t{1} << 20;
  bool skipping = false;
  while (true) {
    const std::string bytes = read_at(fd, at, window);
    if (bytes.empty()) break;
    std::size_t used = 0;
    while (used < bytes.size()) {
      const std::string_view rest = std::string_view(bytes).substr(used);
      if (const auto found = parse_record(rest)) {
        places_.try_emplace(found->key, RecordPlace{index, static_cast<std::uint32_t>(found->length), at + used});
        used += found->length;
        skipping = false;
        continue;
      }
      const bool last = bytes.size() < window;
      const std::size_t line = rest.find('\n');
      if (!last && (line == std::string_view::npos || length_said(rest) > rest.size())) break;  // read on
      if (!skipping) ++damaged_;
      skipping = true;
      used += line == std::string_view::npos ? rest.size() : line + 1;
    }
    at += used;
    window = used == 0 ? window * 4 : std::size_t{1} << 20;
    if (window > 4 * kMaxText) break;
  }
}

bool TaskStore::contains(const TaskKey& key) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(key) || newest(key) != nullptr;
}

/// Null when it is a record already, or unknown.
const TaskResult* TaskStore::newest(const TaskKey& key) const {
  for (const auto& [own, result] : newest_)
    if (own == key) return result.get();
  return nullptr;
}

std::optional<TaskResult> TaskStore::get(const TaskKey& key) const {
  RecordPlace place;
  int fd = -1;
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) {
      const TaskResult* const waiting = newest(key);
      return waiting != nullptr ? std::optional(*waiting) : std::nullopt;
    }
    place = found->second;
    fd = descriptors_[place.file];
    if (static_cast<int>(place.file) == own_ && place.offset >= own_size_)
      bytes = pending_.substr(place.offset - own_size_, place.length);
  }
  if (bytes.empty()) bytes = read_at(fd, place.offset, place.length);
  const auto found = parse_record(bytes);
  if (!found || found->key != key) return std::nullopt;
  return parse_task_result(found->text);
}

void TaskStore::open_own() {
  if (is_address(folder_)) {
    own_ = static_cast<int>(descriptors_.size());
    descriptors_.push_back(nameless_file());
    wrote_ = std::chrono::steady_clock::now();
    return;
  }
  make_folder(folder_);
  for (unsigned attempt = 0;; ++attempt) {
    const fs::path file = new_file(folder_);
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0) {
      own_ = static_cast<int>(descriptors_.size());
      descriptors_.push_back(fd);
      return;
    }
    if (errno != EEXIST || attempt > 100)
      throw StorageError(
          fmt::format("{}: cannot create it: {}", file.string(), std::generic_category().message(errno)));
  }
}

void TaskStore::put(const TaskKey& key, std::shared_ptr<const TaskResult> result) {
  const std::lock_guard lock(mutex_);
  if (!writable_) throw StorageError(fmt::format("{}: opened for reading", folder_.string()));
  if (own_ < 0) open_own();
  const auto moment = is_address(folder_) ? kMomentOfObjects : kMoment;
  const bool costly = std::chrono::duration<double>(result->solve_seconds) >= moment;
  newest_.emplace_back(key, std::move(result));
  const bool now = costly || std::chrono::steady_clock::now() - wrote_ >= moment;
  if (!now && newest_.size() < kTogether) return;
  const AddTime records(cpu_seconds_);
  pack_newest();
  if (now || pending_.size() >= kEnough) write_pending();
}

void TaskStore::pack_newest() {
  for (const auto& [key, result] : newest_) {
    const auto [place, fresh] = places_.try_emplace(key);
    if (!fresh) continue;
    write_record(key, *result, record_);
    place->second = {static_cast<std::uint32_t>(own_), static_cast<std::uint32_t>(record_.size()),
                     own_size_ + pending_.size()};
    pending_ += record_;
  }
  newest_.clear();
}

void TaskStore::write_pending() {
  if (pending_.empty()) return;
  if (is_address(folder_)) write_atomically(new_file(folder_), pending_);
  const std::size_t left = write_all(descriptors_[own_], pending_).size(), done = pending_.size() - left;
  const int error = errno;
  // A record that is cut short is damaged unless its rest follows, and said to be so by its checksum.
  own_size_ += done;
  pending_.erase(0, done);
  if (left > 0)
    throw StorageError(
        fmt::format("{}: cannot keep a result: {}", folder_.string(), std::generic_category().message(error)));
  wrote_ = std::chrono::steady_clock::now();
}

void TaskStore::forget(const TaskKey& key) {
  const std::lock_guard lock(mutex_);
  places_.erase(key);
  std::erase_if(newest_, [&](const auto& one) { return one.first == key; });
}

void TaskStore::flush() {
  int fd = -1;
  {
    const std::lock_guard lock(mutex_);
    if (own_ < 0) return;
    const AddTime records(cpu_seconds_);
    pack_newest();
    write_pending();
    fd = descriptors_[own_];
  }
  if (::fsync(fd) != 0 && errno != EINVAL)
    throw StorageError(
        fmt::format("{}: cannot flush results: {}", folder_.string(), std::generic_category().message(errno)));
}

std::size_t TaskStore::size() const {
  const std::lock_guard lock(mutex_);
  std::unordered_set<TaskKey, TaskKeyHash> waiting;
  for (const auto& one : newest_)
    if (!places_.contains(one.first)) waiting.insert(one.first);
  return places_.size() + waiting.size();
}

}  // namespace pliant
