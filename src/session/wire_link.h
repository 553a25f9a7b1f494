// WireLink: the bytes of one connection of a session on their way, those that come looked at before
// the C client reads them (ReplyValidator).
#pragma once

#include "base/time.h"
#include "session/reply_validator.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zksh {

/// The size of the length in front of each frame, in bytes.
constexpr std::size_t size_of_frame_length = 4;
/// Reads such a length; `bytes` may be cut short.
std::int32_t frame_length(std::string_view bytes);

/// Used by the thread that reads and writes the connection, from its first byte on. The C client
/// hands over, and asks for, a length and what follows it one by one.
class WireLink {
 public:
  /// `bytes` are to be sent. A frame is handed over as a whole at first, however much is taken.
  void look_at_sent(std::string_view bytes);
  /// `bytes` were taken.
  void sent(std::string_view bytes);
  /// What is wrong with `bytes`, which came, for the user; null: nothing. They stand at their place
  /// of the memory where a frame is gathered as a whole.
  const char* flaw_of_received(std::string_view bytes);
  /// The session was asked for, and there is no answer to that yet.
  bool awaits_greeting() const { return greeting_sent_ && !greeted_; }
  /// As in WireConversation.
  bool has_answered() const { return conversation_.has_answered(); }
  std::optional<BootClock::time_point> give_up_at() const { return conversation_.give_up_at(); }

 private:
  /// The bytes of one direction: lengths, and what follows them.
  struct Direction {
    std::uint32_t frame = 0;  ///< its size, as far as its length has passed
    std::size_t length_taken = 0;
    std::size_t taken = 0;  ///< so many bytes of the frame have passed

    bool in_frame() const { return length_taken == size_of_frame_length; }
    /// Takes note of bytes of a length.
    void take_length(std::string_view bytes);
    /// Takes note of bytes of a frame; true at its end.
    bool take(std::size_t bytes);
  };

  void begin_lease(const Granted& granted);

  bool greeting_sent_ = false;
  BootClock::time_point greeting_at_;
  SessionRequest request_;
  bool noted_ = false;  ///< the request that is being sent
  bool greeted_ = false;
  std::size_t greeting_taken_ = 0;
  Direction out_;
  Direction in_;
  WireConversation conversation_;
};

}  // namespace zksh
