// Node patterns: *, ? and [ ] in paths, and the nodes that match.
#pragma once

#include "client/client.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

/// Whether a path has a character that is special in a pattern.
bool is_pattern(std::string_view path);

/// The nodes that match an absolute path, in byte order; each of its names is a pattern of
/// fnmatch(3), in which a backslash takes the meaning from the next character. A node without a
/// pattern in its name is taken to exist when only names above it have one, if it does. Nodes that
/// vanish meanwhile or may not be listed match nothing. Lists many parents at once. Blocks; throws
/// ZkError, Cancelled.
std::vector<std::string> matching_nodes(Client& client, const std::string& pattern,
                                        const std::stop_token& stop);

}  // namespace zksh
