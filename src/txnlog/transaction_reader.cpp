// TransactionReader: the transactions of many logs, in order, each once.
#include "txnlog/transaction_reader.h"

#include "base/number.h"

#include <algorithm>
#include <sys/stat.h>

namespace zksh {
namespace {

constexpr std::size_t most_open = 16;

/// What a file takes on the disk: logs are created with 64 MiB of zeros, most of them a hole.
std::uint64_t bytes_of(const std::string& path) {
  constexpr std::uint64_t block = 512;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return std::min(static_cast<std::uint64_t>(status.st_size),
                  block * static_cast<std::uint64_t>(status.st_blocks));
}

}  // namespace

TransactionReader::TransactionReader(const DataFiles& files, std::int64_t from,
                                     LogFile::Report report)
    : files_(files), report_(std::move(report)) {
  const DataFiles::File* first = nullptr;
  for (const auto& file : files.logs())
    if (file.zxid <= from) first = &file;
  // All of the same name: copies in several places.
  if (first) opened_ = {.zxid = first->zxid};
  for (const auto& file : files.logs())
    if (file > opened_) total_bytes_ += bytes_of(file.path);
}

void TransactionReader::report(Flaw flaw) {
  if (flaw.is_unbegun() && flaw.file == files_.logs().back().path) flaw.harmless = true;
  damaged_ = damaged_ || !flaw.harmless;
  if (report_) report_(flaw);
}

void TransactionReader::open(const DataFiles::File& file) {
  if (sources_.size() == most_open)
    throw Error(fmt::format("more than {} logs overlap at {}; name one copy of each", most_open,
                            zxid_text(file.zxid)));
  opened_ = file;
  sources_.push_back({.log = std::make_unique<LogFile>(file.path, [this](const Flaw& flaw) {
                        passed_over_ += flaw.bytes;
                        report(flaw);
                      })});
}

/// Reads the next record of each log; closes those that have none.
void TransactionReader::settle(bool follows) {
  for (auto source = sources_.begin(); source != sources_.end();) {
    const bool grows =
        follows && !files_.logs().empty() && source->log->path() == files_.logs().back().path;
    if (!source->record) source->record = source->log->next(grows);
    if (source->record || grows) {
      ++source;
      continue;
    }
    finished_bytes_ += bytes_of(source->log->path());
    source = sources_.erase(source);
  }
}

bool TransactionReader::next(LoggedTransaction& txn, bool follows) {
  if (consumed_) consumed_->record.reset();
  consumed_ = nullptr;
  while (true) {
    settle(follows);
    Source* chosen = nullptr;
    for (auto& source : sources_)
      if (source.record &&
          (!chosen || zxid_of(source.record->body) < zxid_of(chosen->record->body)))
        chosen = &source;
    const auto& logs = files_.logs();
    const auto file = std::ranges::upper_bound(logs, opened_);
    if (file != logs.end() && (!chosen || file->zxid <= zxid_of(chosen->record->body))) {
      open(*file);
      continue;
    }
    if (!chosen) {
      report_not_agreed();
      if (!follows) end_repetition();
      return false;
    }
    if (accept(*chosen, txn)) return true;
    passed_over_ += chosen->record->whole.size();
    chosen->record.reset();
  }
}

/// False if the record cannot be used.
bool TransactionReader::accept(Source& source, LoggedTransaction& txn) {
  const auto& body = source.record->body;
  const auto zxid = zxid_of(body);
  const auto flaw = [&](Flaw::Kind kind) {
    report({.kind = kind,
            .file = source.log->path(),
            .offset = source.record->offset,
            .bytes = source.record->whole.size(),
            .after = last_zxid_,
            .before = zxid,
            .length = txn.bad_length,
            .harmless = kind == Flaw::Kind::Repeated});
  };
  if (drop_not_agreed(source, zxid)) return false;
  report_not_agreed();
  if (any_ && zxid <= last_zxid_) {
    // A member that comes back may write again what it has written, and what it is sent again.
    const bool repeated = was_read(*source.record);
    if (repeated)
      repetition_ = Flaw{.kind = Flaw::Kind::Unordered,
                         .file = source.log->path(),
                         .offset = source.record->offset,
                         .after = zxid,
                         .before = last_zxid_};
    auto& told = repeated ? source.repeat_told : source.disorder_told;
    if (!std::exchange(told, true)) flaw(repeated ? Flaw::Kind::Repeated : Flaw::Kind::Unordered);
    return false;
  }
  end_repetition();
  drop_repeated(source);
  current_ = source.log.get();
  record_ = *source.record;
  check_gap(zxid);
  last_zxid_ = zxid;
  any_ = true;
  if (!parse_transaction(body, txn)) {
    flaw(txn.bad_part          ? Flaw::Kind::BadPart
         : txn.bad_length == 0 ? Flaw::Kind::Incomplete
                               : Flaw::Kind::Malformed);
    return false;
  }
  if (!txn.known) flaw(txn.type == TxnType::Multi ? Flaw::Kind::BadPart : Flaw::Kind::UnknownType);
  consumed_ = &source;
  return true;
}

/// Whether a transaction that is not later than the last was already read, with the same bytes. A
/// second reader goes through the logs again, so that nothing need be kept for it.
bool TransactionReader::was_read(const LogFile::Record& record) {
  constexpr int most_rereadings = 64;  // records in any order must not cost quadratic time
  if (!report_) return false;
  const auto zxid = zxid_of(record.body);
  if (!earlier_ || earlier_->last_zxid() > zxid) {
    if (++rereadings_ > most_rereadings) return false;
    earlier_ = std::make_unique<TransactionReader>(files_, zxid, nullptr);
  }
  LoggedTransaction txn;
  while (earlier_->last_zxid() < zxid && earlier_->next(txn)) {
  }
  return earlier_->last_zxid() == zxid && same_transaction(earlier_->record_.body, record.body);
}

/// Transactions written again change nothing only if they go on to the last one before them: else
/// later ones are undone.
void TransactionReader::end_repetition() {
  const auto last = std::exchange(repetition_, std::nullopt);
  if (last && last->after != last_zxid_) report(*last);
}

/// Whether the other servers went on without it; if so, notes that.
bool TransactionReader::drop_not_agreed(const Source& source, std::int64_t zxid) {
  if (files_.was_agreed(zxid)) return false;
  if (!not_agreed_)
    not_agreed_ = Flaw{.kind = Flaw::Kind::NotAgreed,
                       .file = source.log->path(),
                       .offset = source.record->offset,
                       .after = zxid,
                       .harmless = true};
  not_agreed_->before = zxid;
  not_agreed_->bytes += source.record->whole.size();
  return true;
}

void TransactionReader::report_not_agreed() {
  if (const auto flaw = std::exchange(not_agreed_, std::nullopt)) report(*flaw);
}

/// Drops the same transaction from the other logs.
void TransactionReader::drop_repeated(const Source& chosen) {
  if (sources_.size() == 1) return;
  const auto zxid = zxid_of(chosen.record->body);
  for (auto& source : sources_) {
    if (&source == &chosen || !source.record || zxid_of(source.record->body) != zxid) continue;
    if (!same_transaction(source.record->body, chosen.record->body))
      throw Contradiction(
          chosen.log->path(),
          fmt::format("{} and {} tell different things of {}: they are not of the same ensemble, "
                      "or one has what was never agreed on",
                      chosen.log->path(), source.log->path(), zxid_text(zxid)),
          zxid);
    passed_over_ += source.record->whole.size();
    source.record.reset();
  }
}

void TransactionReader::check_gap(std::int64_t zxid) {
  const bool known = std::exchange(damaged_, false);  // the gap is where the damage is
  if (!any_ || known) return;
  if (zxid == last_zxid_ + 1 || begins_epoch_after(zxid, last_zxid_)) return;
  report({.kind = Flaw::Kind::Gap,
          .file = current_->path(),
          .offset = record_.offset,
          .after = last_zxid_,
          .before = zxid});
  damaged_ = false;
}

std::uint64_t TransactionReader::bytes_read() const {
  auto bytes = finished_bytes_;
  for (const auto& source : sources_) bytes += source.log->offset();
  return bytes;
}

}  // namespace zksh
