// LogFile: reads the records of one transaction log, and passes over what is damaged.
#include "txnlog/log_file.h"

#include "base/error.h"
#include "base/jute.h"
#include "base/named_values.h"
#include "base/number.h"
#include "base/zlib.h"
#include "txnlog/transaction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t prefix_size = 12;  ///< checksum and length
constexpr char end_mark = 'B';
constexpr std::string_view log_magic = "ZKLG";
constexpr std::size_t read_size = 256U << 10U;

using Kind = Flaw::Kind;

std::string zxids(const Flaw& flaw) {
  if (flaw.kind == Kind::NotAgreed && flaw.before != flaw.after)
    return fmt::format(", {} to {}", zxid_text(flaw.after), zxid_text(flaw.before));
  if (flaw.after == 0 && flaw.before == 0) return "";
  if (flaw.before == flaw.after) return fmt::format(", {}", zxid_text(flaw.after));
  if (flaw.before == 0) return fmt::format(", after {}", zxid_text(flaw.after));
  if (flaw.after == 0) return fmt::format(", before {}", zxid_text(flaw.before));
  return fmt::format(", between {} and {}", zxid_text(flaw.after), zxid_text(flaw.before));
}

constexpr NamedValues<Kind, 18> flaw_clauses{{
    {"a wrong checksum", Kind::Checksum},
    {"a record without its end mark", Kind::NoEndMark},
    {"a record with an impossible length", Kind::BadLength},
    {"zeros before more data", Kind::AfterEnd},
    {"a record whose contents are malformed", Kind::Malformed},
    {"a record whose contents are incomplete", Kind::Incomplete},
    {"a multi with a part that is malformed or unknown", Kind::BadPart},
    {"a transaction of an unknown type", Kind::UnknownType},
    {"the last record is incomplete", Kind::Torn},
    {"the file is cut off within a record, so it is a truncated copy", Kind::CutOff},
    {"the file is empty", Kind::Empty},
    {"the header is damaged", Kind::BadHeader},
    {"a transaction out of order", Kind::Unordered},
    {"a transaction that is written more than once", Kind::Repeated},
    {"transactions are missing", Kind::Gap},
    {"never agreed on: the other servers went on in a new epoch without it", Kind::NotAgreed},
    {"it is packed, and must be unpacked with gunzip first", Kind::Packed},
    {"this is not a transaction log", Kind::NotALog},
}};

std::string what_is_wrong(const Flaw& flaw) {
  if (flaw.kind == Kind::TooLong)
    return fmt::format("a record longer than {} MiB", LogFile::longest_record >> 20U);
  if (flaw.kind == Kind::NoHeader)
    return flaw.length == 0 ? "the file ends within its header" : "the file has only zeros";
  return std::string(name_of(flaw_clauses, flaw.kind));
}

}  // namespace

std::string flaw_clause(const Flaw& flaw) {
  auto text = what_is_wrong(flaw) + zxids(flaw);
  if (flaw.bytes > 0) text += fmt::format("; {} passed over", counted(flaw.bytes, "byte"));
  return text;
}

std::string flaw_text(const Flaw& flaw) {
  return fmt::format("{}:{}: {}", flaw.file, flaw.offset, flaw_clause(flaw));
}

LogFile::LogFile(std::string path, Report report)
    : path_(std::move(path)), report_(std::move(report)), fd_(open_to_read(path_)) {
  refresh_size();
}

void LogFile::refresh_size() {
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0)
    throw ValueError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

/// Less than `count` only at the end of the file. Valid until the next call.
std::string_view LogFile::bytes_at(std::uint64_t offset, std::size_t count) {
  if (offset >= buffered_at_ && offset + count <= buffered_at_ + buffer_.size())
    return std::string_view(buffer_).substr(offset - buffered_at_, count);
  const auto left = offset < size_ ? size_ - offset : 0;
  const auto wanted = std::min<std::uint64_t>(left, std::max(count, read_size));
  if (buffer_.capacity() > 2 * read_size && wanted <= read_size) std::string().swap(buffer_);
  buffered_at_ = offset;
  read_at(fd_, offset, wanted, buffer_, path_);
  return std::string_view(buffer_).substr(0, count);
}

std::uint32_t LogFile::checksum_at(std::uint64_t offset, std::uint64_t count) {
  auto sum = adler32_start;
  while (count > 0) {
    const auto bytes = bytes_at(offset, std::min<std::uint64_t>(count, read_size));
    if (bytes.empty()) break;
    sum = adler32_of(bytes, sum);
    offset += bytes.size();
    count -= bytes.size();
  }
  return sum;
}

