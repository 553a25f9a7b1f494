// Output: what a job says, queued for the main thread to print.
#pragma once

#include "base/monitor.h"
#include "base/named_values.h"
#include "base/text.h"

#include <fmt/core.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

enum class Stream { Out, Err };

/// What waits to be written to the two streams, in order. Any thread may add; one thread takes.
/// The adder is never stopped by a stalled terminal until `limit` bytes wait.
class OutputQueue {
 public:
  static constexpr std::size_t limit = 4U << 20U;

  struct Chunk {
    Stream stream;
    std::string bytes;
  };

  /// `wake_fd`: an eventfd that is written when the queue becomes non-empty; not owned.
  OutputQueue(Monitor& monitor, int wake_fd) : monitor_(monitor), wake_fd_(wake_fd) {}

  /// Blocks while more than `limit` bytes wait; throws Cancelled on a stop. What is longer than
  /// that by itself goes in pieces, between which others may add.
  void add(Stream stream, std::string_view bytes, const std::stop_token& stop);
  /// The same of several, which follow one another without anybody else's between them.
  void add(const std::vector<Chunk>& chunks, const std::stop_token& stop);
  /// Never blocks: for the C client's threads.
  void add(const Monitor::Held& held, Stream stream, std::string_view bytes);
  void add(Stream stream, std::string_view bytes) {
    monitor_.with_lock([&](const Monitor::Held& held) { add(held, stream, bytes); });
  }
  /// Takes all that waits; nothing while it is held back. Whoever takes has written what was taken
  /// before.
  std::deque<Chunk> take();
  /// While `spoils` is true, nothing is taken: a program draws on the terminal. It is asked under
  /// the monitor, on the thread that takes, and must neither block nor call this; empty: no more.
  void hold_back(std::function<bool()> spoils);
  /// Blocks until all that was added before has been written, or its stream has failed, but not
  /// after `deadline`; throws Cancelled on a stop.
  void await_written(Clock::time_point deadline, const std::stop_token& stop);
  /// The bytes that were ever added.
  std::uint64_t added() {
    return monitor_.with_lock([&](const Monitor::Held& held) { return state_(held).added; });
  }

 private:
  struct State {
    std::deque<Chunk> chunks;
    std::size_t bytes = 0;    ///< that wait
    std::uint64_t added = 0;  ///< bytes, ever; and so the next two
    std::uint64_t taken = 0;
    std::uint64_t written = 0;
    std::function<bool()> spoils{};
  };
  Monitor& monitor_;
  int wake_fd_;
  Guarded<State> state_;
};

/// How a command's result is written.
enum class Format { Zkcli, Plain, Json };
/// The values of a command's -o. What people read is zkCli's form for the commands that zkCli has,
/// and a table or a text for others.
inline constexpr NamedValues<Format, 5> named_formats{{{"zkcli", Format::Zkcli},
                                                       {"plain", Format::Plain},
                                                       {"json", Format::Json},
                                                       {"text", Format::Zkcli},
                                                       {"table", Format::Zkcli}}};

/// What the two streams are connected to, and how results are to look.
struct OutputStyle {
  Format format = Format::Zkcli;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool for_people = false;  ///< no form was asked for: lists may have one that fits their reader
};

/// What takes results in place of standard output.
struct Redirection {
  std::function<void(std::string_view bytes)> write{};  ///< may block; throws Error
  std::function<int()> fd{};  ///< for a program that is to write there itself; empty: stdout
  bool terminal = false;      ///< the bytes are shown on a terminal in the end
  /// Keeps a line of errors for its place among the results; false: it is to be printed at once.
  std::function<bool(std::string_view bytes)> error{};
};

/// News as -o json has them on stderr: {"note": …, "command": …} and a newline; of no text nothing.
std::string note_line(const std::string& text, const std::string& command = {});

/// A job's view of the streams. Used by the job's thread alone. Every member may block while the
/// queue is full, and throws Cancelled on a stop.
class Output {
 public:
  Output(OutputQueue& queue, OutputStyle style, std::stop_token stop)
      : queue_(queue), style_(style), shells_(style), stop_(std::move(stop)) {}

