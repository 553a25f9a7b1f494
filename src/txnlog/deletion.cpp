// Deletion: which transaction removed a node that is no longer there.
#include "txnlog/deletion.h"

#include "base/error.h"
#include "base/number.h"
#include "txnlog/moment.h"
#include "txnlog/past_tree.h"
#include "txnlog/transaction_reader.h"

#include <fmt/core.h>

#include <algorithm>

namespace zksh {

std::optional<Deletion> last_deletion(const DataFiles& files, std::string_view path,
                                      std::int64_t until, const std::stop_token& stop) {
  std::optional<Deletion> found;
  SessionEnds ends(files, stop);
  TransactionReader reader(files, INT64_MIN, {});
  LoggedTransaction txn;
  while (reader.next(txn) && txn.zxid <= until) {
    if (stop.stop_requested()) throw Cancelled();
    const auto ended = ends.ephemerals(txn);
    const Deletion here{.zxid = txn.zxid, .time = txn.time, .session = txn.session};
    for (const auto& op : txn.operations) {
      if (op.path != path) continue;
      if (op.creates()) found.reset();
      if (op.deletes()) found = here;
    }
    if (std::ranges::find(ended, path) == ended.end()) continue;
    found = here;
    found->session_end = true;
  }
  return found;
}

std::string deletion_text(std::string_view path, const Deletion& deletion) {
  return fmt::format("{} was deleted by {}, {}, {} session {}; before:{} still has it", path,
                     zxid_text(deletion.zxid), local_time_text(deletion.time),
                     deletion.session_end ? "the end of" : "of", session_text(deletion.session),
                     zxid_text(deletion.zxid));
}

}  // namespace zksh
