// Walk: visits subtrees of any size in a defined order, with many requests in flight.
//
// The list `ahead_` is in the order of the visits. It has nodes that were requested, and the ends
// of rows of siblings. When the window has room, the first row in that order that has nodes to
// request provides the next one. So the head of the list never waits behind requests for later
// nodes, and the list stays short. A path is put together where it is needed, from the names in the
// rows above, so deep trees take no more memory than wide ones.
#include "tree/walk.h"

#include "base/text.h"
#include "client/client.h"
#include "client/node_path.h"
#include "client/patient_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <list>
#include <set>
#include <utility>

namespace zksh {
namespace {

/// The limit for the paths from the top down to a row, which requests name one after the other: a
/// chain of short names reaches it at about 20,000 levels.
constexpr std::size_t most_path_bytes = 512U << 20U;
/// The limit for the rows' names. Those of one answer take at most 512 MiB.
constexpr std::size_t most_name_bytes = 768U << 20U;

/// A row of siblings; the tops of a walk are a row without a parent.
struct WalkRow {
  const WalkRow* above = nullptr;  ///< the row of the parent
  std::uint32_t place = 0;         ///< the parent's index in it
  std::uint32_t next = 0;          ///< the first that has not been requested
  std::uint32_t end = 0;           ///< of those to request; the others are taken for leaves
  std::size_t depth = 0;
  std::size_t path_size = 0;  ///< the parent's, without the slash at its end
  std::shared_ptr<const NameList> names{};

  bool is_last(std::uint32_t one) const { return !above || one + 1 == names->size(); }
  std::size_t path_size_of(std::uint32_t one) const {
    const auto name = (*names)[one];
    return above ? path_size + 1 + name.size() : name == "/" ? 0 : name.size();
  }
  std::string path(std::uint32_t one) const {
    if (!above) return std::string((*names)[one]);
    auto left = path_size_of(one);
    std::string path(left, '/');
    const auto* row = this;
    for (; row->above; one = row->place, row = row->above) {
      const auto name = (*row->names)[one];
      left -= name.size();
      name.copy(path.data() + left--, name.size());
    }
    (*row->names)[one].copy(path.data(), left);
    return path;
  }
};

/// A node by its place among its siblings. Sorts in the order of the visits.
struct WalkPlace {
  const WalkRow* row = nullptr;
  std::uint32_t index = 0;

  friend bool operator<(WalkPlace a, WalkPlace b) {
    while (a.row != b.row) {
      auto& deeper = a.row->depth > b.row->depth ? a : b;
      deeper = {.row = deeper.row->above, .index = deeper.row->place};
    }
    return a.index < b.index;
  }
};

/// An item in the order of the visits: a requested node, or the end of a row, after the subtrees
/// of its nodes.
struct WalkStop {
  WalkPlace at{};                  ///< of a node
  std::unique_ptr<WalkRow> end{};  ///< the row that ends here

  TreeNode node{};
  bool complete = false;
  bool vanished = false;
  int code = code::ok;  ///< why it could not be read

  std::string path() const { return at.row->path(at.index); }
  /// Of a row: what is to be requested next.
  WalkPlace next() const { return {.row = end.get(), .index = end->next}; }
};
using WalkStops = std::list<WalkStop>;

struct NextComesFirst {
  bool operator()(WalkStops::iterator a, WalkStops::iterator b) const {
    return a->next() < b->next();
  }
};

std::shared_ptr<const NameList> no_children() {
  static const auto none = std::make_shared<const NameList>();
  return none;
}

/// The limit for values that wait to be visited, and for those that are expected.
constexpr std::size_t value_bytes = 16U << 20U;
constexpr std::size_t bytes_expected = 4U << 20U;
/// The limits for values in one answer and, near the server, in flight, however small they have
/// been so far: the next ones may take a mebibyte each, and the server has them in memory, those of
/// an answer several times.
constexpr std::size_t most_values_at_once = 64;
/// The limit for the values of neighbours in one answer: they may all be large.
constexpr std::size_t most_neighbours_at_once = 16;
constexpr std::size_t most_values = 512;
/// How many times as many values as have been read may be on their way.
constexpr std::size_t growth_of_values = 16;
/// Near the server, for lists of children.
constexpr std::size_t most_lists = 2048;
/// What servers have been seen to do.
constexpr std::size_t batched_reads_a_second = 200'000;
/// Values of this size are not read for their Stats.
constexpr std::size_t small_value = 4096;

/// The number of nodes that are read at once: grows while the answers stay small.
class BatchSize {
 public:
  BatchSize(std::size_t first, std::size_t most) : now_(std::min(first, most)), most_(most) {}

