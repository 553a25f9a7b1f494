// MissedChanges: compares the zxids in Stats.
#include "client/missed_changes.h"

#include "client/node_path.h"

#include <algorithm>

namespace zksh {

void MissedChanges::visit(const std::string& path, const Stat& stat) {
  const auto parent = parent_path(path);
  while (!open_.empty() && (open_.back().path != parent || path == "/")) leave();
  if (!open_.empty() && open_.back().stat.pzxid == stat.czxid) open_.back().is_explained = true;
  if (is_missed(stat.czxid)) changes_.push_back({stat.czxid, Event::Type::Created, path, stat});
  if (is_missed(stat.mzxid) && stat.mzxid != stat.czxid)
    changes_.push_back({stat.mzxid, Event::Type::DataChanged, path, stat});
  has_visited_ = true;
  open_.push_back({.path = path, .stat = stat});
}

void MissedChanges::leave() {
  auto& [path, stat, is_explained] = open_.back();
  // A node without children has had its own creation as pzxid.
  if (!is_explained && stat.pzxid != stat.czxid && is_missed(stat.pzxid))
    changes_.push_back({stat.pzxid, Event::Type::ChildrenChanged, std::move(path), stat});
  open_.pop_back();
}

std::vector<MissedChanges::Change> MissedChanges::take() {
  while (!open_.empty()) leave();
  std::ranges::stable_sort(changes_, {}, &Change::zxid);
  return std::exchange(changes_, {});
}

}  // namespace zksh
