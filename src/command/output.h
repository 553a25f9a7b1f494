// Output: what a job prints, queued for the main thread to write.
#pragma once

#include "base/monitor.h"
#include "base/named_values.h"
#include "base/text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zksh {

enum class Stream { Out, Err };

/// The output waiting to be written to the two streams, in order. Any thread may add; one thread
/// takes. Adding does not block until `limit` bytes wait, however slow the terminal is.
class OutputQueue {
 public:
  static constexpr std::size_t limit = 4U << 20U;

  struct Chunk {
    Stream stream;
    std::string bytes;
  };

  /// `wake_fd`: an eventfd, not owned, that is written when the queue becomes non-empty.
  OutputQueue(Monitor& monitor, int wake_fd) : monitor_(monitor), wake_fd_(wake_fd) {}

  /// Blocks while more than `limit` bytes wait; throws Cancelled on a stop. Longer output is added
  /// in parts, between which other threads may add.
  void add(Stream stream, std::string_view bytes, const std::stop_token& stop);
  /// The same for several chunks, between which no other thread can add.
  void add(const std::vector<Chunk>& chunks, const std::stop_token& stop);
  /// Never blocks: for the C client's threads.
  void add(const Monitor::Held& held, Stream stream, std::string_view bytes);
  void add(Stream stream, std::string_view bytes) {
    monitor_.with_lock([&](const Monitor::Held& held) { add(held, stream, bytes); });
  }
  /// Takes all that waits; no text while that is held back. Calling it means that what was taken
  /// before has been written.
  std::deque<Chunk> take();
  /// Holds output back while `spoils` returns true, because a program draws on the terminal.
  /// `spoils` is called under the monitor, on the thread that takes, and must neither block nor
  /// call the queue. An empty function ends this.
  void hold_back(std::function<bool()> spoils);
  /// Blocks until all that was added before has been written, or writing has failed, and the
  /// notice of a wait has been taken away, or until `deadline`; throws Cancelled on a stop. Call it
  /// before somebody else writes to the same streams, after what keeps a new notice away: a
  /// SignalRelay::Registration.
  void await_written(Clock::time_point deadline, const std::stop_token& stop);
  /// Blocks until all that was added before has been written; false if standard output has failed,
  /// or on a stop.
  bool await_accepted(const std::stop_token& stop);
  /// What is added to standard output from now on is lost. Call it before the next take.
  void fail_out() {
    monitor_.with_lock([&](const Monitor::Held& held) { state_(held).out_failed = true; });
  }
  /// Whether the first `additions` have been written.
  bool has_written(std::uint64_t additions) {
    return monitor_.with_lock(
        [&](const Monitor::Held& held) { return state_(held).written >= additions; });
  }
  /// How often something was added.
  std::uint64_t added() {
    return monitor_.with_lock([&](const Monitor::Held& held) { return state_(held).added; });
  }

 private:
  struct State {
    std::deque<Chunk> chunks;
    std::size_t bytes = 0;    ///< waiting
    std::uint64_t added = 0;  ///< how often something was; the next two count the same additions
    std::uint64_t taken = 0;
    std::uint64_t written = 0;
    std::function<bool()> spoils{};
    bool out_failed = false;
  };
  Monitor& monitor_;
  int wake_fd_;
  Guarded<State> state_;
};

/// The format of a command's results.
enum class Format { Zkcli, Plain, Json };
/// The values of -o. The form for people is zkCli's for the commands that zkCli has, and a text or
/// table for others.
inline constexpr NamedValues<Format, 5> named_formats{{{"zkcli", Format::Zkcli},
                                                       {"plain", Format::Plain},
                                                       {"json", Format::Json},
                                                       {"text", Format::Zkcli},
                                                       {"table", Format::Zkcli}}};

/// What the two streams are connected to, and how results should look.
struct OutputStyle {
  Format format = Format::Zkcli;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool for_people = false;  ///< no format was chosen: lists may use a form that suits the reader
  /// The number of the background job, with which its lines on a terminal begin; 0 while the
  /// command is not a background job.
  std::shared_ptr<const std::atomic<int>> job{};
};

/// Receives results instead of standard output.
struct Redirection {
  std::function<void(std::string_view bytes)> write{};  ///< may block; throws Error
  std::function<int()>
      fd{};               ///< the descriptor for a program that writes there itself; empty: stdout
  bool terminal = false;  ///< the bytes end up on a terminal
  /// Takes errors, in their place among the results; returns false if they must be printed at once.
  /// Does not throw.
  std::function<bool(std::string_view bytes)> error{};
  /// As fd, for errors.
  std::function<int()> error_fd{};
  bool errors_elsewhere = false;  ///< errors go to standard output, or off the terminal
};