  std::size_t now() const { return now_; }
  void learn(std::size_t nodes, std::size_t bytes) {
    constexpr std::size_t usual_answer = 256U << 10U;
    if (bytes > usual_answer)
      now_ = std::max<std::size_t>(1, usual_answer * nodes / bytes);
    else if (2 * nodes > now_)
      now_ = std::min(most_, 2 * now_);
  }

 private:
  std::size_t now_;
  std::size_t most_;
};

/// The requests of a walk. Used on one thread.
class WalkReads {
 public:
  /// All three must outlive it.
  WalkReads(Client& client, const WalkPlan& plan, const std::stop_token& stop)
      : client_(client),
        plan_(plan),
        stop_(stop),
        pace_(client, plan.limits.rate),
        takes_values_(plan.data || plan.stats),
        // The sizes of values are not known at first.
        size_(takes_values_ ? 4 : 256,
              std::min({takes_values_ ? most_values_at_once : 256,
                        plan.limits.window > 0 ? plan.limits.window : usual_window,
                        fifth_of_a_second() / 2 + 1})),
        requests_(client, {.fixed = plan.limits.window}),
        nodes_(client, {.least = takes_values_ ? most_values : most_lists,
                        .rate = batched_reads_a_second,
                        .fixed = takes_values_ ? std::min(most_values, 8 * plan.limits.window)
                                               : 8 * plan.limits.window}) {}

  /// How many nodes may have been asked for and not visited: enough to fill the window while the
  /// first one waits for its children, but little memory.
  std::size_t most_ahead() {
    constexpr std::size_t usual = 4096;
    const auto waiting = takes_values_ ? most_waiting() : 0;
    return std::max({usual, 4 * plan_.limits.window, most_nodes() + waiting});
  }

  /// Whether another node may be asked for; `first`: the node that all others wait for.
  bool has_room(bool first) {
    const auto span = takes_values_ ? most_waiting() : at_once();
    if (next_.size() < at_once()) is_collecting_ = true;
    if (next_.size() >= span) is_collecting_ = false;
    return is_collecting_ || (first && next_.size() < 2 * span);
  }

  /// Has a node read, with the next ones.
  void ask(WalkStops::iterator node) {
    using What = ReadOp::What;
    auto what = plan_.stats ? What::Listing : What::Names;
    if (plan_.data)
      what = What::Value;
    else if (is_leaf(*node))
      what = What::Stat;
    // Near the server it takes less to ask only for the names of nodes that have children.
    const bool is_far = nodes_.now() > most_values && (are_batched_ || values_ == 0);
    const bool reads_names = what == What::Value && is_far && !is_leaf(*node);
    order_ = Order::OfQuestions;
    next_.push_back(
        {.node = node, .what = what, .reads_names = reads_names, .reads_acl = plan_.acls});
    if (!takes_values_ && next_.size() >= at_once()) send_all();
  }

  /// Sends as much of what has been asked for as may be in flight. Blocks to keep to the rate.
  void send_all() {
    while (!next_.empty()) {
      const auto count = std::min(room(), next_.size());
      // Whether the answers in flight will soon tell of more to be sent together. Far away they
      // would not, and the server would have no work meanwhile.
      const bool can_wait =
          plan_.collects && are_batched_ && nodes_in_flight_ > 0 && nodes_.now() <= most_lists;
      if (count == 0 || (count < at_once() && can_wait)) break;
      send(pick(count), reads_singly());
    }
    send(std::exchange(next_single_, {}), true);
  }

