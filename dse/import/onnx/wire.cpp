// SPDX-License-Identifier: Apache-2.0
// The protobuf messages of ONNX, field by field (numbers of onnx.proto). Fields that are not listed, weights above all,
// are skipped in the stream, so that memory stays small whatever the size of the file.
#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "core/input/source_text.h"
#include "dse/import/onnx/graph.h"

namespace pliant::onnx {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxText = 4096;        ///< of one name
constexpr std::size_t kMaxKept = 64UL << 20;  ///< of everything kept
constexpr std::size_t kMaxElements = 64;      ///< of a tensor whose elements are kept, and of a shape
constexpr std::size_t kNodeOverhead = 64;     ///< charged for every value kept, so that empty ones are not free

/// The file's bytes in memory, or on disk.
class Bytes {
 public:
  explicit Bytes(const SourceFile& file) {
    if (!file.text.empty()) {
      stream_ = std::make_unique<google::protobuf::io::ArrayInputStream>(file.text.data(),
                                                                         static_cast<int>(file.text.size()));
      return;
    }
    descriptor_ = ::open(file.name.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw InputError(Diagnostic{file.name, 0, 0, "", "cannot be opened", "a readable file", ""});
    stream_ = std::make_unique<google::protobuf::io::FileInputStream>(descriptor_);
  }
  ~Bytes() {
    stream_.reset();
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  google::protobuf::io::ZeroCopyInputStream* stream() { return stream_.get(); }

 private:
  std::unique_ptr<google::protobuf::io::ZeroCopyInputStream> stream_;
  int descriptor_ = -1;
};

class WireReader {
 public:
  WireReader(const SourceFile& file, google::protobuf::io::ZeroCopyInputStream* stream) : file_(file), in_(stream) {}

  Graph model() {
    Graph graph;
    bool found = false;
    fields([&](int number) {
      if (number != 7) return false;
      if (found) broken("a second graph");
      found = true;
      message([&] { read_graph_fields(graph); });
      return true;
    });
    if (!found) broken("no graph: not an ONNX model");
    return graph;
  }

 private:
  [[noreturn]] void broken(const std::string& what) {
    throw InputError(Diagnostic{file_.name, 0, 0, fmt::format("byte {}", in_.CurrentPosition()), what,
                                "an ONNX model (protobuf)", ""});
  }

  /// All fields of the message at hand; `take` reads one by its number or says it did not.
  void fields(const std::function<bool(int)>& take) {
    for (;;) {
      const std::uint32_t tag = in_.ReadTag();
      if (tag == 0) {
        if (!in_.ConsumedEntireMessage() && in_.BytesUntilLimit() != 0) broken("truncated or not protobuf");
        return;
      }
      tag_ = tag;
      if (!take(WireFormatLite::GetTagFieldNumber(tag)) && !WireFormatLite::SkipField(&in_, tag)) {
        broken("truncated or not protobuf");
      }
    }
  }

  void message(const std::function<void()>& body) {
    expect(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    if (++depth_ > kMaxDepth) broken("messages are nested too deep");
    const int length = length_ahead();
    const auto outer = in_.PushLimit(length);
    body();
    if (in_.BytesUntilLimit() > 0) broken("truncated or not protobuf");
    in_.PopLimit(outer);
    --depth_;
  }

  void expect(WireFormatLite::WireType type) {
    if (WireFormatLite::GetTagWireType(tag_) != type) broken("a field of another type than ONNX gives it");
  }

  int length_ahead() {
    std::uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > static_cast<std::uint32_t>(INT32_MAX))
      broken("truncated or not protobuf");
    const int left = in_.BytesUntilLimit();
    if (left >= 0 && static_cast<int>(length) > left) broken("a length that runs past its message");
    return static_cast<int>(length);
  }

  void keep(std::size_t bytes) {
    kept_ += bytes + kNodeOverhead;
    if (kept_ > kMaxKept) broken("names, nodes and shapes take too much memory");
  }

  std::string text() {
    expect(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    const int length = length_ahead();
    if (static_cast<std::size_t>(length) > kMaxText) broken("a name that is too long");
    keep(static_cast<std::size_t>(length));
    std::string read;
    if (!in_.ReadString(&read, length)) broken("truncated or not protobuf");
    return read;
  }

  Count number() {
    expect(WireFormatLite::WIRETYPE_VARINT);
    std::uint64_t value = 0;
    if (!in_.ReadVarint64(&value)) broken("truncated or not protobuf");
    return static_cast<Count>(value);
  }

  /// Whole numbers, packed or one by one; only the first `most` are kept.
  void numbers(std::vector<Count>& all, std::size_t most) {
    const auto add = [&](Count value) {
      if (all.size() >= most) return;
      keep(sizeof(Count));
      all.push_back(value);
    };
    if (WireFormatLite::GetTagWireType(tag_) == WireFormatLite::WIRETYPE_VARINT) return add(number());
    message([&] {
      while (in_.BytesUntilLimit() > 0) {
        std::uint64_t value = 0;
        if (!in_.ReadVarint64(&value)) broken("truncated or not protobuf");
        add(static_cast<Count>(value));
      }
    });
  }

  void read_graph_fields(Graph& graph) {
    fields([&](int number) {
      switch (number) {
        case 1: message([&] { graph.nodes.push_back(node()); }); return true;
        case 2: graph.name = text(); return true;
        case 5:
          message([&] {
            std::string name;
            Value value = tensor(name);
            graph.initializers[name] = std::move(value);
          });
          return true;
        case 11:
        case 12:
        case 13: {
          const int kind = number;
          message([&] {
            auto [name, value] = value_info();
            if (kind == 11) graph.inputs.push_back(name);
            if (kind == 12) graph.outputs.push_back(name);
            graph.declared[name] = std::move(value);
          });
          return true;
        }
        default: return false;
      }
    });
  }

  Node node() {
    Node read;
    keep(sizeof(Node));
    fields([&](int number) {
      switch (number) {
        case 1: read.inputs.push_back(text()); return true;
        case 2: read.outputs.push_back(text()); return true;
        case 3: read.name = text(); return true;
        case 4: read.type = text(); return true;
        case 5: message([&] { attribute(read); }); return true;
        case 7: read.domain = text(); return true;
        default: return false;
      }
    });
    read.byte = in_.CurrentPosition();
    return read;
  }

  void attribute(Node& of) {
    std::string name;
    Attribute read;
    keep(sizeof(Attribute));
    fields([&](int field) {
      switch (field) {
        case 1: name = text(); return true;
        case 3: read.number = number(); return true;
        case 4: read.text = text(); return true;
        case 5:
          message([&] {
            std::string ignored;
            read.tensor = tensor(ignored);
          });
          return true;
        case 6:
        case 11: read.has_graph = true; return false;
        case 8: numbers(read.numbers, kMaxElements); return true;
        default: return false;
      }
    });
    of.attributes[name] = std::move(read);
  }

  /// A tensor's shape; its elements only where they are few whole numbers.
  Value tensor(std::string& name) {
    Shape shape;
    std::vector<Count> elements;
    std::string raw;
    Count type = 0;
    bool has_raw = false;
    fields([&](int field) {
      switch (field) {
        case 1: numbers(shape, kMaxElements); return true;
        case 2: type = number(); return true;
        case 5:
        case 7: numbers(elements, kMaxElements); return true;
        case 8: name = text(); return true;
        case 9: has_raw = raw_bytes(raw); return true;
        default: return false;
      }
    });
    Value value;
    if (has_raw && (type == kInt64 || type == kInt32)) elements = decode(raw, type == kInt64 ? 8 : 4);
    Count size = 1;
    for (const Count dim : shape)
      size = dim < 0 || size > static_cast<Count>(kMaxElements) ? -1 : size * std::min<Count>(dim, kMaxElements + 1);
    if ((type == kInt64 || type == kInt32) && size == static_cast<Count>(elements.size()))
      value.elements = std::move(elements);
    value.shape = std::move(shape);
    return value;
  }

  /// Keeps the bytes if they are few; weights are skipped.
  bool raw_bytes(std::string& raw) {
    expect(WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    const int length = length_ahead();
    if (static_cast<std::size_t>(length) <= kMaxElements * sizeof(Count)) {
      keep(static_cast<std::size_t>(length));
      if (!in_.ReadString(&raw, length)) broken("truncated or not protobuf");
      return true;
    }
    if (!in_.Skip(length)) broken("truncated: a tensor's data ends too early");
    return false;
  }

  /// Little-endian whole numbers, as the format stores them.
  static std::vector<Count> decode(const std::string& raw, std::size_t width) {
    std::vector<Count> all;
    for (std::size_t at = 0; at + width <= raw.size(); at += width) {
      std::uint64_t value = 0;
      for (std::size_t b = 0; b < width; ++b)
        value |= std::uint64_t{static_cast<unsigned char>(raw[at + b])} << (8 * b);
      all.push_back(width == 4 ? static_cast<Count>(static_cast<std::int32_t>(value)) : static_cast<Count>(value));
    }
    return all;
  }

  std::pair<std::string, Value> value_info() {
    std::string name;
    Value value;
    fields([&](int field) {
      if (field == 1) {
        name = text();
        return true;
      }
      if (field != 2) return false;
      message([&] {  // TypeProto
        fields([&](int type) {
          if (type != 1) return false;
          message([&] { tensor_type(value); });
          return true;
        });
      });
      return true;
    });
    return {name, value};
  }

  void tensor_type(Value& value) {
    fields([&](int field) {
      if (field != 2) return false;
      value.shape.emplace();
      message([&] {  // TensorShapeProto
        fields([&](int dim) {
          if (dim != 1) return false;
          Count size = -1;
          std::string axis;
          message([&] {
            fields([&](int kind) {
              if (kind == 1) size = number();
              if (kind == 2) axis = text();
              return kind == 1 || kind == 2;
            });
          });
          keep(sizeof(Count) + axis.size());
          value.shape->push_back(size >= 0 ? size : -1);
          value.axes.push_back(std::move(axis));
          return true;
        });
      });
      return true;
    });
  }

  const SourceFile& file_;
  CodedInputStream in_;
  std::uint32_t tag_ = 0;
  int depth_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace

Count Node::number(const std::string& key, Count otherwise) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : found->second.number.value_or(otherwise);
}

std::vector<Count> Node::numbers(const std::string& key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::vector<Count>{} : found->second.numbers;
}

std::string Node::text(const std::string& key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? "" : found->second.text;
}

Graph read_graph(const SourceFile& file) {
  Bytes bytes(file);
  return WireReader(file, bytes.stream()).model();
}

}  // namespace pliant::onnx
