// LogFile: reads the records of one transaction log, and passes over what is damaged.
#pragma once

#include "base/fd.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zksh {

/// What is wrong with a file, or between two.
struct Flaw {
  enum class Kind {
    Checksum,     ///< a record's bytes are not those that were written
    NoEndMark,    ///< a record does not end where its length says
    BadLength,    ///< a length is negative, or beyond the end of the file
    AfterEnd,     ///< there is something after the zeros that end a log
    Malformed,    ///< the checksum is right, the contents are not
    Incomplete,   ///< the same, and the contents end too early
    BadPart,      ///< the same, in a part of a multi
    TooLong,      ///< a record too long to be read
    UnknownType,  ///< a transaction of an unknown type
    Torn,         ///< the last record is incomplete, with zeros after it, as a server leaves it
    CutOff,       ///< the file ends within a record, before any zeros, as a copy does
    Empty,        ///< a file without a byte
    NoHeader,     ///< without a whole header, or any record
    BadHeader,    ///< another header, and records after it
    Unordered,    ///< a zxid that is not above the one before
    Repeated,     ///< a transaction that was read before, once more
    Gap,          ///< transactions are missing
    NotAgreed,    ///< one server wrote them, from `after` to `before`, and the others went on
                  ///< without them
    Packed,       ///< compressed by gzip, perhaps a log
    NotALog,      ///< another kind of file
  };
  Kind kind = Kind::Checksum;
  std::string file{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< passed over
  std::int64_t after = 0;   ///< the last zxid before; 0: none
  std::int64_t before = 0;  ///< the first zxid after; 0: none
  std::int64_t length = 0;  ///< that the record claims to have; may be negative
  std::string body{};       ///< of a record with a wrong checksum, unless it is long
  /// Nothing that servers had acknowledged is lost by it, so far as the file tells.
  bool harmless = false;

  /// Whether nothing was ever in the file.
  bool is_unbegun() const { return kind == Kind::Empty || kind == Kind::NoHeader; }
};
/// A sentence for the user, with the file, the place and the zxids.
std::string flaw_text(const Flaw& flaw);
/// The same without the file and the place.
std::string flaw_clause(const Flaw& flaw);

/// FileTxnLog and FilePadding of ZooKeeper 3.4 to 3.9. A file that a server is writing may be read.
class LogFile {
 public:
  static constexpr std::size_t header_size = 16;
  static constexpr std::size_t longest_record = 48U << 20U;
  using Report = std::function<void(const Flaw&)>;
  struct Record {
    std::uint64_t offset = 0;
    std::string_view body{};   ///< valid until the next call; at least txn_header_size bytes
    std::string_view whole{};  ///< with checksum, length and end mark
  };

  /// Throws Error if the file cannot be opened. Damage is reported before the record after it.
  LogFile(std::string path, Report report);

  /// The next intact record; nullopt at the end. `grows`: a server may be writing it; the end is
  /// then not judged, and the next call looks again for what has been added. Throws Error if the
  /// file cannot be read.
  std::optional<Record> next(bool grows = false);

  const std::string& path() const { return path_; }
  /// Where the next record is expected.
  std::uint64_t offset() const { return at_; }

 private:
  /// What stands at an offset.
  struct Frame {
    enum class State { Whole, End, Bad };
    State state = State::End;
    Flaw::Kind flaw = Flaw::Kind::Checksum;
    std::uint64_t length = 0;  ///< of the whole frame; 0 if it is not known
    std::int64_t claimed = 0;  ///< the record's length as written there
    std::string_view whole{};  ///< of a Whole one
  };
  bool read_header(bool grows);
  std::string_view bytes_at(std::uint64_t offset, std::size_t count);
  std::uint32_t checksum_at(std::uint64_t offset, std::uint64_t count);
  Frame frame_at(std::uint64_t offset);
  std::optional<std::uint64_t> data_after(std::uint64_t offset);
  std::optional<std::uint64_t> record_after(std::uint64_t offset, std::uint64_t until = UINT64_MAX);
  bool pass_over(const Frame& frame);
  void end_of_data();
  void end_within(const Frame& frame);
  void report(Flaw::Kind kind, std::uint64_t until, std::int64_t before, bool harmless = false,
              std::int64_t length = 0);
  void refresh_size();

  std::string path_;
  Report report_;
  Fd fd_;
  std::string buffer_{};
  std::uint64_t buffered_at_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  std::int64_t last_zxid_ = 0;
  std::uint64_t searched_ = 0;  ///< bytes looked at in searches for the next record
  bool headed_ = false;
  bool ended_ = false;
  bool grows_ = false;  ///< a server may have written since it was read
};

}  // namespace zksh