  /// Blocks until some requests in flight are answered. Throws Cancelled.
  void await_some() {
    if (batches_.empty()) return;
    const auto answered = [](const Batch& batch) {
      return [&batch](const Monitor::Held& held) { return batch.is_answered(held); };
    };
    if (!client_.monitor().wait(stop_, answered(batches_.front()))) throw Cancelled();
    // Answers arrive in the order of requests. Waiting for one in the middle saves wake-ups, each
    // of which costs more than handling an answer. But it may be a round trip behind the first.
    constexpr std::chrono::milliseconds longest{1};
    client_.monitor().wait_until(stop_, Clock::now() + longest,
                                 answered(batches_[(batches_.size() - 1) / 2]));
  }

  /// Passes complete nodes to `take`, in the order of first requests unless some are repeated. Asks
  /// for more of a node where an answer makes that necessary. Blocks after a lost connection.
  template <class Take>
  void take(Take&& take) {
    while (!batches_.empty()) {
      std::vector<ReadResult> results;
      std::vector<Outcome<NodeAcl>> acls;
      if (!take_answers(results, acls)) return;
      auto batch = std::move(batches_.front());
      batches_.pop_front();
      requests_in_flight_ -= batch.requests();
      nodes_in_flight_ -= batch.asked.size();
      if (results.empty()) {
        await_reconnection(client_, batch.asked.front().node->path(), last_answer_, stop_);
        send(std::move(batch.asked), batch.is_single);
        continue;
      }
      last_answer_ = Clock::now();
      requests_.learn(batch.requests_in_flight, last_answer_ - batch.sent);
      nodes_.learn(batch.nodes_in_flight, last_answer_ - batch.sent);
      std::size_t bytes = 0;
      auto next = results.begin();
      for (std::size_t i = 0; i < batch.asked.size(); ++i) {
        auto& asked = batch.asked[i];
        auto& result = *next++;
        if (asked.reads_names) {
          if (result.code == code::ok) result.code = next->code;
          result.names = std::move(next++->names);
        }
        bytes += static_cast<std::size_t>(result.stat.data_length) + result.names.memory();
        if (asked.reads_acl) understand(*asked.node, acls[i]);
        understand(asked, result, batch.is_single);
        if (asked.node->complete) take(asked.node);
      }
      if (!batch.is_single) size_.learn(batch.asked.size(), bytes);
    }
  }

  /// Stops counting the memory of a complete node.
  void visited(const WalkStop& node) { bytes_ahead_ -= memory(node); }

 private:
  struct Asked {
    WalkStops::iterator node{};
    ReadOp::What what = ReadOp::What::Value;
    bool reads_names = false;  ///< with the value
    bool reads_acl = false;
  };
  /// The order of the nodes to be sent.
  enum class Order { OfQuestions, OfVisits, Apart };
  struct Batch {
    std::vector<Asked> asked{};
    Reads reads{};
    std::vector<Pending<NodeAcl>> acls{};  ///< null where none is read
    bool is_single = false;                ///< a request for each, on purpose
    Clock::time_point sent{};
    // Including this batch:
    std::size_t requests_in_flight = 0;
    std::size_t nodes_in_flight = 0;

    std::size_t requests() const {
      return reads.requests + acls.size() -
             static_cast<std::size_t>(std::ranges::count(acls, nullptr));
    }
    bool is_answered(const Monitor::Held& held) const {
      const auto is_there = [&](const auto& acl) { return !acl || (*acl)(held); };
      // Mostly, the last one arrives last.
      return is_there(acls.back()) && (*reads.answer)(held) && std::ranges::all_of(acls, is_there);
    }
  };

  /// The number of nodes that are sent, and awaited, together.
  std::size_t at_once() const {
    constexpr std::size_t most_requests = 32;
    return are_batched_ ? size_.now() : std::min(size_.now(), most_requests);
  }

