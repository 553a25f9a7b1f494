// Snapshot: reads a snapshot of a tree, plain or packed, and checks it.
#include "txnlog/snapshot.h"

#include "base/fd.h"
#include "base/jute.h"
#include "base/zlib.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

namespace zksh {
namespace {

constexpr std::size_t piece_size = 256U << 10U;
constexpr std::uint64_t most_unpacked = 8ULL << 30U;
constexpr std::string_view snapshot_magic = "ZKSN";
constexpr std::size_t snappy_header = 16;

/// Reads a file from its beginning.
class RawFile {
 public:
  explicit RawFile(std::string path) : path_(std::move(path)), fd_(open_to_read(path_)) {}
  /// What tells how it is packed.
  std::string beginning() const {
    std::string bytes;
    read_at(fd_, 0, snappy_magic.size(), bytes, path_);
    return bytes;
  }
  /// The next piece; a short one only at the end.
  void next(std::string& into) {
    read_at(fd_, at_, piece_size, into, path_);
    at_ += into.size();
  }

 private:
  std::string path_;
  Fd fd_;
  std::uint64_t at_ = 0;
};

/// Decodes a raw block of Snappy (format_description.txt of google/snappy). Throws Error. These few
/// lines save zksh from loading a library at every start.
std::string unsnapped(std::string_view block) {
  const auto malformed = [] { return Error("a malformed Snappy block"); };
  const auto byte = [&]() -> std::size_t {
    if (block.empty()) throw malformed();
    const auto value = static_cast<unsigned char>(block.front());
    block.remove_prefix(1);
    return value;
  };
  const auto little_endian = [&](std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= byte() << (8 * i);
    return value;
  };
  constexpr std::size_t highest_ratio = 24;  // 64 bytes of 3
  const auto most = highest_ratio * block.size();
  std::size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto part = byte();
    if (shift > 28) throw malformed();
    length |= (part & 0x7fU) << shift;
    if (part < 0x80U) break;
  }
  if (length > most) throw malformed();
  std::string out;
  out.reserve(length);
  while (!block.empty()) {
    const auto tag = byte();
    if ((tag & 3U) == 0) {
      auto size = tag >> 2U;
      if (size >= 60) size = little_endian(size - 59);
      if (++size > block.size()) throw malformed();
      out += block.substr(0, size);
      block.remove_prefix(size);
    } else {
      const bool near = (tag & 3U) == 1;
      auto size = near ? 4 + ((tag >> 2U) & 7U) : 1 + (tag >> 2U);
      const auto back = near ? (tag >> 5U) << 8U | byte() : little_endian((tag & 3U) == 2 ? 2 : 4);
      if (back == 0 || back > out.size()) throw malformed();
      // The copied part may overlap what it makes.
      for (; size > 0; --size) out += out[out.size() - back];
    }
    if (out.size() > length) throw malformed();
  }
  if (out.size() != length) throw malformed();
  return out;
}

/// The bytes end too early.
class CutOff final : public Error {
 public:
  CutOff() : Error(std::string(DamagedSnapshot::cut_off)) {}
};

/// Gives the unpacked bytes piece by piece.
class Unpacking {
 public:
  explicit Unpacking(const std::string& path) : file_(path) {
    const auto beginning = file_.beginning();
    snappy_ = beginning.starts_with(snappy_magic);
    if (beginning.starts_with(gzip_magic))
      inflation_ = std::make_unique<Inflation>(
          [this] {
            file_.next(packed_);
            return std::string_view(packed_);
          },
          Compression::Gzip);
  }

  bool is_packed() const { return inflation_ || snappy_; }
  /// From now on, what cannot be unpacked is the end.
  void be_lenient() { lenient_ = is_packed(); }

  /// Empty at the end. Throws Error.
  const std::string& next() {
    try {
      read_next();
    } catch (const ValueError&) {
      throw;
    } catch (const Error&) {
      if (!lenient_) throw;
      piece_.clear();
    }
    unpacked_ += piece_.size();
    if (unpacked_ > most_unpacked)
      throw Error(fmt::format("it holds more than {} GiB", most_unpacked >> 30U));
    return piece_;
  }

 private:
  void read_next() {
    if (inflation_) {
      piece_.resize(piece_size);
      piece_.resize(inflation_->read(piece_.data(), piece_size));
    } else if (snappy_) {
      do piece_ = next_block();
      while (piece_.empty() && !ended_);
    } else {
      file_.next(piece_);
    }
  }

