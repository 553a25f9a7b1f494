// ProgramDeadlines: decides when a program under a lock is terminated and killed.
#pragma once

#include "base/named_values.h"
#include "base/time.h"

#include <chrono>
#include <optional>

namespace zksh {

/// What to do with the program when its lock is lost, or may be lost soon.
enum class OnLost {
  Kill,       ///< SIGKILL
  Terminate,  ///< SIGTERM, and SIGKILL after the grace period
  Warn,       ///< let it run, and only warn
};

inline constexpr NamedValues<OnLost, 3> on_lost_names{
    {{"term", OnLost::Terminate}, {"kill", OnLost::Kill}, {"warn", OnLost::Warn}}};

/// A decision maker: it is given the time, and does nothing itself. Used by one thread.
///
/// No server gives the lock away before `safe_until`, the end of the session's lease, which does
/// not advance while no request gets a quorum's agreement. All processes of the program must be
/// dead a sixth of the session timeout before that, to allow for the pauses described in
/// session_lease.h: then the watchdog kills them. Kill comes a 24th before that, so that zksh,
/// which can say why, acts first, even if the kernel takes a while. The program is terminated a
/// grace period earlier.
class ProgramDeadlines {
 public:
  enum class Step {
    None,
    Terminate,  ///< SIGTERM
    Kill,       ///< SIGKILL, finally
    Spare,      ///< a server answers again: were it not for the last Terminate, the program could
                ///< continue
  };

  /// `grace` defaults to 5 s or an eighth of the session timeout, whichever is less. It is limited
  /// to a sixth of the session timeout: otherwise every late answer would end the program.
  ProgramDeadlines(OnLost on_lost, std::chrono::milliseconds session_timeout,
                   std::optional<std::chrono::milliseconds> grace);
  /// Call when a server has granted a shorter timeout.
  void set_timeout(std::chrono::milliseconds session_timeout);

  /// From `now` on, somebody else may hold the lock. Only the first call counts.
  void lose(BootClock::time_point now);
  /// The program must end although the lock is safe: Terminate, and Kill after the grace period.
  /// Only the first call counts.
  void ask(BootClock::time_point now);

  /// What to do now. Each step is returned once; none follows Kill.
  Step step(BootClock::time_point now, BootClock::time_point safe_until);
  /// When to call step again even if nothing happens; time_point::max(): never.
  BootClock::time_point next(BootClock::time_point safe_until) const;

  /// The time from Terminate to Kill.
  std::chrono::milliseconds grace() const { return grace_; }
  /// The time from Kill to `safe_until`.
  std::chrono::milliseconds margin() const { return timeout_ / 6 + timeout_ / 24; }
  /// When the watchdog must kill the program if zksh did not.
  BootClock::time_point watchdog_kills(BootClock::time_point safe_until) const {
    return safe_until - timeout_ / 6;
  }
  /// How long before `safe_until` the first step comes.
  std::chrono::milliseconds reserve() const;
  /// Whether Terminate or Kill was returned, with no Spare after it.
  bool ended() const { return killed_ || terminated_; }
  bool killed() const { return killed_; }

 private:
  BootClock::time_point kill_time(BootClock::time_point safe_until) const;
  BootClock::time_point terminate_time(BootClock::time_point safe_until) const;

  OnLost on_lost_;
  std::optional<std::chrono::milliseconds> wanted_grace_;
  std::chrono::milliseconds timeout_{};
  std::chrono::milliseconds grace_{};
  std::optional<BootClock::time_point> lost_;
  std::optional<BootClock::time_point> asked_;
  std::optional<BootClock::time_point> terminated_;
  bool killed_ = false;
};

}  // namespace zksh