  /// How many nodes may be on their way.
  std::size_t most_nodes() {
    const auto most = nodes_.now();
    return takes_values_ ? std::min(most, growth_of_values * (values_ + 2)) : most;
  }

  /// The limit for nodes whose values are to be asked for.
  std::size_t most_waiting() {
    constexpr std::size_t usual = 4096;
    return std::min(std::max(usual, most_nodes()), fifth_of_a_second() + 2);
  }

  /// Whether each is read alone: with a watch, or because the values are too large to come with the
  /// Stats that are to be read.
  bool reads_singly() const {
    return plan_.watch.is_set() || (!plan_.data && mean_value_ >= small_value);
  }

  /// How many nodes may be sent together now.
  std::size_t room() {
    const auto left = [](std::size_t most, std::size_t now) { return most > now ? most - now : 0; };
    const bool is_batched = are_batched_ && !reads_singly();
    auto count = std::min({at_once(), left(requests_.now(), requests_in_flight_),
                           left(fifth_of_a_second() + 2, nodes_in_flight_)});
    if (is_batched) count = std::min(count, left(most_nodes(), nodes_in_flight_));
    if (takes_values_ && !reads_singly() && usual_value_ > 0) {
      const auto bytes = std::min(bytes_expected, left(value_bytes, bytes_ahead_));
      count = std::min(count, left(bytes / usual_value_, nodes_in_flight_));
    }
    return nodes_in_flight_ == 0 ? std::max<std::size_t>(count, 1) : count;
  }

  /// Takes the nodes that are sent next. Neighbours are often alike, and may all be large. So as
  /// long as values seem to be small, takes nodes that are far from each other: the first few
  /// answers then tell of large ones, and no answer has many. Towards the end of a row those left
  /// are neighbours again, so no answer has more than half of them, or a few. Once values are not
  /// small, takes a few at a time in the order of the visits.
  std::vector<Asked> pick(std::size_t count) {
    const bool in_order = next_.size() * usual_value_ > bytes_expected;
    const auto most_apart = in_order ? 0 : next_.size() / 2;
    if (takes_values_) count = std::min(count, std::max(most_neighbours_at_once, most_apart));
    if (takes_values_ && count < next_.size()) {
      const auto wanted = in_order ? Order::OfVisits : Order::Apart;
      const bool is_new = std::exchange(order_, wanted) != wanted;
      if (is_new && in_order)
        std::ranges::sort(next_, std::less<>(), [](const Asked& one) { return one.node->at; });
      else if (is_new)
        put_apart();
    }
    const auto end = next_.begin() + static_cast<std::ptrdiff_t>(std::min(count, next_.size()));
    std::vector<Asked> some(next_.begin(), end);
    next_.erase(next_.begin(), end);
    return some;
  }

  /// Puts the nodes in the order of van der Corput's sequence: any few in a row then come from all
  /// parts of the list.
  void put_apart() {
    const auto all = next_.size();
    std::deque<Asked> apart;
    for (std::size_t i = 0, place = 0; i < std::bit_ceil(all); ++i) {
      if (place < all) apart.push_back(next_[place]);
      // Adds one from the highest bit downwards.
      auto bit = std::bit_ceil(all) >> 1U;
      for (; (place & bit) != 0; bit >>= 1U) place ^= bit;
      place |= bit;
    }
    next_ = std::move(apart);
  }

