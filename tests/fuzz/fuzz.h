// Fuzz: shared by the fuzz targets. NAME_fuzz.cpp defines NAME_fuzz, and the build finds it.
#pragma once

#include "base/error.h"
#include "base/fd.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zksh::fuzz {

/// Aborts, with what should hold and what was seen, unless `holds`.
void require(bool holds, std::string_view what, std::string_view seen = {});

/// Whether the body completed: an Error is a refusal; any other exception is a bug.
template <class Body>
bool accepts(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    require(*error.what() != '\0', "a refusal says why");
    return false;
  }
}

/// Requires that a terminal shows all of a text and interprets nothing. `lines`: newlines and tabs
/// are allowed.
void require_harmless(std::string_view text, bool lines = false);

/// Splits an input.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  /// The next byte; 0 at the end.
  unsigned char byte();
  /// The text up to the next newline, which is skipped.
  std::string_view line();
  std::string_view rest() const { return rest_; }
  /// The rest as lines, at most `most`.
  std::vector<std::string> lines(std::size_t most);

 private:
  std::string_view rest_;
};

/// A file in memory, with a name to open it by.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);

  const std::string& name() const { return name_; }

 private:
  Fd fd_;
  std::string name_;
};

/// A target, which gets untrusted bytes.
struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
/// The table that the build generates from the files, sorted by name.
extern const std::vector<Target> targets;
/// Chooses the target that LLVMFuzzerTestOneInput runs from now on; false if there is none of that
/// name.
bool choose_target(std::string_view name);

}  // namespace zksh::fuzz

/// The entry point for libFuzzer and for the replay.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