/// A note or an error for standard error, and a newline. With `json` {"note": …, "command": …};
/// empty for an empty text. Otherwise the text; for a `terminal` it is escaped except for newlines,
/// and broken between words.
std::string news_line(const std::string& text, bool json, bool terminal,
                      const std::string& command = {});
/// What the person at the terminal is asked, in the form that -o json prints on stderr:
/// {"question": …}.
std::string question_line(const std::string& text, const std::string& command);

/// A job's view of the streams. Used only by the job's thread. Every member may block while the
/// queue is full, and throws Cancelled on a stop.
class Output {
 public:
  Output(OutputQueue& queue, const OutputStyle& style, std::stop_token stop)
      : queue_(queue), style_(style), shells_(style), stop_(std::move(stop)) {}

  const OutputStyle& style() const { return style_; }
  /// A copy that discards its output.
  Output silent(std::stop_token stop) const {
    Output other(queue_, style_, std::move(stop));
    other.silent_ = true;
    other.node_ = node_;
    return other;
  }
  /// Sets the format of results and errors until the next command begins.
  void set_format(Format format) {
    style_.format = format;
    style_.for_people = false;
  }
  /// From now on, output is appended to `into` instead of being printed, without blocking; null
  /// ends this. `into` must live until then.
  void gather(std::vector<OutputQueue::Chunk>* into) { gathered_ = into; }
  /// The line of the command, which errors mention unless its number is 0.
  struct Place {
    std::string source;
    std::size_t line = 0;
    bool in_text = true;  ///< false: only in JSON errors
  };
  void set_place(Place place) {
    place_ = std::move(place);
    place_shown_ = false;
  }
  const Place& place() const { return place_; }
  /// Whether an error has mentioned the place.
  bool place_shown() const { return place_shown_; }
  void mark_place_shown() { place_shown_ = true; }
  /// Called when a command begins.
  void begin_command(std::string_view name) {
    command_ = name;
    *node_ = {};
    style_.format = shells_.format;
    style_.for_people = shells_.for_people;
  }
  const std::string& command() const { return command_; }
  /// The command is about this node, and perhaps about others. An error without a path of its own
  /// gets this one, if it is the only one.
  void add_node(const std::string& path) { node_->add(path); }
  /// From now on the command is about this node only.
  void set_node(const std::string& path) { *node_ = {.path = path}; }
  /// Empty if there is none, or more than one.
  std::string node() const { return node_->several ? std::string() : node_->path; }
  /// From now on, results go to `to`.
  void redirect(Redirection to) {
    to_ = std::move(to);
    if (redirected()) style_.out_is_terminal = to_.terminal;
    if (to_.errors_elsewhere) style_.err_is_terminal = to_.terminal;
  }
  const Redirection& redirection() const { return to_; }
  bool redirected() const { return static_cast<bool>(to_.write); }
  /// The standard output for a program that a command runs; -1: zksh's own.
  int descriptor() const { return to_.fd ? to_.fd() : -1; }
  /// The same for standard error.
  int error_descriptor() const { return to_.error_fd ? to_.error_fd() : -1; }
  /// See OutputQueue::await_written.
  void await_printed(Clock::time_point deadline = Clock::time_point::max()) {
    queue_.await_written(deadline, stop_);
  }
  /// See OutputQueue.
  bool await_accepted() { return queue_.await_accepted(stop_); }
  /// See OutputQueue.
  void hold_back(std::function<bool()> spoils) { queue_.hold_back(std::move(spoils)); }
  /// How often anybody has printed something so far, on either stream.
  std::uint64_t printed() { return queue_.added(); }
  bool plain() const { return style_.format == Format::Plain; }
  bool json() const { return style_.format == Format::Json; }
  /// The form for people.
  bool text() const { return style_.format == Format::Zkcli; }

