// LogFile: reads the records of one transaction log, and passes over what is damaged.
#include "txnlog/log_file.h"

#include "base/error.h"
#include "base/jute.h"
#include "base/number.h"
#include "base/zlib.h"
#include "txnlog/transaction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t header_size = 16;
constexpr std::size_t prefix_size = 12;  ///< checksum and length
constexpr char end_mark = 'B';
constexpr std::string_view log_magic = "ZKLG";
constexpr std::size_t read_size = 256U << 10U;

using Kind = Flaw::Kind;

std::string zxids(const Flaw& flaw) {
  if (flaw.after == 0 && flaw.before == 0) return "";
  if (flaw.before == flaw.after) return fmt::format(", {}", zxid_text(flaw.after));
  if (flaw.before == 0) return fmt::format(", after {}", zxid_text(flaw.after));
  if (flaw.after == 0) return fmt::format(", before {}", zxid_text(flaw.before));
  return fmt::format(", between {} and {}", zxid_text(flaw.after), zxid_text(flaw.before));
}

std::string what_is_wrong(const Flaw& flaw) {
  switch (flaw.kind) {
    case Kind::Checksum:
      return "a wrong checksum";
    case Kind::NoEndMark:
      return "a record without its end mark";
    case Kind::BadLength:
      return "a record with an impossible length";
    case Kind::AfterEnd:
      return "zeros before more data";
    case Kind::Malformed:
      return "a record whose contents are malformed";
    case Kind::TooLong:
      return fmt::format("a record longer than {} MiB", LogFile::longest_record >> 20U);
    case Kind::UnknownType:
      return "a transaction of an unknown type";
    case Kind::Torn:
      return "the last record is incomplete";
    case Kind::Empty:
      return "the file is empty";
    case Kind::NoHeader:
      return "the file ends within its header";
    case Kind::Unordered:
      return "a transaction out of order";
    case Kind::Repeated:
      return "a transaction that is written more than once";
    case Kind::Gap:
      return "transactions are missing";
    case Kind::Packed:
      return "it is packed, and must be unpacked with gunzip first";
    case Kind::NotALog:
      return "this is not a transaction log";
  }
  return {};
}

}  // namespace

std::string flaw_text(const Flaw& flaw) {
  auto text = fmt::format("{}:{}: {}{}", flaw.file, flaw.offset, what_is_wrong(flaw), zxids(flaw));
  if (flaw.bytes > 0) text += fmt::format("; {} passed over", counted(flaw.bytes, "byte"));
  return text;
}

std::string flaw_remedy(const Flaw& flaw) {
  switch (flaw.kind) {
    case Kind::Torn:
      return "nothing to do: it was being written when the server stopped, and was not "
             "acknowledged";
    case Kind::Empty:
      return "remove the file: no transactions are in it, and servers before 3.9.3 do not start";
    case Kind::NoHeader:
      return "remove the file: no transactions are in it, and servers do not start";
    case Kind::UnknownType:
      return "read it with a newer zksh";
    case Kind::Unordered:
      return "take the files of another member: servers apply it all the same";
    case Kind::Repeated:
      return "nothing to do: to apply it again changes nothing";
    case Kind::Gap:
      return "add the missing logs, or take the files of another member";
    case Kind::Packed:
      return "gunzip it: servers do not read packed logs";
    case Kind::NotALog:
      return "remove the file";
    default:
      return "take the files of another member: servers do not start, or stop reading here";
  }
}

LogFile::LogFile(std::string path, Report report)
    : path_(std::move(path)),
      report_(std::move(report)),
      fd_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!fd_) throw ValueError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
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
  buffer_.resize(wanted);
  buffered_at_ = offset;
  std::size_t have = 0;
  while (have < buffer_.size()) {
    const auto got = pread(fd_.get(), buffer_.data() + have, buffer_.size() - have,
                           static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      buffer_.clear();
      throw ValueError(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  buffer_.resize(have);
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
  if (length <= 0 || static_cast<std::uint64_t>(length) + 1 > left)
    return {.state = State::Bad, .flaw = Kind::BadLength};
  const auto size = static_cast<std::size_t>(length);
  const Frame bad_sum{State::Bad, Kind::Checksum, prefix_size + size + 1, {}};
  // Nothing is reserved for a length before its checksum has proved it.
  const bool long_one = bad_sum.length > read_size;
  if (long_one) {
    const auto mark = bytes_at(offset + prefix_size + size, 1);
    if (mark.empty() || mark.front() != end_mark)
      return {.state = State::Bad, .flaw = Kind::NoEndMark};
    if (checksum_at(offset + prefix_size, size) != sum) return bad_sum;
    if (size > longest_record)
      return {.state = State::Bad, .flaw = Kind::TooLong, .length = bad_sum.length};
  }
  const auto whole = bytes_at(offset, bad_sum.length);
  if (whole.size() < bad_sum.length) return {.state = State::Bad, .flaw = Kind::BadLength};
  if (whole.back() != end_mark) return {.state = State::Bad, .flaw = Kind::NoEndMark};
  if (adler32_of(whole.substr(prefix_size, size)) != sum) return bad_sum;
  if (size < txn_header_size)
    return {.state = State::Bad, .flaw = Kind::Malformed, .length = bad_sum.length};
  return {.state = State::Whole, .length = bad_sum.length, .whole = whole};
}

/// The first byte from `offset` on that is not zero. Holes of the file cost nothing.
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

/// Where the next intact record begins, at `offset` or later.
std::optional<std::uint64_t> LogFile::record_after(std::uint64_t offset) {
  // Bytes that resemble records must not make the search take the square of their number.
  const auto most_searched = 16 * size_ + (64U << 20U);
  constexpr std::string_view zeros("\0\0\0\0", 4);
  while (offset + prefix_size < size_ && searched_ < most_searched) {
    // A checksum has 32 of its 64 bits.
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

void LogFile::report(Kind kind, std::uint64_t until, std::int64_t before, bool harmless) {
  if (report_)
    report_({.kind = kind,
             .file = path_,
             .offset = at_,
             .bytes = until - at_,
             .after = last_zxid_,
             .before = before,
             .harmless = harmless});
}

/// False if there is none yet, or the file is something else.
bool LogFile::read_header(bool grows) {
  const auto header = bytes_at(0, header_size);
  const bool zeros = header.find_first_not_of('\0') == std::string_view::npos;
  const bool begun =
      header.size() < header_size && log_magic.starts_with(header.substr(0, log_magic.size()));
  if (begun || zeros) {
    if (!grows) report(size_ == 0 ? Kind::Empty : Kind::NoHeader, 0, 0);
    return false;
  }
  if (!header.starts_with(log_magic)) {
    report(header.starts_with(gzip_magic) ? Kind::Packed : Kind::NotALog, 0, 0);
    ended_ = true;
    return false;
  }
  at_ = header_size;
  headed_ = true;
  return true;
}

/// Continues behind damage; false if nothing intact follows.
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
  report(frame.flaw, next, before);
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
  // A torn record may end in zeros, or begin with them.
  const bool torn = size_ - at_ < prefix_size;
  if (data) report(torn ? Kind::Torn : Kind::AfterEnd, size_, 0, torn);
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
    if (bad) {
      report(Kind::Torn, size_, 0, true);
      ended_ = true;
    } else {
      end_of_data();
    }
  }
  return std::nullopt;
}

}  // namespace zksh
