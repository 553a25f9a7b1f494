// Listing: what ls, ls2, stat and get print alike.
#pragma once

#include "command.h"

#include <string>
#include <string_view>

namespace zksh {

/// zkCli's notice about a positional form of version 3.4, on stderr.
void tell_deprecated(Context& cx, std::string_view old_form, std::string_view new_form);
/// The children of a node, sorted: `[a, b]`, or one a line in plain output; the Stat below if
/// wanted.
void print_children(Context& cx, const std::string& path, const Watch& watch, bool with_stat);
void print_stat(Context& cx, const Stat& stat);

}  // namespace zksh