  const OutputStyle& style() const { return style_; }
  /// One like this that drops what it is given.
  Output silent(std::stop_token stop) const {
    Output other(queue_, style_, std::move(stop));
    other.silent_ = true;
    return other;
  }
  /// Of the results and the errors until the next command begins.
  void set_format(Format format) {
    style_.format = format;
    style_.for_people = false;
  }
  /// From now on what is said is kept there, in its order, and nothing is printed and nobody waited
  /// for; null: no more. `into` must outlive that.
  void gather(std::vector<OutputQueue::Chunk>* into) { gathered_ = into; }
  /// The line that the command stands on, which errors are to name; a number of 0: they name none.
  struct Place {
    std::string source;
    std::size_t line = 0;
    bool in_text = true;  ///< false: in JSON alone
  };
  void set_place(Place place) {
    place_ = std::move(place);
    place_told_ = false;
  }
  const Place& place() const { return place_; }
  /// Whether an error has named the place.
  bool place_told() const { return place_told_; }
  void tell_place() { place_told_ = true; }
  /// A command, by its name, begins to use this.
  void begin_command(std::string_view name) {
    command_ = name;
    style_.format = shells_.format;
    style_.for_people = shells_.for_people;
  }
  const std::string& command() const { return command_; }
  /// From now on results go there.
  void redirect(Redirection to) {
    to_ = std::move(to);
    style_.out_is_terminal = to_.terminal;
  }
  bool redirected() const { return static_cast<bool>(to_.write); }
  /// What a program that a command runs is to have as its standard output; -1: zksh's own.
  int descriptor() const { return to_.fd ? to_.fd() : -1; }
  /// Blocks until all that was said before is printed, or until `deadline`; throws Cancelled on a
  /// stop. For what others are to write to the same streams after it.
  void await_printed(Clock::time_point deadline = Clock::time_point::max()) {
    queue_.await_written(deadline, stop_);
  }
  /// See OutputQueue.
  void hold_back(std::function<bool()> spoils) { queue_.hold_back(std::move(spoils)); }
  /// The bytes that anybody has printed until now, on both streams.
  std::uint64_t printed() { return queue_.added(); }
  bool plain() const { return style_.format == Format::Plain; }
  bool json() const { return style_.format == Format::Json; }

  /// Results. The bytes are written as they are.
  void out(std::string_view bytes) {
    if (silent_) return;
    if (to_.write)
      to_.write(bytes);
    else if (gathered_)
      gather(Stream::Out, bytes);
    else
      queue_.add(Stream::Out, bytes, stop_);
  }
  /// News, warnings and errors, as they are.
  void err(std::string_view bytes) {
    if (silent_) return;
    if (gathered_)
      gather(Stream::Err, bytes);
    else
      queue_.add(Stream::Err, bytes, stop_);
  }
  /// As err, but also after a stop, and without waiting for room.
  void err_regardless(std::string_view bytes) {
    if (to_.error && to_.error(bytes)) return;
    if (gathered_)
      gather(Stream::Err, bytes);
    else
      queue_.add(Stream::Err, bytes);
  }
  /// As err_line of a text that is escaped already, but also after a stop, and without waiting for
  /// room.
  void err_line_regardless(const std::string& text) {
    err_regardless(json() ? note_line(text, command_) : text + '\n');
  }
  /// A line of results, or with err_line one of news: {"note": …} with -o json. Arguments that come
  /// from znodes go through `shown`. A line of errors needs that only where newlines must not stay:
  /// all else in it is escaped on a terminal anyway.
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out(fmt::format(format, std::forward<Args>(args)...) + '\n');
  }
  template <class... Args>
  void err_line(fmt::format_string<Args...> format, Args&&... args) {
    const auto text = fmt::format(format, std::forward<Args>(args)...);
    const auto told =
        json() ? note_line(text, command_)
               : (style_.err_is_terminal ? escape_for_terminal(text, true) : text) + '\n';
    if (silent_ || (to_.error && to_.error(told))) return;
    err(told);
  }
  /// A name or a value on its way to stdout: escaped on a terminal, untouched elsewhere.
  std::string shown(std::string_view bytes) const {
    return style_.out_is_terminal ? escape_for_terminal(bytes) : std::string(bytes);
  }
  /// As `shown`, for a text whose lines are shown as lines.
  std::string shown_lines(std::string text) const {
    if (style_.out_is_terminal) return escape_for_terminal(text, true);
    return text;
  }
  std::string shown_in_error(std::string_view bytes) const {
    return style_.err_is_terminal ? escape_for_terminal(bytes) : std::string(bytes);
  }

 private:
  void gather(Stream stream, std::string_view bytes);

  OutputQueue& queue_;
  OutputStyle style_;
  OutputStyle shells_;  ///< of commands that choose no format
  std::string command_;
  std::stop_token stop_;
  Redirection to_{};
  std::vector<OutputQueue::Chunk>* gathered_ = nullptr;
  Place place_{};
  bool place_told_ = false;
  bool silent_ = false;
};

}  // namespace zksh
