// PastFiles: the files of a server as they would be if it had stopped at a moment.
#pragma once

#include "txnlog/replay.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace zksh {

/// Writes a snapshot, unpacked, and one log of what follows it into `directory`, which must exist.
/// Returns what they hold. Blocks; throws as replay, and Error if they cannot be written.
Replay write_past_files(const DataFiles& files, std::int64_t until,
                        const std::filesystem::path& directory, const std::stop_token& stop);

}  // namespace zksh
