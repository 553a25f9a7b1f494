// TransactionReader: the transactions of many logs, in order, each once.
#pragma once

#include "base/error.h"
#include "txnlog/data_files.h"
#include "txnlog/log_file.h"
#include "txnlog/transaction.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zksh {

/// Logs may overlap if they tell the same, such as those of two members of an ensemble. Keeps a
/// buffer for each log that is open, which is one unless they overlap. What was never
/// agreed on is passed over.
class TransactionReader {
 public:
  /// Two logs have different transactions with the same zxid.
  class Contradiction : public Error {
   public:
    Contradiction(std::string file, const std::string& problem, std::int64_t zxid)
        : Error(fmt::format("{}; {}", problem, remedy)),
          file_(std::move(file)),
          problem_(problem),
          zxid_(zxid) {}

    const std::string& file() const { return file_; }
    const std::string& problem() const { return problem_; }
    std::int64_t zxid() const { return zxid_; }
    static constexpr std::string_view remedy = "name the files of one server";

   private:
    std::string file_;
    std::string problem_;
    std::int64_t zxid_;
  };

  /// Begins with the log that may have this zxid or, if there is none before it, with the first.
  /// `files` must outlive it. `report` is called for damage and gaps, before what follows them.
  TransactionReader(const DataFiles& files, std::int64_t from, LogFile::Report report);

  /// Reads the next transaction into `txn`, whose texts are valid until the next call; false at the
  /// end. `follows`: the last log may be growing; then call it again later, after
  /// DataFiles::refresh. Throws Contradiction, and Error if a log cannot be read.
  bool next(LoggedTransaction& txn, bool follows = false);

  /// Where the last transaction stood: the file, offset, and its bytes with their frame.
  const std::string& file() const { return current_->path(); }
  std::uint64_t offset() const { return record_.offset; }
  std::string_view frame() const { return record_.whole; }

  std::int64_t last_zxid() const { return last_zxid_; }
  /// Of records that are damaged, written again, or in another log too.
  std::uint64_t bytes_passed_over() const { return passed_over_; }
  /// Of the logs to be read, for the progress.
  std::uint64_t bytes_read() const;
  std::uint64_t bytes_total() const { return total_bytes_; }

 private:
  struct Source {
    std::unique_ptr<LogFile> log;
    std::optional<LogFile::Record> record{};  ///< not yet returned
    bool disorder_told = false;
    bool repeat_told = false;
  };
  bool was_read(const LogFile::Record& record);
  void end_repetition();
  void report(Flaw flaw);
  void open(const DataFiles::File& file);
  void settle(bool follows);
  bool accept(Source& source, LoggedTransaction& txn);
  void drop_repeated(const Source& chosen);
  bool drop_not_agreed(const Source& source, std::int64_t zxid);
  void report_not_agreed();
  void check_gap(std::int64_t zxid);

  const DataFiles& files_;
  LogFile::Report report_;
  std::list<Source> sources_{};
  DataFiles::File opened_{.zxid = INT64_MIN};  ///< the last
  std::int64_t last_zxid_ = 0;
  std::unique_ptr<TransactionReader> earlier_{};  ///< reads again what may have been repeated
  int rereadings_ = 0;
  std::optional<Flaw> repetition_{};  ///< its last transaction
  std::uint64_t finished_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t passed_over_ = 0;
  LogFile* current_ = nullptr;
  LogFile::Record record_{};
  Source* consumed_ = nullptr;        ///< its record was returned
  std::optional<Flaw> not_agreed_{};  ///< since the last transaction
  bool damaged_ = false;              ///< since the last transaction
  bool any_ = false;
};

}  // namespace zksh
