// Fuzzes the reading of transaction logs and snapshots: whatever the bytes are, what is read is
// within them, and nothing intact behind damage is lost by mere repetition.
#include "fuzz.h"
#include "txnlog/log_file.h"
#include "txnlog/past_tree.h"
#include "txnlog/transaction.h"

namespace zksh::fuzz {
namespace {

void read_log(const MemoryFile& file, std::size_t size, PastTree& tree) {
  std::size_t flaws = 0;
  LogFile log(file.name(), [&](const Flaw& flaw) {
    ++flaws;
    require(!flaw_text(flaw).empty(), "a flaw is told");
    require(flaw.offset + flaw.bytes <= size, "a flaw is within the file");
  });
  std::uint64_t last = 0;
  LoggedTransaction txn;
  while (const auto record = log.next()) {
    require(record->offset >= last && record->offset + record->whole.size() <= size,
            "records follow each other within the file");
    last = record->offset + record->whole.size();
    if (!parse_transaction(record->body, txn)) continue;
    require(same_transaction(record->body, record->body), "a transaction is the same as itself");
    for (const auto& op : txn.operations) decoded_acl(op.acl);
    tree.apply(txn);
  }
  require(flaws <= size + 1, "there are no more flaws than bytes");
}

}  // namespace

void txnlog_fuzz(std::string_view bytes) {
  const MemoryFile file(bytes);
  PastTree tree;
  tree.load_first();
  accepts([&] { read_log(file, bytes.size(), tree); });
  for (const auto path : tree.below("/")) require(tree.find(path), "each path is that of a node");
  LoggedTransaction txn;
  if (parse_transaction(bytes, txn)) tree.apply(txn);
  accepts([&] { tree.load(file.name(), {}); });
}

}  // namespace zksh::fuzz
