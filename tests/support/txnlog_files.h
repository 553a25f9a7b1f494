// TxnLogFiles: writes transaction logs and snapshots for the unit tests.
#pragma once

#include "txnlog/log_file.h"
#include "txnlog/transaction.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Big-endian, as jute writes.
std::string jute_int(std::int64_t value);
std::string jute_long(std::int64_t value);
std::string jute_text(std::string_view text);
/// world:anyone:cdrwa.
std::string jute_open_acl();

/// The body of a transaction; the time is 1,000,000 + zxid.
std::string txn_body(std::int64_t zxid, int type, const std::string& record,
                     std::int64_t session = 0x1000, int cxid = 1);
std::string create_body(std::int64_t zxid, const std::string& path, const std::string& data,
                        bool ephemeral = false, std::int64_t session = 0x1000);
std::string set_body(std::int64_t zxid, const std::string& path, const std::string& data,
                     int version);
std::string delete_body(std::int64_t zxid, const std::string& path);

/// What a body says, which must be right. Its texts hold until the next call.
LoggedTransaction parsed(const std::string& body);
/// A record with its checksum, length and end mark.
std::string log_record(const std::string& body);
/// A log of these bodies, and `zeros` after them.
std::string log_bytes(const std::vector<std::string>& bodies, std::size_t zeros = 0);
/// A snapshot of the root, /zookeeper and these persistent nodes, with a wrong checksum if
/// `spoiled`.
std::string snapshot_bytes(const std::vector<std::pair<std::string, std::string>>& nodes,
                           std::int64_t digest_zxid, bool spoiled = false);

/// A directory that is removed at the end.
class LogDirectory {
 public:
  LogDirectory();
  LogDirectory(const LogDirectory&) = delete;
  LogDirectory& operator=(const LogDirectory&) = delete;
  ~LogDirectory();
  /// Writes a file, and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace zksh