  /// Whether so many packed bytes are there, from packed_at_ on.
  bool has_packed(std::size_t count) {
    while (packed_.size() - packed_at_ < count) {
      packed_.erase(0, packed_at_);
      packed_at_ = 0;
      file_.next(more_);
      if (more_.empty()) return false;
      packed_ += more_;
    }
    return true;
  }

  /// SnappyInputStream of snappy-java: chunks, each with its length. A header stands at the
  /// beginning, and may stand where a chunk would.
  std::string next_block() {
    constexpr std::size_t length_size = 4;
    constexpr std::int32_t most = 64 << 20;
    if (!has_packed(length_size)) {
      ended_ = true;
      if (packed_.size() > packed_at_) throw Error("it is truncated");
      return {};
    }
    const auto rest = std::string_view(packed_).substr(packed_at_);
    if (rest.starts_with(snappy_magic.substr(0, length_size))) {
      if (!has_packed(snappy_header)) throw Error("it is truncated");
      packed_at_ += snappy_header;
      return {};
    }
    const auto length = JuteReader(rest).integer();
    if (length < 0 || length > most) throw Error("a malformed Snappy block");
    packed_at_ += length_size;
    const auto size = static_cast<std::size_t>(length);
    if (!has_packed(size)) throw Error("it is truncated");
    auto block = unsnapped(std::string_view(packed_).substr(packed_at_, size));
    packed_at_ += size;
    return block;
  }

  RawFile file_;
  std::string piece_{};
  std::string packed_{};
  std::string more_{};  ///< the next of these
  std::size_t packed_at_ = 0;
  std::unique_ptr<Inflation> inflation_{};
  std::uint64_t unpacked_ = 0;
  bool snappy_ = false;
  bool lenient_ = false;
  bool ended_ = false;
};

/// Parses the unpacked bytes.
class SnapshotParser {
 public:
  SnapshotParser(const std::string& path, const SnapshotVisitor& visitor,
                 const std::stop_token& stop)
      : path_(path), unpacking_(path), visitor_(visitor), stop_(stop) {}

  SnapshotEnd parse() {
    if (take(snapshot_magic.size()) != snapshot_magic) throw Error("this is not a snapshot");
    integer();
    long_integer();
    for (auto left = integer(); left > 0; --left) {
      long_integer();
      integer();
    }
    for (auto left = integer(); left > 0; --left) read_acl();
    while (read_node()) ++end_.nodes;
    if (end_.nodes == 0) throw Error("it has no nodes");
    check_seal();
    end_.whole = offset_;
    // Of what follows, servers ask a packed file for no more than there is.
    unpacking_.be_lenient();
    try {
      read_end();
    } catch (const CutOff&) {
      if (!unpacking_.is_packed()) throw;
    }
    return end_;
  }
  std::uint64_t offset() const { return offset_; }

 private:
  std::int32_t integer() { return JuteReader(take(sizeof(std::int32_t))).integer(); }
  std::int64_t long_integer() { return JuteReader(take(sizeof(std::int64_t))).long_integer(); }

  /// The next bytes; valid until the next call. A length is believed as far as there are bytes.
  std::string_view take(std::size_t size) {
    while (piece_.size() - at_ < size) {
      if (stop_.stop_requested()) throw Cancelled();
      if (!read_more()) throw CutOff();
    }
    const auto taken = std::string_view(piece_).substr(at_, size);
    at_ += size;
    offset_ += size;
    sum_ = adler32_of(taken, sum_);
    return taken;
  }
  bool is_at_end() { return at_ == piece_.size() && !read_more(); }
  /// False at the end.
  bool read_more() {
    const auto& more = unpacking_.next();
    if (more.empty()) return false;
    if (visitor_.copy) visitor_.copy(more);
    piece_.erase(0, std::exchange(at_, 0));
    piece_ += more;
    return true;
  }

  std::optional<std::string> buffer() {
    const auto length = integer();
    if (length == -1) return std::nullopt;
    if (length < 0) throw Error("a negative length");
    end_.longest = std::max(end_.longest, static_cast<std::size_t>(length));
    return std::string(take(static_cast<std::size_t>(length)));
  }
  std::string text() { return buffer().value_or(""); }

