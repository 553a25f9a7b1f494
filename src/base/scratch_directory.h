// ScratchDirectory: a temporary directory that is removed, with the programs in it, however zksh
// ends.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "base/process.h"

#include <filesystem>
#include <optional>
#include <string>

namespace zksh {

/// A new directory in $TMPDIR, guarded by a janitor, a shell that briefly outlives zksh.
///
/// The janitor reads a pipe whose only lasting write end is zksh's. A program started with
/// `guarded` writes its pid there before it executes, so it is never unknown while it runs. When
/// the pipe ends, which the kernel ensures even after kill -9, the janitor kills the programs and
/// removes the directory. It is a /bin/sh in a session of its own and not a fork of zksh: that
/// needs neither a hidden option nor a process without threads, and Ctrl-C, a hang-up or a kill of
/// zksh's process group do not reach it.
class ScratchDirectory {
 public:
  /// `name` is the prefix of the directory's name. Throws Error if it cannot be created.
  ScratchDirectory(Monitor& monitor, const std::string& name);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  /// Ends the programs and removes the directory before it returns.
  ~ScratchDirectory();

  /// An absolute path.
  const std::filesystem::path& path() const { return path_; }
  /// The same program, in a session of its own, changed to end with zksh. Its working directory
  /// must be below path(), and stay there: the janitor kills no process elsewhere.
  Program guarded(Program program) const;

 private:
  Monitor& monitor_;
  std::filesystem::path path_;
  Fd pipe_;
  std::optional<Process> janitor_;
};

}  // namespace zksh
