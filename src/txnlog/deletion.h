// Deletion: which transaction removed a node that is no longer there.
#pragma once

#include "txnlog/data_files.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace zksh {

struct Deletion {
  std::int64_t zxid = 0;
  std::int64_t time = 0;  ///< milliseconds since 1970
  std::int64_t session = 0;
  bool session_end = false;  ///< of an ephemeral, whose session ended
};

/// The last deletion of a node up to `until`, unless it was created again. nullopt also if the logs
/// do not reach back to it. Reads all logs up to there; blocks, and throws as TransactionReader and
/// Cancelled.
std::optional<Deletion> last_deletion(const DataFiles& files, std::string_view path,
                                      std::int64_t until, const std::stop_token& stop);

/// "/a was deleted by 0x2335, 2026-…, of session 0x…; before:0x2335 still has it".
std::string deletion_text(std::string_view path, const Deletion& deletion);

}  // namespace zksh
