// State names: the names of session states.
#include "client/state_name.h"

namespace zksh {

std::string_view state_name(SessionState state) {
  switch (state) {
    case SessionState::Closed:
      return "CLOSED";
    case SessionState::Connecting:
      return "CONNECTING";
    case SessionState::Connected:
      return "CONNECTED";
    case SessionState::ConnectedReadOnly:
      return "CONNECTEDREADONLY";
    case SessionState::Expired:
      return "EXPIRED";
    case SessionState::AuthFailed:
      return "AUTH_FAILED";
  }
  return "";
}

}  // namespace zksh
