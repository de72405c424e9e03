// SPDX-License-Identifier: Apache-2.0
// Hostile files of jobs: sweeps (design searches among them) and certificates. The first byte chooses one, the rest is
// the text. Everything that is not accepted must end in an InputError; an accepted certificate must survive being
// written and read again.
// Run from the root of the checkout: build/fuzz/bin/jobs_fuzz CORPUS fuzz/corpus/jobs
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "dse/audit/certificate.h"
#include "dse/sweep/sweep.h"
#include "fuzz/fuzz_reader.h"

namespace pliant {
namespace {

void read_job(unsigned choice, std::string_view text) {
  static const Library library("configs");
  if (choice % 2 == 0) {
    parse_sweep_text(library, text, "fuzz.yaml");
    return;
  }
  const audit::Certificate read = audit::read_certificate(library, text, "fuzz.yaml");
  const std::string written = audit::write_certificate(read);
  if (audit::write_certificate(audit::read_certificate(library, written, "again.yaml")) != written) std::abort();
}

}  // namespace
}  // namespace pliant

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return pliant::fuzz_reader(data, size, pliant::read_job);
}
