// Contention: many contenders for one lock in this process, and what happened to each of them.
#include "lock/contention.h"

#include "base/time.h"
#include "client/scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>

namespace zksh {
namespace {

/// What the contenders share. One of them at a time is driven.
struct Arena {
  const ContentionPlan& plan;
  ContentionResult& result;
  std::stop_source& stop;
  Scheduler& driver;
};

class Participant {
 public:
  Participant(std::size_t number, Client& client, const ContentionReport& report, Arena& arena)
      : number_(number),
        client_(client),
        arena_(arena),
        request_(arena.plan.request),
        fiber_(client.monitor()) {
    const auto& plan = arena.plan;
    const bool reads =
        (number + 1) * plan.readers / plan.contenders > number * plan.readers / plan.contenders;
    if (reads) request_.mode = LockMode::Shared;
    const auto numbered =
        [number, &arena](const auto& listener) -> std::function<void(const std::string&)> {
      if (!listener) return {};
      // Who listens may wait, for a terminal that takes no output.
      return [number, &arena, &listener](const std::string& text) {
        arena.driver.leave([number, &listener, text] { listener(number, text); });
      };
    };
    report_.step = numbered(report.step);
    report_.warning = numbered(report.warning);
    report_.request = [&arena] { ++arena.result.requests; };
    report_.event = [&arena] { arena.result.events.push_back(Clock::now()); };
    fiber_.begin(contend());
  }

  Fiber& fiber() { return fiber_; }
  const std::deque<ContenderTurn>& turns() const { return turns_; }

 private:
  Task<> contend();
  Task<> take_turn(ContenderTurn& turn);

  std::size_t number_;
  Client& client_;
  Arena& arena_;
  LockRequest request_;
  LockReport report_;
  std::deque<ContenderTurn> turns_;
  Fiber fiber_;  // last: its task uses the others
};

Task<> Participant::take_turn(ContenderTurn& turn) {
  const auto lock = make_recipe(arena_.plan.recipe, client_, fiber_, report_, request_);
  turn.asked = Clock::now();
  co_await lock->acquire(Fiber::never);
  turn.acquired = Clock::now();
  std::exception_ptr interrupted;
  try {
    if (arena_.plan.hold.count() > 0) co_await fiber_.pause_until(turn.acquired + arena_.plan.hold);
  } catch (const Cancelled&) {  // thrown on when the lock is given back
    interrupted = std::current_exception();
  }
  turn.releasing = Clock::now();
  const bool was_held = co_await lock->release();
  turn.released = Clock::now();
  turn.lost = !was_held;
  if (interrupted) std::rethrow_exception(interrupted);
}

Task<> Participant::contend() {
  try {
    for (std::size_t round = 0; round < arena_.plan.rounds; ++round) {
      auto& turn = turns_.emplace_back();
      turn.contender = number_;
      turn.mode = request_.mode;
      co_await take_turn(turn);
    }
  } catch (const Cancelled&) {
    co_return;     // whoever interrupted knows
  } catch (...) {  // thrown by whoever runs the contention
    if (!arena_.result.failure) arena_.result.failure = std::current_exception();
    arena_.stop.request_stop();
  }
}

}  // namespace

ContentionResult contend(const ContentionPlan& plan, const std::vector<Client*>& clients,
                         const ContentionReport& report, const std::stop_token& stop) {
  ContentionResult result;
  std::stop_source all_stop;
  const std::stop_callback forward(stop, [&] { all_stop.request_stop(); });
  Scheduler driver(clients.front()->monitor());
  Arena arena{.plan = plan, .result = result, .stop = all_stop, .driver = driver};
  std::vector<std::unique_ptr<Participant>> participants;
  participants.reserve(plan.contenders);
  for (std::size_t i = 0; i < plan.contenders; ++i) {
    auto& client = *clients[i % clients.size()];
    driver.add(participants.emplace_back(std::make_unique<Participant>(i, client, report, arena))
                   ->fiber());
  }
  result.began = Clock::now();
  driver.run(all_stop.get_token());
  result.ended = Clock::now();
  result.turns.reserve(plan.contenders * plan.rounds);
  for (const auto& participant : participants)
    result.turns.insert(result.turns.end(), participant->turns().begin(),
                        participant->turns().end());
  return result;
}

namespace {

enum class Mark : char { Nothing, Waits, Shares, Holds, Lost };

std::string_view sign_of(Mark mark, bool ascii) {
  switch (mark) {
    case Mark::Nothing:
      break;
    case Mark::Waits:
      return ascii ? "-" : "·";
    case Mark::Shares:
      return ascii ? "=" : "▒";
    case Mark::Holds:
      return ascii ? "#" : "█";
    case Mark::Lost:
      return "!";
  }
  return " ";
}

/// The time of a contention as columns.
class TimeLine {
 public:
  TimeLine(const ContentionResult& result, std::size_t columns)
      : began_(result.began), ended_(result.ended), columns_(columns) {}