  void read_acl() {
    const auto id = long_integer();
    std::string bytes(take(sizeof(std::int32_t)));
    const auto entries = JuteReader(bytes).integer();
    // At a null list or text, servers do not pass the snapshot over, but exit.
    if (entries == -1)
      throw DamagedSnapshot(
          path_, offset_, "an ACL that is null",
          "Incorrent format of InputArchive when deserialize DataTree - missing acls");
    for (auto left = entries; left > 0; --left) {
      bytes += take(sizeof(std::int32_t));
      for (int texts = 2; texts > 0; --texts) {
        const std::string length(take(sizeof(std::int32_t)));
        const auto size = JuteReader(length).integer();
        if (size == -1)
          throw DamagedSnapshot(path_, offset_, "an ACL with a null scheme or ID",
                                "NullPointerException");
        if (size < -1) throw Error("a negative length");
        bytes += length;
        bytes += take(static_cast<std::size_t>(size));
        end_.longest = std::max(end_.longest, static_cast<std::size_t>(size));
      }
    }
    if (visitor_.acl) visitor_.acl(id, bytes);
  }

  bool read_node() {
    SnapshotNode node{.path = text()};
    if (node.path == "/") return false;
    if (end_.nodes == 0 ? !node.path.empty() : !node.path.starts_with('/'))
      throw Error("a node's path is malformed");
    node.data = buffer();
    constexpr std::size_t stat_size = 68;
    JuteReader in(take(stat_size));
    node.acl = in.long_integer();
    auto& stat = node.stat;
    for (auto* const field : {&stat.czxid, &stat.mzxid, &stat.ctime, &stat.mtime})
      *field = in.long_integer();
    for (auto* const field : {&stat.version, &stat.cversion, &stat.aversion}) *field = in.integer();
    stat.ephemeral_owner = in.long_integer();
    stat.pzxid = in.long_integer();
    end_.newest_zxid = std::max({end_.newest_zxid, stat.czxid, stat.mzxid, stat.pzxid});
    if (visitor_.node) visitor_.node(std::move(node));
    return true;
  }

  /// A checksum of everything before it, and "/".
  void check_seal() {
    const auto sum = static_cast<std::uint64_t>(sum_);
    if (static_cast<std::uint64_t>(long_integer()) != sum) throw Error("a wrong checksum");
    if (text() != "/") throw Error("a seal is malformed");
  }

  /// The parts that depend on the server and its settings are told apart by what is left.
  void read_end() {
    constexpr std::size_t last_zxid_part = 21;
    if (is_at_end()) return;
    while (piece_.size() - at_ < piece_size && read_more()) {  // the rest is short
    }
    if (piece_.size() - at_ > last_zxid_part) {
      const auto zxid = long_integer();
      if (integer() >= 2)
        long_integer();
      else
        text();
      check_seal();
      end_.digest_zxid = zxid;
      if (is_at_end()) return;
    }
    const auto zxid = long_integer();
    check_seal();
    end_.last_zxid = zxid;
    if (!unpacking_.is_packed() && !is_at_end()) throw Error("something follows its end");
  }

  const std::string& path_;
  Unpacking unpacking_;
  const SnapshotVisitor& visitor_;
  const std::stop_token& stop_;
  std::string piece_{};
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;
  std::uint32_t sum_ = adler32_start;
  SnapshotEnd end_{};
};

}  // namespace

DamagedSnapshot::DamagedSnapshot(const std::string& file, std::uint64_t offset,
                                 const std::string& problem, std::string last_words)
    : Error(fmt::format("{}:{}: {}", file, offset, problem)),
      offset_(offset),
      problem_(problem),
      last_words_(std::move(last_words)) {}

bool is_snapshot(const std::string& path) {
  const auto beginning = RawFile(path).beginning();
  return beginning.starts_with(snapshot_magic) || beginning.starts_with(gzip_magic) ||
         beginning.starts_with(snappy_magic);
}

SnapshotEnd read_snapshot(const std::string& path, const SnapshotVisitor& visitor,
                          const std::stop_token& stop) {
  SnapshotParser parser(path, visitor, stop);
  try {
    return parser.parse();
  } catch (const Cancelled&) {
    throw;
  } catch (const ValueError&) {
    throw;  // it cannot be read
  } catch (const DamagedSnapshot&) {
    throw;
  } catch (const Error& error) {
    throw DamagedSnapshot(path, parser.offset(), error.what());
  }
}

}  // namespace zksh
