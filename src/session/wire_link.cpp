// WireLink: finds the frames in the bytes of a connection.
#include "session/wire_link.h"

namespace zksh {

std::int32_t frame_length(std::string_view bytes) {
  std::uint32_t length = 0;
  for (const char byte : bytes.substr(0, size_of_frame_length))
    length = length << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(length);
}

void WireLink::Direction::take_length(std::string_view bytes) {
  for (const char byte : bytes.substr(0, size_of_frame_length - length_taken)) {
    frame = frame << 8U | static_cast<unsigned char>(byte);
    ++length_taken;
  }
}

bool WireLink::Direction::take(std::size_t bytes) {
  taken += bytes;
  if (taken < frame) return false;
  *this = {};
  return true;
}

void WireLink::look_at_sent(std::string_view bytes) {
  if (!out_.in_frame() || out_.taken > 0 || noted_) return;
  noted_ = true;
  if (!greeting_sent_) {
    request_ = session_request(bytes);
    greeting_at_ = BootClock::now();
  } else {
    conversation_.note_request(bytes);
  }
  greeting_sent_ = true;
}

void WireLink::sent(std::string_view bytes) {
  if (!out_.in_frame()) {
    out_.take_length(bytes);
  } else if (out_.take(bytes.size())) {
    noted_ = false;
  }
}

const char* WireLink::flaw_of_received(std::string_view bytes) {
  if (!greeted_) {
    greeting_taken_ += bytes.size();
    const std::string_view whole(bytes.data() + bytes.size() - greeting_taken_, greeting_taken_);
    const auto* const flaw = flaw_of_greeting(whole, request_.fresh);
    greeted_ = whole.size() >= size_of_frame_length &&
               whole.size() >= size_of_frame_length + static_cast<std::size_t>(frame_length(whole));
    if (greeted_) greeting_took_ = BootClock::now() - greeting_at_;
    if (greeted_ && flaw == nullptr) begin_lease(granted_by(whole));
    return flaw;
  }
  if (!in_.in_frame()) {
    in_.take_length(bytes);
    return in_.in_frame() ? flaw_of_length(static_cast<std::int32_t>(in_.frame)) : nullptr;
  }
  const auto size = in_.taken + bytes.size();
  const std::string_view whole(bytes.data() + bytes.size() - size, size);
  if (in_.take(bytes.size())) return conversation_.flaw_of(whole);
  conversation_.note_part(bytes.size());
  return nullptr;
}

void WireLink::begin_lease(const Granted& granted) {
  if (granted.session == 0) return;
  auto lease = of_session<SessionLease>(granted.session);
  const std::chrono::milliseconds timeout(granted.timeout_ms);
  lease->begin(greeting_at_, request_.fresh, timeout);
  conversation_.tell(std::move(lease), of_session<AnswerNotes>(granted.session), timeout,
                     request_patience(request_.timeout_ms, granted.timeout_ms));
}

}  // namespace zksh