  void send(std::vector<Asked> asked, bool is_single) {
    if (asked.empty()) return;
    Batch batch{.is_single = is_single};
    std::vector<ReadOp> ops;
    ops.reserve(asked.size());
    for (const auto& one : asked) {
      ops.push_back({.what = one.what, .path = one.node->path()});
      if (one.reads_names) ops.push_back({.what = ReadOp::What::Names, .path = ops.back().path});
    }
    const auto acls = std::ranges::count(asked, true, &Asked::reads_acl);
    pace_.take(asked.size() + static_cast<std::size_t>(acls), stop_);
    batch.reads = is_single ? client_.read_singly(ops, plan_.watch) : client_.start_reads(ops);
    for (const auto& one : asked)
      batch.acls.push_back(one.reads_acl ? client_.start_get_acl(one.node->path()) : nullptr);
    if (!is_single && asked.size() > 1) are_batched_ = batch.reads.requests < asked.size();
    nodes_in_flight_ += asked.size();
    requests_in_flight_ += batch.requests();
    batch.sent = Clock::now();
    batch.nodes_in_flight = nodes_in_flight_;
    batch.requests_in_flight = requests_in_flight_;
    batch.asked = std::move(asked);
    batches_.push_back(std::move(batch));
  }

  /// The answers to the first batch, if they are there; no results if the connection was lost.
  bool take_answers(std::vector<ReadResult>& results, std::vector<Outcome<NodeAcl>>& acls) {
    return client_.monitor().with_lock([&](const Monitor::Held& held) {
      const auto& batch = batches_.front();
      if (!batch.is_answered(held)) return false;
      auto& outcome = *(*batch.reads.answer)(held);
      bool is_lost = is_connection_failure(outcome.code);
      for (const auto& acl : batch.acls) {
        acls.push_back(acl ? std::move(*(*acl)(held)) : Outcome<NodeAcl>());
        is_lost = is_lost || is_connection_failure(acls.back().code);
      }
      if (is_lost) return true;
      results = std::move(outcome.value);
      // If the request failed as a whole.
      const auto names = std::ranges::count(batch.asked, true, &Asked::reads_names);
      results.resize(batch.asked.size() + static_cast<std::size_t>(names), {.code = outcome.code});
      return true;
    });
  }

  static void understand(WalkStop& stop, Outcome<NodeAcl>& acl) {
    stop.node.acl_readable = acl.code == code::ok;
    stop.node.acl = std::move(acl.value.acl);
    note(stop, acl.code);
  }

  static void note(WalkStop& stop, int code) {
    if (code == code::no_node)
      stop.vanished = true;
    else if (code != code::ok && code != code::no_auth)
      stop.code = code;
  }

  void understand(const Asked& asked, ReadResult& result, bool is_single) {
    using What = ReadOp::What;
    auto& stop = *asked.node;
    auto& node = stop.node;
    note(stop, result.code);
    const bool is_refused = result.code == code::no_auth;
    if (result.code == code::ok) take_result(node, asked.what, result);
    if (!stop.vanished && stop.code == code::ok) {
      // Servers before 3.8.4 and 3.9.2 let anybody read a Stat.
      if (is_refused && !(asked.what == What::Stat && is_single)) {
        node.readable = node.readable && asked.what == What::Stat;
        return next_single_.push_back({.node = asked.node, .what = What::Stat});
      }
      if (is_refused) node.stat_readable = false;
      const bool has_names = asked.what != What::Value || asked.reads_names || is_leaf(stop);
      if (!has_names && node.stat.num_children > 0)
        return next_.push_front({.node = asked.node, .what = What::Names});
    }
    if (!node.children) node.children = no_children();
    stop.complete = true;
    bytes_ahead_ += memory(stop);
  }

  void take_result(TreeNode& node, ReadOp::What what, ReadResult& result) {
    using What = ReadOp::What;
    if (!result.names.empty()) {
      if (!plan_.collects) result.names.sort(stop_);
      node.children = std::make_shared<const NameList>(std::move(result.names));
    }
    if (what == What::Names && plan_.data) return;
    node.stat = result.stat;
    const auto size = static_cast<std::size_t>(std::max(node.stat.data_length, 0));
    mean_value_ += (static_cast<double>(size) - mean_value_) / 32;
    usual_value_ = std::max(size, usual_value_ - usual_value_ / 16);
    ++values_;
    if (what == What::Value) node.data = std::move(result.data);
  }

  /// The number of nodes that the rate allows in this time: answers are looked at in between.
  std::size_t fifth_of_a_second() const {
    return plan_.limits.rate == 0 ? std::size_t{1} << 30U : plan_.limits.rate / 5;
  }

