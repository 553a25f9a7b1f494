// Watch: the names of events.
#include "client/watch.h"

namespace zksh {

std::string_view event_name(Event::Type type) {
  switch (type) {
    case Event::Type::Created:
      return "NodeCreated";
    case Event::Type::Deleted:
      return "NodeDeleted";
    case Event::Type::DataChanged:
      return "NodeDataChanged";
    case Event::Type::ChildrenChanged:
      return "NodeChildrenChanged";
    case Event::Type::DataWatchRemoved:
      return "DataWatchRemoved";
    case Event::Type::ChildWatchRemoved:
      return "ChildWatchRemoved";
    case Event::Type::PersistentWatchRemoved:
      return "PersistentWatchRemoved";
    case Event::Type::Session:
      break;
  }
  return "None";
}

}  // namespace zksh
