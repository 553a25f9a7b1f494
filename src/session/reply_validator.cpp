// ReplyValidator: parses frames according to their requests.
#include "session/reply_validator.h"

#include "client/lease_renewal.h"
#include "session/marshalling.h"

#include <algorithm>
#include <cstdlib>

namespace zksh {
namespace {

constexpr std::size_t size_of_header = 16;
constexpr std::size_t kilobyte = 1024;
constexpr std::chrono::milliseconds per_kilobyte{250};
constexpr const char* no_memory =
    "an answer for which this machine has not enough memory (see `ulimit -v`, or the container's "
    "limit)";

bool is_creation(std::int32_t asked) {
  return asked == operation::create || asked == operation::create_and_stat ||
         asked == operation::create_container || asked == operation::create_ttl;
}

/// Whether a request needs agreement: a quorum must accept it as a transaction.
bool is_agreed_to(std::int32_t asked) {
  return is_creation(asked) || asked == operation::remove || asked == operation::set ||
         asked == operation::set_acl || asked == operation::multi ||
         asked == operation::reconfigure;
}

constexpr std::int32_t xid_of_events = -1;
constexpr std::int32_t xid_of_pings = -2;
constexpr std::int32_t xid_of_credentials = -4;
constexpr std::int32_t xid_of_watches = -8;  ///< of watches being set again
constexpr const char* unasked = "the server answered a request that was not sent";

/// The paths of created nodes in an answer.
class Creations {
 public:
  /// `asked`: the paths in the request. The server appends the number of a sequential node.
  explicit Creations(const std::vector<std::string>& asked) : asked_(asked) {}

  void take(AnswerReader& walk) {
    const auto path = walk.text();
    if (taken_ < asked_.size() && !path.starts_with(asked_[taken_++]))
      walk.refuse("an answer that names another node");
    if (first_.empty()) first_ = path;
  }
  std::string_view first() const { return first_; }

 private:
  const std::vector<std::string>& asked_;
  std::size_t taken_ = 0;
  std::string_view first_;
};

/// Most answers end with a Stat.
void walk_answer(AnswerReader& walk, std::int32_t asked, Creations& creations) {
  const auto is = [asked](auto... one_of) { return ((asked == one_of) || ...); };
  if (is_creation(asked)) creations.take(walk);
  if (is(operation::sync)) walk.text();
  if (is(operation::sasl, operation::get, operation::reconfigure)) walk.data();
  if (is(operation::get_acl)) walk.acl();
  if (is(operation::children, operation::children_and_stat))
    walk.names([](std::string_view /*name*/) {});
  if (is(operation::get_ephemerals)) walk.list([&] { walk.text(); });
  if (is(operation::count_descendants, operation::add_watch)) walk.number();
  if (is(operation::who_am_i))
    walk.list([&] {
      walk.text();
      walk.text();
    });
  // The C client reads nothing of the others.
  if (is(operation::create_and_stat, operation::create_container, operation::create_ttl,
         operation::exists, operation::set, operation::set_acl, operation::get,
         operation::reconfigure, operation::get_acl, operation::children_and_stat))
    walk.stat();
}

/// A transaction's answer has one part per operation, in order. If one failed, all parts say that
/// they failed, and one says why: the C client would take failures without a reason for a success.
bool answers_parts(AnswerReader& walk, std::string_view parts, Creations& creations) {
  constexpr std::int32_t not_tried = -2;  // another one failed
  const auto count = parts.size();
  std::size_t failures = 0;
  bool reason = false;
  while (true) {
    const auto kind = walk.number();
    const bool done = walk.flag();
    walk.number();
    if (walk.broken()) return false;
    if (done) return parts.empty() && (failures == 0 || (failures == count && reason));
    if (parts.empty() || (kind != operation::failed && kind != parts.front())) return false;
    parts.remove_prefix(1);
    if (kind == operation::failed) {
      const auto code = walk.number();
      if (code > 0) return false;
      ++failures;
      reason = reason || (code != 0 && code != not_tried);
    } else {
      walk_answer(walk, kind, creations);
    }
  }
}

/// Each of a multiRead's parts is an answer of its operation, or says why there is none.
bool answers_reads(AnswerReader& walk, std::string_view parts, Creations& creations) {
  for (; !parts.empty(); parts.remove_prefix(1)) {
    const auto kind = walk.number();
    const bool done = walk.flag();
    walk.number();
    if (done || (kind != operation::failed && kind != parts.front())) return false;
    if (kind != operation::failed)
      walk_answer(walk, kind, creations);
    else if (walk.number() >= 0)
      return false;
    if (walk.broken()) return false;
  }
  walk.number();
  return walk.flag() && !walk.broken();
}

/// Event types other than servers' are the C client's own: it reports a session's end with them.
const char* flaw_of_event(AnswerReader& walk, WireEvent& event) {
  constexpr std::int32_t first_event = 1;
  constexpr std::int32_t last_event = 7;
  event.type = walk.number();
  walk.number();
  event.path = walk.text();
  if (walk.broken()) return AnswerReader::cut_off;
  return event.type < first_event || event.type > last_event ? "an invalid event" : nullptr;
}

/// What is wrong with an answer to one of `sent` requests; null if nothing. Counts it.
const char* flaw_of_another(int& sent) {
  if (sent == 0) return unasked;
  --sent;
  return nullptr;
}

/// The operations of a transaction or a multiRead, one byte each; the paths of nodes to create.
std::string parts_of(AnswerReader& walk, std::vector<std::string>& creations) {
  std::string parts;
  while (!walk.broken()) {
    const auto kind = walk.number();
    const bool done = walk.flag();
    walk.number();
    if (done) break;
    parts += static_cast<char>(kind);
    const auto path = walk.text();
    if (is_creation(kind)) creations.emplace_back(path);
    if (kind == operation::get || kind == operation::children) {
      walk.flag();
    } else if (kind == operation::remove || kind == operation::check) {
      walk.number();
    } else if (kind == operation::set) {
      walk.data();
      walk.number();
    } else {
      walk.data();
      walk.acl();
      walk.number();
      if (kind == operation::create_ttl) walk.skip(8);
    }
  }
  return parts;
}

}  // namespace

void AnswerNotes::note_creation(std::string_view path, std::int64_t zxid) {
  const std::lock_guard lock(mutex_);
  if (creations_.size() == most_creations) creations_.pop_front();
  creations_.push_back({.path = std::string(path), .zxid = zxid});
}

std::int64_t AnswerNotes::take_creation(std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      creations_, [&](const Creation& creation) { return creation.path.ends_with(path); });
  if (found == creations_.end()) return 0;
  const auto zxid = found->zxid;
  creations_.erase(creations_.begin(), std::next(found));
  return zxid;
}