  bool is_leaf(const WalkStop& node) const { return node.at.row->depth >= plan_.depth; }

  static std::size_t memory(const WalkStop& node) {
    return (node.node.data ? node.node.data->size() : 0) + node.node.children->memory();
  }

  Client& client_;
  const WalkPlan& plan_;
  const std::stop_token& stop_;
  Pace pace_;
  const bool takes_values_;  ///< from the server, if only for their Stats
  BatchSize size_;
  FlightWindow requests_;
  FlightWindow nodes_;      ///< in batches
  std::deque<Asked> next_;  ///< to be sent
  Order order_ = Order::OfQuestions;
  std::vector<Asked> next_single_;  ///< to be sent, each by itself
  std::deque<Batch> batches_;
  bool is_collecting_ = true;  ///< nodes to be sent
  bool are_batched_ = false;   ///< as far as is known
  std::size_t requests_in_flight_ = 0;
  std::size_t nodes_in_flight_ = 0;
  std::size_t values_ = 0;       ///< how many have been read
  std::size_t usual_value_ = 0;  ///< roughly the largest of recent ones, in bytes
  double mean_value_ = 0;        ///< of recent values
  std::size_t bytes_ahead_ = 0;  ///< of complete nodes not yet visited
  Clock::time_point last_answer_ = Clock::now();
};

class Walk {
 public:
  Walk(Client& client, const WalkPlan& plan, const std::stop_token& stop)
      : client_(client), plan_(plan), stop_(stop), reads_(client, plan, stop) {}

  void run() {
    if (plan_.tops.empty()) return;
    client_.start_reads({});  // finds out what the server supports
    client_.await_connection(plan_.tops.front(), stop_);
    auto tops = std::make_shared<NameList>();
    for (const auto& top : plan_.tops) tops->add(top);
    add_row(ahead_.end(), {.names = std::move(tops)});
    while (!ahead_.empty()) {
      if (stop_.stop_requested()) throw Cancelled();
      if (visit_first()) continue;
      ask_ahead();
      reads_.send_all();
      reads_.await_some();
      reads_.take([this](WalkStops::iterator complete) { open(complete); });
    }
  }

 private:
  void add_row(WalkStops::iterator before, WalkRow row) {
    const auto count = static_cast<std::uint32_t>(row.names->size());
    names_found_ += count;
    name_bytes_ += row.names->memory();
    const bool too_deep = row.depth * row.path_size / 2 > most_path_bytes;
    if (too_deep || name_bytes_ > most_name_bytes)
      throw Error(fmt::format(
          "the tree is too large to walk, or endless: it is {} levels deep at {}, and its {} "
          "take more than {} MiB",
          row.depth, cut_middle(row.above->path(row.place), 40), too_deep ? "paths" : "names",
          (too_deep ? most_path_bytes : most_name_bytes) >> 20U));
    const bool guesses = row.above && names_found_ > plan_.guess_leaves_from;
    row.end = guesses ? 1 : count;
    rows_.insert(ahead_.insert(before, {.end = std::make_unique<WalkRow>(std::move(row))}));
  }

  bool first_is_unasked() const { return ahead_.front().end != nullptr; }

  void ask_ahead() {
    while (!rows_.empty() && reads_.has_room(first_is_unasked()) &&
           (nodes_ahead_ < reads_.most_ahead() || first_is_unasked())) {
      const auto first = rows_.begin();
      auto& row = *(*first)->end;
      const auto node = ahead_.insert(*first, {.at = (*first)->next()});
      if (++row.next == row.end) rows_.erase(first);
      ++nodes_ahead_;
      if (plan_.ahead) plan_.ahead(node->path());
      reads_.ask(node);
    }
  }

