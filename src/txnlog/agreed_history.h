// Where the history of an ensemble parts from what one of its servers wrote alone.
#pragma once

#include <cstdint>
#include <map>

namespace zksh {

class DataFiles;

/// The last transaction of each epoch after which servers went on with a later one, by epoch. Of
/// several servers' logs only: a leader that was cut off may have written more, which the others,
/// who elected another, do not have. Where servers differ, what counts is which of these trees has
/// the digest that the later epoch begins with; else, what most of them have. Blocks while it reads
/// all logs; throws as LogFile.
std::map<std::int64_t, std::int64_t> agreed_ends(const DataFiles& files);

}  // namespace zksh