void WireConversation::note_request(std::string_view frame) {
  AnswerReader walk(frame);
  Request request{.xid = walk.number(), .operation = walk.number()};
  if (lease_) request.sent = lease_->send(BootClock::now(), is_agreed_to(request.operation));
  if (request.xid == xid_of_pings) pings_.push_back(request.sent);
  if (request.xid == xid_of_credentials) ++credentials_;
  if (request.xid == xid_of_watches) ++watch_sets_;
  // Pings, credentials and re-set watches may be answered out of order.
  if (request.xid < 0) return;
  if (outstanding_.empty()) waiting_since_ = BootClock::now();
  if (request.operation == operation::multi || request.operation == operation::multi_read)
    request.parts = parts_of(walk, request.creations);
  else if (is_creation(request.operation))
    request.creations.emplace_back(walk.text());
  if (lease_ && request.only_checks()) checks_.push_back(request.sent.at);
  outstanding_.push_back(std::move(request));
}

bool WireConversation::Request::only_checks() const {
  return !parts.empty() && std::ranges::count(parts, static_cast<char>(operation::check)) ==
                               static_cast<std::ptrdiff_t>(parts.size());
}

std::optional<SessionLease::Time> WireConversation::give_up_at() const {
  if (outstanding_.empty() || patience_.count() == 0) return std::nullopt;
  auto at = waiting_since_ + patience_;
  if (const auto parts = static_cast<std::int64_t>(part_ / kilobyte); parts > 0)
    at = std::min(part_at_ + patience_, at + parts * per_kilobyte);
  if (checks_.empty()) return at;
  const auto expected = std::max(checks_.front() + took_, answered_at_);
  return std::min(at, expected + LeaseRenewal::longest_silence(timeout_));
}

void WireConversation::note_part(std::size_t bytes) {
  if (part_ % kilobyte + bytes >= kilobyte) part_at_ = BootClock::now();
  part_ += bytes;
}

