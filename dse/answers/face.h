// SPDX-License-Identifier: Apache-2.0
// Who asks: a terminal, another program, Python. This is what an answer needs of them.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/input/load.h"

namespace pliant {

struct PhaseProgress;
struct Progress;
struct SweepProgress;

/// This one shows no progress and never stops the work.
class Face {
 public:
  /// Streams must outlive it. `library` has the shipped files.
  Face(std::ostream& out, std::ostream& err, Library library);
  virtual ~Face() = default;
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;

  std::ostream& out;  ///< the answer
  std::ostream& err;  ///< warnings, remarks, and what is wrong with a question
  const Library library;

  /// What begins now can be stopped until end_work(), as Interrupt does it.
  virtual std::stop_token begin_work(std::string_view last_words, double patience_seconds);
  virtual void end_work() {}

  /// Where the work is. May be called from any thread, often; a face shows what it wants to.
  virtual void begin_layer(const std::string& layer, std::size_t layers);
  virtual void show(const Progress& progress);  ///< of that layer
  virtual void show(const SweepProgress& progress);
  virtual void show(const PhaseProgress& progress);
  virtual void working(const std::function<std::string()>& text);
  virtual void note(const std::string& text);  ///< a remark that stays
  virtual void clear() {}                      ///< before anything else is told
};

/// While it lives, who asked may stop the work. A face that ends the process when it is asked twice, or when work does
/// not end within the patience, says the last words, which must outlive it. One at a time.
class Interrupt {
 public:
  explicit Interrupt(Face& face, std::string_view last_words = {},
                     double patience_seconds = std::numeric_limits<double>::infinity())
      : face_(face), token_(face.begin_work(last_words, patience_seconds)) {}
  ~Interrupt() { face_.end_work(); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  const std::stop_token& token() const { return token_; }
  bool asked() const { return token_.stop_requested(); }

 private:
  Face& face_;
  std::stop_token token_;
};

}  // namespace pliant
