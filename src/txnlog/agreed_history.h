// Where the history of an ensemble parts from what one of its servers wrote alone.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>

namespace zksh {

class DataFiles;

/// The last transaction of each epoch after which servers went on with a later one, by epoch. Only
/// for logs of several servers: a leader that was cut off may have written more, which the others,
/// who elected another, do not have. Where servers differ, takes the end whose tree has the digest
/// that the later epoch begins with; else, the end that most of them have. Blocks while it reads
/// all logs; throws as LogFile, and Cancelled.
std::map<std::int64_t, std::int64_t> agreed_ends(const DataFiles& files,
                                                 const std::stop_token& stop);

}  // namespace zksh
