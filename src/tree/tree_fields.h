// TreeFields: the fields of a dump's lines, read from bytes that nobody trusts.
#pragma once

#include "tree/tree_record.h"

#include <optional>
#include <string>
#include <string_view>

namespace zksh {

// Each throws ValueError with what is wrong, without the place.

/// The bytes that an escaped text stands for.
std::string unescaped(std::string_view text);
NodeLife parse_life(std::string_view text);
/// The letters of a permission mask, or a number for one that they cannot write.
int parse_perms(std::string_view text);
Acl parse_acl_field(std::string_view text);
Data parse_data_field(std::string_view text);
QuotaLimits parse_limits(std::string_view text);
/// A record's path: "" for "/", else as it is when it is a valid one.
std::string parse_relative(std::string path);
/// A line of a node in the text format.
TreeRecord parse_tree_line(std::string_view line);

/// Perms as they are written: "cdrwa", or a number.
std::string perms_field(int perms);

}  // namespace zksh
