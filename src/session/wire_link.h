// WireLink: follows the bytes of a session's connection, and checks received ones before the C
// client reads them (ReplyValidator).
#pragma once

#include "base/time.h"
#include "session/reply_validator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zksh {

/// The size of the length before each frame, in bytes.
constexpr std::size_t size_of_frame_length = 4;
/// Reads such a length; `bytes` may be shorter.
std::int32_t frame_length(std::string_view bytes);

/// Used by the thread that reads and writes the connection, from its first byte on. The C client
/// sends, and receives, a length and its frame in separate calls.
class WireLink {
 public:
  /// Called before `bytes` are sent. A frame is passed as a whole the first time, however much of
  /// it is sent.
  void look_at_sent(std::string_view bytes);
  /// Whether the next bytes to send are those of a length, which a frame follows at once.
  bool sends_length() const { return !out_.in_frame(); }
  /// Whether they are those of the connect request, without its length.
  bool sends_greeting() const { return !greeting_sent_ && out_.in_frame() && out_.taken == 0; }
  /// Called after `bytes` were sent.
  void sent(std::string_view bytes);
  /// What is wrong with received `bytes`, for the user; null if nothing. They must be in place in
  /// the buffer that receives the whole frame.
  const char* flaw_of_received(std::string_view bytes);
  /// Whether the next bytes to receive are those of a length.
  bool receives_length() const { return greeted_ && in_.length_taken == 0; }
  /// Whether the connect request was sent and not answered yet.
  bool awaits_greeting() const { return greeting_sent_ && !greeted_; }
  /// Whether it was answered.
  bool is_greeted() const { return greeted_; }
  /// Whether the next bytes to send are those of a request, without its length.
  bool sends_request() const { return greeting_sent_ && out_.in_frame() && out_.taken == 0; }
  /// As in WireConversation.
  std::optional<WireEvent> take_event() { return conversation_.take_event(); }
  std::int64_t last_zxid() const { return conversation_.last_zxid(); }
  /// The shortest time in which a request, or the connect request, was answered; 0: none was.
  SessionLease::Duration round_trip() const {
    return std::min(conversation_.round_trip().value_or(greeting_took_), greeting_took_);
  }
  /// As in WireConversation.
  std::optional<std::size_t> take_stub() { return conversation_.take_stub(); }
  SessionLease::Duration timeout() const { return conversation_.timeout(); }
  bool has_answered() const { return conversation_.has_answered(); }
  bool expects_answers() const { return conversation_.expects_answers(); }
  std::optional<BootClock::time_point> give_up_at() const { return conversation_.give_up_at(); }

 private:
  /// The bytes of one direction: lengths and frames.
  struct Direction {
    std::uint32_t frame = 0;  ///< the frame's size, as far as its length is known
    std::size_t length_taken = 0;
    std::size_t taken = 0;  ///< number of bytes of the frame seen

    bool in_frame() const { return length_taken == size_of_frame_length; }
    /// Records bytes of a length.
    void take_length(std::string_view bytes);
    /// Records bytes of a frame; true at its end.
    bool take(std::size_t bytes);
  };

  void begin_lease(const Granted& granted);

  bool greeting_sent_ = false;
  BootClock::time_point greeting_at_;
  SessionLease::Duration greeting_took_{};
  SessionRequest request_;
  bool noted_ = false;  ///< the current request is recorded
  bool greeted_ = false;
  std::size_t greeting_taken_ = 0;
  Direction out_;
  Direction in_;
  WireConversation conversation_;
};

}  // namespace zksh