LogFile::Frame LogFile::frame_at(std::uint64_t offset) {
  using State = Frame::State;
  JuteReader prefix(bytes_at(offset, prefix_size));
  if (prefix.left() < prefix_size) return {.state = State::End};
  const auto sum = static_cast<std::uint64_t>(prefix.long_integer());
  const auto length = prefix.integer();
  if (sum == 0 && length == 0) return {.state = State::End};
  const auto left = size_ - offset - prefix_size;
  const Frame bad{.state = State::Bad, .flaw = Kind::BadLength, .claimed = length};
  if (length <= 0 || static_cast<std::uint64_t>(length) + 1 > left) return bad;
  const auto size = static_cast<std::size_t>(length);
  const Frame bad_sum{State::Bad, Kind::Checksum, prefix_size + size + 1, length, {}};
  // Nothing is reserved for a length before its checksum has proved it.
  const bool long_one = bad_sum.length > read_size;
  if (long_one) {
    const auto mark = bytes_at(offset + prefix_size + size, 1);
    if (mark.empty() || mark.front() != end_mark)
      return {.state = State::Bad, .flaw = Kind::NoEndMark, .claimed = length};
    if (checksum_at(offset + prefix_size, size) != sum) return bad_sum;
    if (size > longest_record) return {State::Bad, Kind::TooLong, bad_sum.length, length, {}};
  }
  const auto whole = bytes_at(offset, bad_sum.length);
  if (whole.size() < bad_sum.length) return bad;
  if (whole.back() != end_mark)
    return {.state = State::Bad, .flaw = Kind::NoEndMark, .claimed = length};
  if (adler32_of(whole.substr(prefix_size, size)) != sum) return bad_sum;
  if (size < txn_header_size) return {State::Bad, Kind::Incomplete, bad_sum.length, length, {}};
  return {State::Whole, Kind::Checksum, bad_sum.length, length, whole};
}

/// The first byte from `offset` on that is not zero. Holes in the file cost nothing.
std::optional<std::uint64_t> LogFile::data_after(std::uint64_t offset) {
  while (offset < size_) {
    const auto data = lseek(fd_.get(), static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0 && errno == ENXIO) return std::nullopt;
    if (data > 0) offset = static_cast<std::uint64_t>(data);
    const auto bytes = bytes_at(offset, read_size);
    if (bytes.empty()) return std::nullopt;
    const auto found = bytes.find_first_not_of('\0');
    if (found != std::string_view::npos) return offset + found;
    offset += bytes.size();
  }
  return std::nullopt;
}

/// Where the next intact record begins, at `offset` or later, and before `until`.
std::optional<std::uint64_t> LogFile::record_after(std::uint64_t offset, std::uint64_t until) {
  // Bytes that resemble records must not make the search take the square of their number.
  const auto most_searched = 16 * size_ + (64U << 20U);
  constexpr std::string_view zeros("\0\0\0\0", 4);
  while (offset + prefix_size < size_ && offset < until && searched_ < most_searched) {
    // A checksum uses only the lower 32 of its 64 bits, so it begins with four zero bytes.
    const auto bytes = bytes_at(offset, read_size);
    const auto found = bytes.find(zeros);
    if (found == std::string_view::npos) {
      if (bytes.size() < read_size) return std::nullopt;
      offset += bytes.size() - zeros.size() + 1;
      continue;
    }
    offset += found;
    JuteReader prefix(bytes_at(offset, prefix_size));
    prefix.long_integer();
    const auto length = prefix.integer();
    if (prefix.failed()) return std::nullopt;
    if (length == 0) {
      const auto after_zeros = data_after(offset);
      if (!after_zeros) return std::nullopt;
      constexpr std::uint64_t most_zeros = prefix_size;  // of a prefix, before its length
      offset = std::max(offset + 1, *after_zeros - std::min(*after_zeros, most_zeros));
      continue;
    }
    if (length >= static_cast<std::int32_t>(txn_header_size) &&
        static_cast<std::uint64_t>(length) < size_ - offset) {
      searched_ += static_cast<std::uint64_t>(length);
      if (static_cast<std::uint64_t>(length) > read_size) searched_ += 2 * read_size;
      const auto frame = frame_at(offset);
      if (frame.state == Frame::State::Whole &&
          zxid_of(frame.whole.substr(prefix_size)) > last_zxid_)
        return offset;
    }
    ++offset;
  }
  return std::nullopt;
}

void LogFile::report(Kind kind, std::uint64_t until, std::int64_t before, bool harmless,
                     std::int64_t length) {
  constexpr std::int64_t most_kept = 1 << 20;
  if (!report_) return;
  Flaw flaw{.kind = kind,
            .file = path_,
            .offset = at_,
            .bytes = until - at_,
            .after = last_zxid_,
            .before = before,
            .length = length,
            .harmless = harmless};
  if (kind == Kind::Checksum && length > 0 && length <= most_kept)
    flaw.body = bytes_at(at_ + prefix_size, static_cast<std::size_t>(length));
  report_(flaw);
}