const char* WireConversation::flaw_of(std::string_view frame) {
  part_ = 0;
  AnswerReader walk(frame);
  const auto xid = walk.number();
  const auto zxid = walk.long_number();
  const auto code = walk.number();
  if (walk.broken()) return AnswerReader::cut_off;
  // Nothing else may arrive during SASL.
  if (xid < 0 && !outstanding_.empty() && outstanding_.front().operation == operation::sasl)
    return "an answer out of order";
  last_zxid_ = std::max(last_zxid_, zxid);
  if (xid == xid_of_events) return flaw_of_event(walk, event_.emplace(WireEvent{.zxid = zxid}));
  if (xid == xid_of_pings) {
    if (pings_.empty()) return unasked;
    if (lease_) lease_->answer(pings_.front(), BootClock::now(), code == 0);
    pings_.pop_front();
    return nullptr;
  }
  if (xid == xid_of_credentials) return flaw_of_another(credentials_);
  if (xid == xid_of_watches) return flaw_of_another(watch_sets_);
  if (xid < 0) return "an invalid answer";
  if (outstanding_.empty()) return unasked;
  const auto request = std::move(outstanding_.front());
  outstanding_.pop_front();
  if (request.only_checks() && !checks_.empty()) checks_.pop_front();
  if (request.xid != xid) return "an answer out of order";
  // Servers' codes are negative; zksh has positive ones of its own.
  if (code > 0) return "an answer with an invalid error code";
  if (lease_) lease_->answer(request.sent, BootClock::now(), code == 0);
  waiting_since_ = answered_at_ = BootClock::now();
  took_ = answered_at_ - request.sent.at;
  round_trip_ = std::min(round_trip_, took_);
  answered_ = true;
  if (code != 0) return nullptr;
  Creations creations(request.creations);
  if (request.operation == operation::multi) {
    if (!answers_parts(walk, request.parts, creations))
      return "an answer that does not match its transaction";
  } else if (request.operation == operation::multi_read) {
    if (!answers_reads(walk, request.parts, creations))
      return "an answer that does not match its reads";
  } else {
    walk_answer(walk, request.operation, creations);
    if (walk.broken()) return walk.flaw();
  }
  if (notes_ && !creations.first().empty()) notes_->note_creation(creations.first(), zxid);
  return nullptr;
}

const char* flaw_of_length(std::int32_t length) {
  // Four printable letters, the start of some other protocol, would be a larger number.
  constexpr std::int32_t longest = 1 << 29;
  if (length < static_cast<std::int32_t>(size_of_header) || length >= longest)
    return "an answer with an invalid length";
  constexpr std::int32_t large = 1 << 20;
  if (length < large) return nullptr;
  // Without this memory, the C client would never read anything again.
  void* const volatile room = std::malloc(static_cast<std::size_t>(length));
  std::free(room);
  return room == nullptr ? no_memory : nullptr;
}

const char* flaw_of_greeting(std::string_view answer, bool fresh) {
  constexpr const char* foreign = "it does not speak the ZooKeeper protocol";
  constexpr std::size_t old_length = 36;  // without the read-only flag
  if (answer.size() < 4) return nullptr;
  AnswerReader walk(answer);
  const auto length = walk.number();
  if (length != old_length && length != old_length + 1) return foreign;
  if (answer.size() < 4 + old_length) return nullptr;
  const auto version = walk.number();
  const auto timeout = walk.number();
  const auto session = walk.long_number();
  const auto password_length = walk.number();
  // A server that no longer knows the session sends 0 and 0.
  const bool expired = !fresh && session == 0;
  const bool begun = timeout > 0 && session != 0;
  // The C client, like Java's, doubles it.
  constexpr std::int32_t longest_timeout = (1 << 30) - 1;
  if (begun && timeout > longest_timeout) return "it grants a session timeout that is too long";
  if (version != 0 || password_length != 16 || !(begun || expired)) return foreign;
  return nullptr;
}

Granted granted_by(std::string_view answer) {
  AnswerReader walk(answer);
  walk.skip(4 + 4);  // length, version
  return {.timeout_ms = walk.number(), .session = walk.long_number()};
}

std::string expired_greeting() {
  constexpr std::size_t before_password = 4 + 4 + 8;  // version, timeout, session
  constexpr std::int32_t size_of_password = 16;
  std::string frame(before_password, '\0');
  add_number(frame, size_of_password);
  return frame.append(size_of_password + 1, '\0');  // and the read-only flag
}

SessionRequest session_request(std::string_view greeting) {
  AnswerReader walk(greeting);
  walk.skip(4);  // version
  return {.last_zxid = walk.long_number(),
          .timeout_ms = walk.number(),
          .fresh = walk.long_number() == 0};
}

std::string ping_request() { return request_frame(xid_of_pings, operation::ping); }

std::string ping_answer() {
  std::string frame(size_of_header, '\0');
  put_number(frame.data(), xid_of_pings, 4);
  return frame;
}

std::string with_last_zxid(std::string_view greeting, std::int64_t zxid) {
  constexpr std::size_t behind_version = 4;
  std::string frame(greeting);
  if (frame.size() >= behind_version + 8) put_number(frame.data() + behind_version, zxid, 8);
  return frame;
}

AnswerHeader answer_header(std::string_view frame) {
  AnswerReader fields(frame);
  return {.xid = fields.number(),
          .zxid = fields.long_number(),
          .code = fields.number(),
          .body = fields.rest()};
}

std::chrono::milliseconds request_patience(std::int32_t requested_ms, std::int32_t granted_ms) {
  constexpr std::int32_t usual_longest_ms = 60000;
  return std::chrono::milliseconds(std::min(granted_ms, std::max(requested_ms, usual_longest_ms)));
}

}  // namespace zksh