  /// Prints results, byte for byte.
  void out(std::string_view bytes) {
    if (silent_) return;
    if (to_.write) return to_.write(bytes);
    put(Stream::Out, bytes, true);
  }
  /// Prints notes, warnings and errors, byte for byte.
  void err(std::string_view bytes) {
    if (silent_ || (to_.errors_elsewhere && to_.error(bytes))) return;
    put(Stream::Err, bytes, true);
  }
  /// As err, but also works after a stop, and does not block.
  void err_regardless(std::string_view bytes) {
    if (to_.error && to_.error(bytes)) return;
    put(Stream::Err, bytes, false);
  }
  /// As err_line for a text that is already escaped, but also works after a stop, and does not
  /// block.
  void err_line_regardless(const std::string& text) {
    err_regardless(news_line(text, json(), false, command_));
  }
  /// Prints a line of results, or with err_line a note, which is {"note": …} with -o json. Pass
  /// arguments from znodes through `shown`. A note needs that only to escape newlines: everything
  /// else in it is escaped on a terminal anyway.
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out(fmt::format(format, std::forward<Args>(args)...) + '\n');
  }
  /// Prints lines of results, which must be escaped already.
  void lines(const std::vector<std::string>& all) {
    if (!all.empty()) out(fmt::format("{}\n", fmt::join(all, "\n")));
  }
  template <class... Args>
  void err_line(fmt::format_string<Args...> format, Args&&... args) {
    const auto text = fmt::format(format, std::forward<Args>(args)...);
    const auto formatted = news_line(text, json(), style_.err_is_terminal, command_);
    if (silent_ || (to_.error && to_.error(formatted))) return;
    err(formatted);
  }
  /// A name or value for stdout: escaped if that is a terminal, else unchanged.
  std::string shown(std::string_view bytes) const {
    return style_.out_is_terminal ? escape_for_terminal(bytes) : std::string(bytes);
  }
  /// As `shown`, but keeps newlines.
  std::string shown_lines(std::string text) const {
    if (style_.out_is_terminal) return escape_for_terminal(text, true);
    return text;
  }
  std::string shown_in_error(std::string_view bytes) const {
    return style_.err_is_terminal ? escape_for_terminal(bytes) : std::string(bytes);
  }

 private:
  struct Node {
    std::string path{};
    bool several = false;
    void add(const std::string& other) {
      several = several || (!path.empty() && path != other);
      path = other;
    }
  };

  /// Gathers or queues the bytes; with `blocks`, throws Cancelled on a stop.
  void put(Stream stream, std::string_view bytes, bool blocks);
  std::string with_job(int job, Stream stream, std::string_view bytes);

  OutputQueue& queue_;
  OutputStyle style_;
  OutputStyle shells_;  ///< for commands that choose no format
  std::string command_;
  std::shared_ptr<Node> node_ = std::make_shared<Node>();  ///< shared with silent copies
  std::stop_token stop_;
  Redirection to_{};
  std::vector<OutputQueue::Chunk>* gathered_ = nullptr;
  Place place_{};
  bool place_shown_ = false;
  bool silent_ = false;
  std::array<bool, 2> within_line_{};  ///< for each of a job's streams
};

/// For commands that print hundreds of thousands of lines: printing each alone costs more than
/// producing it. Used on the command's thread.
class ResultLines {
 public:
  explicit ResultLines(Output& out) : out_(out) {}

  /// Adds a line, without its newline. Prints what has been collected from time to time, at the
  /// latest with the first line added after a tenth of a second. Blocks and throws as Output::out.
  void add(std::string_view line) {
    text_ += line;
    text_ += '\n';
    if (text_.size() >= enough || Clock::now() - handed_over_ >= longest) flush();
  }
  /// Adds what `json` returns with -o json, else what `text` does.
  template <class MakeJson, class MakeText>
  void add_result(MakeJson&& json, MakeText&& text) {
    add(out_.json() ? std::forward<MakeJson>(json)().text() : std::forward<MakeText>(text)());
  }
  void flush() {
    if (before_first_) std::exchange(before_first_, {})();
    out_.out(std::exchange(text_, {}));
    handed_over_ = Clock::now();
  }
  /// Sets a function that is called once, before the first lines are printed.
  void before_first(std::function<void()> call) { before_first_ = std::move(call); }
  /// Runs `work`, which adds lines, and prints the rest at the end, also if it throws.
  template <class F>
  void during(F&& work) {
    try {
      std::forward<F>(work)();
    } catch (...) {
      flush();
      throw;
    }
    flush();
  }

 private:
  static constexpr std::size_t enough = 64U << 10U;
  static constexpr std::chrono::milliseconds longest{100};
  Output& out_;
  std::string text_;
  std::function<void()> before_first_{};
  Clock::time_point handed_over_{};
};

}  // namespace zksh
