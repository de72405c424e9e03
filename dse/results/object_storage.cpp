// SPDX-License-Identifier: Apache-2.0
#include "dse/results/object_storage.h"

#include <arrow/buffer.h>
#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/config.h>
#include <fmt/format.h>
#ifdef ARROW_S3
#include <arrow/filesystem/s3fs.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "dse/results/arrow_status.h"

namespace pliant::object_storage {

namespace fs = std::filesystem;

namespace {

/// s3://USER@BUCKET/FOLDER?OPTIONS/FILE: options may stand in the middle, because names of files are joined to
/// addresses.
struct Address {
  std::string uri;   ///< of the bucket, with user and options
  std::string path;  ///< BUCKET/FOLDER/FILE
};

Address parse(const fs::path& address) {
  std::string rest = address.string();
  const std::size_t colon = rest.find(':');
  const std::string scheme = rest.substr(0, colon);
  rest.erase(0, rest.find_first_not_of('/', colon + 1));
  std::string options;
  if (const std::size_t mark = rest.find('?'); mark != std::string::npos) {
    const std::size_t end = std::min(rest.find('/', mark), rest.size());
    options = rest.substr(mark, end - mark);
    rest.erase(mark, end - mark);
  }
  while (rest.ends_with('/')) rest.pop_back();
  const std::string bucket = rest.substr(0, rest.find('/'));
  const std::size_t at = bucket.rfind('@');  // none: the whole is the path
  return {fmt::format("{}://{}{}", scheme, bucket, options), rest.substr(at + 1)};
}

arrow::Result<std::shared_ptr<arrow::fs::FileSystem>> open_bucket(const std::string& uri) {
#if defined(ARROW_S3) && ARROW_VERSION_MAJOR >= 18
  if (uri.starts_with("s3:")) {
    ARROW_RETURN_NOT_OK(arrow::fs::EnsureS3Initialized());
    ARROW_ASSIGN_OR_RAISE(arrow::fs::S3Options options, arrow::fs::S3Options::FromUri(uri));
    options.allow_delayed_open = true;  // one request for a small object, not three
    return arrow::fs::S3FileSystem::Make(options);
  }
#endif
  return arrow::fs::FileSystemFromUri(uri);
}

/// One for each bucket; they may be used by all threads.
std::shared_ptr<arrow::fs::FileSystem> file_system(const Address& address) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<arrow::fs::FileSystem>> all;
  const std::lock_guard lock(mutex);
  std::shared_ptr<arrow::fs::FileSystem>& found = all[address.uri];
  if (found) return found;
  auto made = open_bucket(address.uri);
  if (!made.ok())
    throw StorageError(fmt::format("{}: cannot open this bucket: {}", address.uri, made.status().message()));
#ifdef ARROW_S3
  // The library wants to be ended before what it is made of is gone.
  static const int registered = std::atexit([] {
    all.clear();
    static_cast<void>(arrow::fs::EnsureS3Finalized());
  });
  static_cast<void>(registered);
#endif
  return found = std::move(made).ValueUnsafe();
}

std::string doing(const fs::path& address, std::string_view what) {
  return fmt::format("{}: cannot {}", address.string(), what);
}

}  // namespace

bool exists(const fs::path& address) {
  const Address at = parse(address);
  const auto info = require_value(file_system(at)->GetFileInfo(at.path), doing(address, "look for it"));
  return info.type() != arrow::fs::FileType::NotFound;
}

std::shared_ptr<arrow::io::RandomAccessFile> open(const fs::path& address) {
  const Address at = parse(address);
  return require_value(file_system(at)->OpenInputFile(at.path), doing(address, "read it"));
}

std::string read(const fs::path& address) {
  const Address at = parse(address);
  const std::string what = doing(address, "read it");
  while (true) {
    const auto in = open(address);
    const auto size = require_value(in->GetSize(), what);
    std::string bytes = require_value(in->ReadAt(0, size), what)->ToString();
    // Between the two somebody may have put a longer one in its place.
    const auto now = require_value(file_system(at)->GetFileInfo(at.path), what);
    if (now.size() == size && static_cast<std::int64_t>(bytes.size()) == size) return bytes;
  }
}

void write(const fs::path& address, std::string_view bytes) {
  const Address at = parse(address);
  const std::string what = doing(address, "write it");
  const auto out = require_value(file_system(at)->OpenOutputStream(at.path), what);
  // The object appears when the stream is closed without a mistake.
  const arrow::Status written = out->Write(bytes.data(), static_cast<std::int64_t>(bytes.size()));
  if (!written.ok()) static_cast<void>(out->Abort());
  require_ok(written, what);
  require_ok(out->Close(), what);
}

void remove(const fs::path& address) {
  if (!object_storage::exists(address)) return;
  const Address at = parse(address);
  require_ok(file_system(at)->DeleteFile(at.path), doing(address, "remove it"));
}

std::vector<StoredFile> list(const fs::path& folder) {
  const Address at = parse(folder);
  arrow::fs::FileSelector selector;
  selector.base_dir = at.path;
  selector.allow_not_found = true;
  std::vector<StoredFile> files;
  for (const arrow::fs::FileInfo& info :
       require_value(file_system(at)->GetFileInfo(selector), doing(folder, "list it"))) {
    if (!info.IsFile()) continue;
    files.push_back({folder / info.base_name(), static_cast<std::uintmax_t>(info.size())});
  }
  return files;
}

}  // namespace pliant::object_storage
