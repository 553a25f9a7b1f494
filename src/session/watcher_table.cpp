// WatcherTable: counts reads and watches by node, kind and owner.
#include "session/watcher_table.h"

#include <algorithm>
#include <functional>

namespace zksh {

std::size_t WatcherTable::key_of(const std::string& path, WatchKind kind) {
  return std::hash<std::string>()(path) * 2 + (kind == WatchKind::OfChildren ? 1 : 0);
}

WatcherTable::Watchers::iterator WatcherTable::find(std::size_t key, Who who) {
  const auto [first, last] = watchers_.equal_range(key);
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.who == who; });
  return found == last ? watchers_.end() : found;
}

void WatcherTable::drop_if_idle(Watchers::iterator place) {
  if (place->second.asked <= 0 && !place->second.watches) watchers_.erase(place);
}

void WatcherTable::asked(const std::string& path, WatchKind kind, Who who) {
  const auto key = key_of(path, kind);
  auto place = find(key, who);
  if (place == watchers_.end()) place = watchers_.emplace(key, Watcher{.who = who});
  ++place->second.asked;
}

void WatcherTable::answered(const std::string& path, WatchKind kind, Who who, bool left) {
  const auto place = find(key_of(path, kind), who);
  if (place == watchers_.end()) return;
  --place->second.asked;
  place->second.watches = place->second.watches || left;
  if (left && who == named_) places_.insert({.path = path, .kind = kind});
  drop_if_idle(place);
}

void WatcherTable::fired(const std::string& path, WatchKind kind) {
  places_.erase({.path = path, .kind = kind});
  auto [place, last] = watchers_.equal_range(key_of(path, kind));
  while (place != last) {
    const auto one = place++;
    one->second.watches = false;
    drop_if_idle(one);
  }
}

void WatcherTable::forgotten(const std::string& path, WatchKind kind, Who who) {
  const auto place = find(key_of(path, kind), who);
  if (place == watchers_.end()) return;
  place->second.watches = false;
  drop_if_idle(place);
  if (who == named_) places_.erase({.path = path, .kind = kind});
}

OpenWatches WatcherTable::open(Who without) const {
  const auto others = std::ranges::count_if(watchers_, [&](const auto& entry) {
    const auto& watcher = entry.second;
    return watcher.watches && watcher.who != named_ && watcher.who != without;
  });
  return {.printed = {places_.begin(), places_.end()}, .others = static_cast<std::size_t>(others)};
}

bool WatcherTable::only(const std::string& path, WatchKind kind, Who who) const {
  const auto [first, last] = watchers_.equal_range(key_of(path, kind));
  return first != last &&
         std::all_of(first, last, [&](const auto& entry) { return entry.second.who == who; });
}

}  // namespace zksh
