// ScratchDirectory: a temporary directory and the programs that work in it, gone however zksh ends.
#pragma once

#include "base/fd.h"
#include "base/monitor.h"
#include "base/process.h"

#include <filesystem>
#include <optional>
#include <string>

namespace zksh {

/// A new directory under $TMPDIR, guarded by a janitor: a shell that outlives zksh by a moment.
///
/// The janitor reads a pipe whose only lasting write end is zksh's. A program that is started with
/// `guarded` writes its own pid there before it becomes the program, so that there is no moment at
/// which it runs unknown. At the end of the pipe, which the kernel brings about even for kill -9,
/// the janitor kills the programs and removes the directory. It is a /bin/sh in a session of its
/// own rather than a fork of zksh: that needs neither a hidden option of main nor a process without
/// threads, and neither Ctrl-C, a hang-up nor a kill of zksh's process group reaches it.
class ScratchDirectory {
 public:
  /// `name`: how the directory's name begins. Throws Error when it cannot be made.
  ScratchDirectory(Monitor& monitor, const std::string& name);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  /// Ends the programs and removes the directory before it returns.
  ~ScratchDirectory();

  /// Absolute.
  const std::filesystem::path& path() const { return path_; }
  /// The same program, in a session of its own, made to end with zksh. Its working directory has to
  /// be below path(), and stay there: the janitor kills no process that works elsewhere.
  Program guarded(Program program) const;

 private:
  Monitor& monitor_;
  std::filesystem::path path_;
  Fd pipe_;
  std::optional<Process> janitor_;
};

}  // namespace zksh
