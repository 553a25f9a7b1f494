// Watch: the names of events and of session states.
#include "client/watch.h"

#include <array>
#include <cstddef>

namespace zksh {

std::string_view event_name(Event::Type type) {
  // In the order of Event::Type.
  constexpr auto names = std::to_array<std::string_view>(
      {"None", "NodeCreated", "NodeDeleted", "NodeDataChanged", "NodeChildrenChanged",
       "DataWatchRemoved", "ChildWatchRemoved", "PersistentWatchRemoved"});
  return names.at(static_cast<std::size_t>(type));
}

std::string_view state_name(SessionState state) {
  // In the order of SessionState.
  constexpr auto names = std::to_array<std::string_view>(
      {"CLOSED", "CONNECTING", "CONNECTED", "CONNECTEDREADONLY", "EXPIRED", "AUTH_FAILED"});
  return names.at(static_cast<std::size_t>(state));
}

}  // namespace zksh
