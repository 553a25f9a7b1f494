// Node patterns: finds the nodes that match a path with *, ? and [ ].
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace zksh {

class Client;

/// Whether a path has a character that is special in patterns.
bool is_pattern(std::string_view path);

/// As fnmatch(3), but characters are those of UTF-8, whatever the locale.
bool matches_pattern(const std::string& pattern, const std::string& text, int flags = 0);

/// The nodes that match an absolute path, in byte order. Each name in the path is a pattern for
/// matches_pattern; a backslash quotes the next character. A node whose own name is not a pattern
/// is returned only if it exists. Nodes that vanish meanwhile match nothing, nor do those that may
/// not be listed, unless nothing is found then. Lists many parents at once. Blocks; throws ZkError,
/// Cancelled.
std::vector<std::string> matching_nodes(Client& client, const std::string& pattern,
                                        const std::stop_token& stop);

}  // namespace zksh