  /// Adds what follows a node that has been read.
  void open(WalkStops::iterator stop) {
    if (stop->code != code::ok) return;
    const auto& row = *stop->at.row;
    const bool is_leaf = !stop->vanished && stop->node.children->empty();
    if (row.end < row.names->size() && !is_leaf) {
      const auto end = std::next(stop);
      end->end->end = static_cast<std::uint32_t>(row.names->size());
      rows_.insert(end);
    }
    if (has_row_below(*stop))
      add_row(std::next(stop), {.above = &row,
                                .place = stop->at.index,
                                .depth = row.depth + 1,
                                .path_size = row.path_size_of(stop->at.index),
                                .names = stop->node.children});
  }

  bool has_row_below(const WalkStop& stop) const {
    return !stop.vanished && stop.at.row->depth < plan_.depth && !stop.node.children->empty();
  }

  /// Returns false if the first item has not been read yet.
  bool visit_first() {
    auto& first = ahead_.front();
    if (first.end) {
      auto& row = *first.end;
      if (row.next < row.end) return false;
      if (row.next < row.names->size()) {
        WalkStop guessed{.at = first.next(),
                         .node = {.guessed_leaf = true, .children = no_children()}};
        ++row.next;
        enter(guessed);
        return true;
      }
      name_bytes_ -= row.names->memory();
      if (plan_.leave && row.above) plan_.leave(row.above->depth);
    } else {
      if (!first.complete) return false;
      --nodes_ahead_;
      reads_.visited(first);
      enter(first);
    }
    ahead_.pop_front();
    return true;
  }

  void enter(WalkStop& first) {
    auto& node = first.node;
    node.path = first.path();
    node.depth = first.at.row->depth;
    node.last = first.at.row->is_last(first.at.index);
    const bool may_be_missing = node.depth > 0 || plan_.may_be_missing;
    if (first.code != code::ok) throw ZkError(first.code, node.path);
    if (first.vanished && !may_be_missing) {
      if (!plan_.missing) throw ZkError(code::no_node, node.path);
      plan_.missing(node.path);
    }
    if (first.vanished) return;
    const bool ends_here = !has_row_below(first);
    if (plan_.enter) plan_.enter(node);
    if (plan_.leave && ends_here) plan_.leave(first.at.row->depth);
  }

  Client& client_;
  const WalkPlan& plan_;
  const std::stop_token& stop_;
  WalkReads reads_;
  WalkStops ahead_;
  std::set<WalkStops::iterator, NextComesFirst> rows_;  ///< the ends of those with nodes to request
  std::size_t nodes_ahead_ = 0;
  std::size_t names_found_ = 0;
  std::size_t name_bytes_ = 0;  ///< taken by the rows
};

}  // namespace

std::size_t depth_of(const std::optional<std::int64_t>& given, std::string_view option) {
  if (given && *given < 0) throw ValueError(fmt::format("{} must be at least 0", option));
  return given ? static_cast<std::size_t>(*given) : any_depth;
}

void walk_tree(Client& client, const WalkPlan& plan, const std::stop_token& stop) {
  Walk(client, plan, stop).run();
}

void visit_subtree(Client& client, const std::string& top, const Watch& watch,
                   const WorkLimits& limits, const std::function<void(const std::string&)>& visit,
                   const std::stop_token& stop) {
  if (watch.is_set()) client.get(top, watch, stop);
  const auto enter = [&](const TreeNode& node) {
    if (!node.readable) throw ZkError(code::no_auth, node.path);
    if (node.depth == 0) visit(top);
    for (std::size_t i = 0; i < node.children->size(); ++i)
      visit(join_path(node.path, (*node.children)[i]));
  };
  walk_tree(client,
            {.tops = {top}, .stats = false, .watch = watch, .limits = limits, .enter = enter},
            stop);
}

void survey_subtree(Client& client, const std::string& top, MissedChanges& changes,
                    const std::stop_token& stop) {
  const auto enter = [&](const TreeNode& node) {
    changes.visit(node.path, node.stat);
    if (node.hides_children()) changes.note_unlistable();
  };
  walk_tree(client, {.tops = {top}, .may_be_missing = true, .enter = enter}, stop);
}

}  // namespace zksh
