// PastFiles: the files of a server as they would be if it had stopped at a moment.
#include "txnlog/past_files.h"

#include "base/error.h"
#include "txnlog/snapshot.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace zksh {
namespace {

class PastFile {
 public:
  PastFile(const std::filesystem::path& directory, std::string_view kind, std::int64_t zxid)
      : path_(directory / fmt::format("{}.{:x}", kind, static_cast<std::uint64_t>(zxid))),
        file_(path_, std::ios::binary) {}
  void write(std::string_view bytes) {
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void close() {
    file_.close();
    if (!file_)
      throw Error(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  }

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace

Replay write_past_files(const DataFiles& files, std::int64_t until,
                        const std::filesystem::path& directory, const std::stop_token& stop) {
  constexpr std::string_view header("ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16);
  std::optional<PastFile> log;
  auto past = replay(files, {.until = until,
                             .tree = false,
                             .stop = stop,
                             .applied = [&](const LoggedTransaction& txn, std::string_view frame) {
                               if (!log) log.emplace(directory, "log", txn.zxid).write(header);
                               log->write(frame);
                             }});
  if (log) log->close();
  if (past.first) return past;  // there is no snapshot
  PastFile snapshot(directory, "snapshot", past.snapshot.zxid);
  read_snapshot(past.snapshot.path,
                {.copy = [&](std::string_view bytes) { snapshot.write(bytes); }}, stop);
  snapshot.close();
  return past;
}

}  // namespace zksh
