// LockDeadlines: when a program under a lock is told to end, and when it is killed.
#pragma once

#include "base/named_values.h"
#include "base/time.h"

#include <chrono>
#include <optional>

namespace zksh {

/// What becomes of the program when its lock is lost, or may be lost soon.
enum class OnLost {
  Kill,       ///< SIGKILL
  Terminate,  ///< SIGTERM, and SIGKILL after the grace
  Warn,       ///< it runs on; zksh only says so
};

inline constexpr NamedValues<OnLost, 3> on_lost_names{
    {{"term", OnLost::Terminate}, {"kill", OnLost::Kill}, {"warn", OnLost::Warn}}};

/// Decides; it is told the time, and does nothing by itself. Used by one thread.
///
/// No server gives the lock away before `safe_until`, the end of the session's lease. While nothing
/// is agreed to, that stands still. The program is killed a sixth of the session timeout before it,
/// so that it is dead in time even when the kernel takes a while, and for the pauses that
/// SessionLease names, and told to end a grace before that. A lease that is renewed in time ends
/// 0.4 of the session timeout ahead, or later.
class LockDeadlines {
 public:
  enum class Step {
    None,
    Terminate,  ///< SIGTERM
    Kill,       ///< SIGKILL, once and for all
    Spare,      ///< a server answers again: but for the last Terminate, the program could run on
  };

  /// `grace`: nothing: 5 s or an eighth of the session timeout, what is less. More than a sixth of
  /// the session timeout is cut down to that: else every late answer would end the program.
  LockDeadlines(OnLost on_lost, std::chrono::milliseconds session_timeout,
                std::optional<std::chrono::milliseconds> grace);

  /// Another may hold the lock from `now` on. The first call counts.
  void lose(BootClock::time_point now);
  /// The program is to end although the lock is safe: Terminate, and Kill after the grace. The
  /// first call counts.
  void ask(BootClock::time_point now);

  /// What is to be done now. Each step is returned once; after Kill there is none.
  Step step(BootClock::time_point now, BootClock::time_point safe_until);
  /// When to ask for the next step although nothing has happened; time_point::max(): never.
  BootClock::time_point next(BootClock::time_point safe_until) const;

  /// From Terminate to Kill.
  std::chrono::milliseconds grace() const { return grace_; }
  /// From Kill to the end of what is safe.
  std::chrono::milliseconds margin() const { return margin_; }
  /// Terminate or Kill was returned, and no Spare after it.
  bool ended() const { return killed_ || told_; }
  bool killed() const { return killed_; }
  /// Kill was returned because the lock is lost, or could not be told from a lost one in time.
  bool killed_for_loss() const { return killed_for_loss_; }

 private:
  BootClock::time_point kill_time(BootClock::time_point safe_until) const;
  BootClock::time_point tell_time(BootClock::time_point safe_until) const;

  OnLost on_lost_;
  std::chrono::milliseconds grace_;
  std::chrono::milliseconds margin_;
  std::optional<BootClock::time_point> lost_;
  std::optional<BootClock::time_point> asked_;
  std::optional<BootClock::time_point> told_;
  bool killed_ = false;
  bool killed_for_loss_ = false;
};

}  // namespace zksh