/// False if there is none yet, or the file is something else. Records may follow a damaged one.
bool LogFile::read_header(bool grows) {
  constexpr std::uint64_t far = 4U << 20U;  // other files are not searched to their ends
  const auto header = bytes_at(0, header_size);
  const bool zeros = header.find_first_not_of('\0') == std::string_view::npos;
  const bool begun =
      header.size() < header_size && log_magic.starts_with(header.substr(0, log_magic.size()));
  const bool sound = !begun && header.starts_with(log_magic);
  if (!sound) {
    if (grows && (begun || zeros)) return false;
    const bool packed = header.starts_with(gzip_magic);
    const auto first = begun || packed ? std::nullopt : record_after(0, zeros ? size_ : far);
    if (!first) {
      const bool only_zeros = zeros && !data_after(0);
      if (begun || only_zeros)
        report(size_ == 0 ? Kind::Empty : Kind::NoHeader, 0, 0, false,
               size_ < header_size ? 0 : static_cast<std::int64_t>(size_));
      else
        report(packed ? Kind::Packed : Kind::NotALog, 0, 0);
      ended_ = ended_ || !(begun || only_zeros);
      return false;
    }
    report(Kind::BadHeader, *first, zxid_of(frame_at(*first).whole.substr(prefix_size)));
    at_ = *first;
  } else {
    at_ = header_size;
  }
  headed_ = true;
  return true;
}

/// Continues after damage; false if nothing intact follows.
bool LogFile::pass_over(const Frame& frame) {
  // A value may look like a record, so the frame's own length comes first.
  auto next = at_ + frame.length;
  auto follows = frame.length > 0 ? frame_at(next) : Frame{.state = Frame::State::Bad};
  if (follows.state == Frame::State::Bad) {
    const auto found = record_after(at_ + 1);
    if (!found) return false;
    next = *found;
    follows = frame_at(next);
  }
  const auto before = follows.state == Frame::State::Whole
                          ? zxid_of(follows.whole.substr(prefix_size))
                          : std::int64_t{0};
  // A server may have completed the record while the next one was looked for.
  buffer_.clear();
  if (frame_at(at_).state == Frame::State::Whole) return true;
  report(frame.flaw, next, before, false, frame.claimed);
  at_ = next;
  return true;
}

/// Zeros end a log, unless something follows.
void LogFile::end_of_data() {
  const auto data = data_after(at_);
  const auto next = data ? record_after(at_) : std::nullopt;
  if (next) {
    const auto follows = frame_at(*next);
    report(Kind::AfterEnd, *next, zxid_of(follows.whole.substr(prefix_size)));
    at_ = *next;
    return;
  }
  const bool cut = size_ - at_ < prefix_size;
  if (data) report(cut ? Kind::CutOff : Kind::AfterEnd, size_, 0);
  ended_ = true;
}

/// Nothing intact follows a bad record. A server that is killed leaves zeros from some byte of the
/// record on, since it writes ahead; a copy that is cut off has none, and a damaged record has its
/// end.
void LogFile::end_within(const Frame& frame) {
  const auto claimed = frame.claimed;
  const bool plausible = claimed >= 0 && claimed <= static_cast<std::int64_t>(longest_record);
  const auto end =
      at_ + prefix_size + static_cast<std::uint64_t>(std::max<std::int64_t>(claimed, 0));
  auto kind = frame.flaw;
  if (kind == Kind::BadLength && plausible && claimed > 0)
    kind = Kind::CutOff;
  else if ((kind == Kind::NoEndMark || kind == Kind::BadLength) && plausible && !data_after(end))
    kind = Kind::Torn;
  report(kind, size_, 0, kind == Kind::Torn, claimed);
  ended_ = true;
}

std::optional<LogFile::Record> LogFile::next(bool grows) {
  grows_ = grows_ || grows;
  bool stale = grows_;  // what was read before may not be all
  const auto read_again = [&] {
    refresh_size();
    buffer_.clear();
    return std::exchange(stale, false);
  };
  if (!headed_ && !ended_) {
    if (stale) read_again();
    if (!read_header(grows)) {
      ended_ = ended_ || !grows;
      return std::nullopt;
    }
  }
  while (!ended_) {
    const auto frame = frame_at(at_);
    if (frame.state == Frame::State::Whole) {
      const Record record{
          .offset = at_,
          .body = frame.whole.substr(prefix_size, frame.whole.size() - prefix_size - 1),
          .whole = frame.whole};
      at_ += frame.whole.size();
      last_zxid_ = std::max(last_zxid_, zxid_of(record.body));
      return record;
    }
    if (stale && read_again()) continue;
    const bool bad = frame.state == Frame::State::Bad;
    if (bad && pass_over(frame)) continue;
    if (grows) return std::nullopt;
    if (bad)
      end_within(frame);
    else
      end_of_data();
  }
  return std::nullopt;
}

}  // namespace zksh