  std::vector<Mark> row() const {
    std::vector<Mark> nothing(columns_, Mark::Nothing);
    return nothing;
  }
  void draw(std::vector<Mark>& row, const ContenderTurn& turn) const {
    const Clock::time_point never{};
    if (turn.asked == never) return;
    mark(row, turn.asked, turn.acquired == never ? ended_ : turn.acquired, Mark::Waits);
    if (turn.acquired == never) return;
    const auto until = turn.releasing == never ? ended_ : turn.releasing;
    mark(row, turn.acquired, until, turn.mode == LockMode::Shared ? Mark::Shares : Mark::Holds);
    if (turn.lost) mark(row, until, until, Mark::Lost);
  }

 private:
  std::size_t column_of(Clock::time_point time) const {
    const std::chrono::duration<double> since = time - began_;
    const std::chrono::duration<double> all = ended_ - began_;
    if (since.count() <= 0 || all.count() <= 0) return 0;
    const auto place = since.count() / all.count() * static_cast<double>(columns_);
    return std::min(static_cast<std::size_t>(place), columns_ - 1);
  }
  /// A column in which several things happen shows the one that matters most.
  void mark(std::vector<Mark>& row, Clock::time_point from, Clock::time_point to, Mark what) const {
    for (auto column = column_of(from); column <= column_of(to); ++column)
      row[column] = std::max(row[column], what);
  }

  Clock::time_point began_;
  Clock::time_point ended_;
  std::size_t columns_;
};

std::string text_of(const std::vector<Mark>& row, bool ascii) {
  std::string text;
  for (const auto mark : row) text += sign_of(mark, ascii);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string legend(const ContentionResult& result, bool ascii) {
  const auto has = [&](LockMode mode) {
    return std::ranges::any_of(result.turns,
                               [&](const ContenderTurn& turn) { return turn.mode == mode; });
  };
  std::string text = fmt::format("{} waits", sign_of(Mark::Waits, ascii));
  if (has(LockMode::Exclusive)) text += fmt::format("   {} holds", sign_of(Mark::Holds, ascii));
  if (has(LockMode::Shared)) text += fmt::format("   {} reads", sign_of(Mark::Shares, ascii));
  if (std::ranges::any_of(result.turns, &ContenderTurn::lost))
    text += fmt::format("   {} lost", sign_of(Mark::Lost, ascii));
  return text;
}

}  // namespace

std::vector<std::string> draw_contention(const ContentionResult& result, std::size_t contenders,
                                         const DrawingStyle& style) {
  const auto label_width = fmt::format("#{}", contenders).size();
  // A terminal breaks the line behind its last column.
  const auto columns = std::max<std::size_t>(style.columns, label_width + 12) - label_width - 2;
  const TimeLine line(result, columns);
  std::vector<std::vector<Mark>> rows(contenders, line.row());
  for (const auto& turn : result.turns) line.draw(rows[turn.contender], turn);

  const auto shown = std::min(contenders, std::max<std::size_t>(style.rows, 2));
  std::vector<std::string> lines;
  lines.reserve(shown + 2);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto number = shown > 1 ? i * (contenders - 1) / (shown - 1) : 0;
    lines.push_back(fmt::format("{:>{}} {}", fmt::format("#{}", number + 1), label_width,
                                text_of(rows[number], style.ascii)));
  }
  const auto end = short_time(result.ended - result.began);
  lines.push_back(fmt::format("{:{}} 0{:>{}}", "", label_width, end, columns - 1));
  auto meaning = legend(result, style.ascii);
  if (shown < contenders) meaning += fmt::format("   ({} of {} are drawn)", shown, contenders);
  lines.push_back(fmt::format("{:{}} {}", "", label_width, meaning));
  return lines;
}

}  // namespace zksh
