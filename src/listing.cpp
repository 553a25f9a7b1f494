// Listing: what ls, ls2, stat and get print alike.
#include "listing.h"

#include "persistent_watches.h"
#include "stat_text.h"

#include <algorithm>
#include <chrono>

namespace zksh {

void tell_deprecated(Context& cx, std::string_view old_form, std::string_view new_form) {
  cx.out.err_line("'{}' has been deprecated. Please use '{}' instead.", old_form, new_form);
}

void print_children(Context& cx, const std::string& path, const Watch& watch, bool with_stat) {
  auto [names, stat] = cx.client.children(path, watch, cx.stop);
  std::ranges::sort(names);
  std::string text;
  for (const auto& name : names) {
    if (!cx.out.plain() && !text.empty()) text += ", ";
    text += cx.out.shown(name);
    if (cx.out.plain()) text += '\n';
  }
  cx.out.out(cx.out.plain() ? text : '[' + text + "]\n");
  if (with_stat) print_stat(cx, stat);
}

void print_stat(Context& cx, const Stat& stat) {
  // The event of a write comes before its answer, as the server sends them.
  cx.watches.settle(std::chrono::milliseconds(300), cx.stop);
  cx.out.out(stat_lines(stat));
}

}  // namespace zksh
