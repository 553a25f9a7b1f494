// Fuzz: what the fuzz targets share. NAME_fuzz.cpp defines NAME_fuzz, and the build finds it.
#pragma once

#include "base/error.h"
#include "base/fd.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zksh::fuzz {

/// Ends the process, saying what should hold and what was seen, when it does not.
void require(bool holds, std::string_view what, std::string_view seen = {});

/// Whether the body ran to its end: an Error is a refusal, and anything else that it throws a flaw.
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

/// A terminal shows all of a text and obeys nothing of it. `newlines`: those are let through.
void require_harmless(std::string_view text, bool newlines = false);

/// Takes an input apart.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  /// 0 at the end.
  unsigned char byte();
  /// Up to the next newline, which is taken too.
  std::string_view line();
  std::string_view rest() const { return rest_; }
  /// What is left as lines; of many the first.
  std::vector<std::string> lines(std::size_t most);

 private:
  std::string_view rest_;
};

/// A file in memory, under a name by which it can be opened.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);

  const std::string& name() const { return name_; }

 private:
  Fd fd_;
  std::string name_;
};

/// A target: takes bytes that nobody trusts.
struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
/// The table that the build makes of the files, sorted by name.
extern const std::vector<Target> targets;
/// The target of a name that LLVMFuzzerTestOneInput runs from here on; false: there is none.
bool choose_target(std::string_view name);

}  // namespace zksh::fuzz

/// libFuzzer's entry, and that of the replay.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
