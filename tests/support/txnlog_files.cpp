// TxnLogFiles: writes transaction logs and snapshots for the unit tests.
#include "txnlog_files.h"

#include "base/zlib.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace zksh {
namespace {

std::string big_endian(std::int64_t value, unsigned bytes) {
  std::string text;
  for (unsigned shift = 8 * bytes; shift > 0; shift -= 8)
    text += static_cast<char>(static_cast<std::uint64_t>(value) >> (shift - 8));
  return text;
}

}  // namespace

std::string jute_int(std::int64_t value) { return big_endian(value, 4); }
std::string jute_long(std::int64_t value) { return big_endian(value, 8); }
std::string jute_text(std::string_view text) {
  return jute_int(static_cast<std::int64_t>(text.size())) + std::string(text);
}
std::string jute_open_acl() {
  return jute_int(1) + jute_int(31) + jute_text("world") + jute_text("anyone");
}

std::string txn_body(std::int64_t zxid, int type, const std::string& record, std::int64_t session,
                     int cxid) {
  constexpr std::int64_t epoch = 1'000'000;
  return jute_long(session) + jute_int(cxid) + jute_long(zxid) + jute_long(epoch + zxid) +
         jute_int(type) + record;
}

std::string create_body(std::int64_t zxid, const std::string& path, const std::string& data,
                        bool ephemeral, std::int64_t session) {
  return txn_body(zxid, 1,
                  jute_text(path) + jute_text(data) + jute_open_acl() +
                      std::string(1, ephemeral ? '\1' : '\0') + jute_int(-1),
                  session);
}

std::string set_body(std::int64_t zxid, const std::string& path, const std::string& data,
                     int version) {
  return txn_body(zxid, 5, jute_text(path) + jute_text(data) + jute_int(version));
}

std::string delete_body(std::int64_t zxid, const std::string& path) {
  return txn_body(zxid, 2, jute_text(path));
}

LoggedTransaction parsed(const std::string& body) {
  static std::string kept;
  kept = body;
  LoggedTransaction txn;
  if (!parse_transaction(kept, txn)) throw std::runtime_error("no transaction: " + body);
  return txn;
}

std::string log_record(const std::string& body) {
  return jute_long(adler32_of(body)) + jute_text(body) + 'B';
}

std::string log_bytes(const std::vector<std::string>& bodies, std::size_t zeros) {
  std::string bytes = "ZKLG" + jute_int(2) + jute_long(0);
  for (const auto& body : bodies) bytes += log_record(body);
  return bytes + std::string(zeros, '\0');
}

std::string snapshot_bytes(const std::vector<std::pair<std::string, std::string>>& nodes,
                           std::int64_t digest_zxid, bool spoiled) {
  std::string bytes = "ZKSN" + jute_int(2) + jute_long(-1) + jute_int(0) + jute_int(0);
  const std::string stat(60, '\0');
  for (const std::string path : {"", "/zookeeper"})
    bytes += jute_text(path) + jute_text("") + jute_long(-1) + stat;
  for (const auto& [path, data] : nodes)
    bytes += jute_text(path) + jute_text(data) + jute_long(-1) + stat;
  bytes += jute_text("/");
  bytes += jute_long(adler32_of(bytes) ^ (spoiled ? 1U : 0U)) + jute_text("/");
  bytes += jute_long(digest_zxid) + jute_int(2) + jute_long(0);
  return bytes + jute_long(adler32_of(bytes)) + jute_text("/");
}

LogDirectory::LogDirectory() {
  auto name = (std::filesystem::temp_directory_path() / "zksh-logs-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

LogDirectory::~LogDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string LogDirectory::write(const std::string& name, std::string_view bytes) const {
  auto path = path_ + '/' + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace zksh
