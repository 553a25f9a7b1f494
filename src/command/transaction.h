// Transaction: the operations collected between `multi` and `exec`.
#pragma once

#include "client/nodes.h"
#include "command/invocation.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// An operation, and how the user entered it.
struct PlannedOp {
  Op op;
  std::string line;     ///< as typed, with secrets masked
  std::string place{};  ///< "FILE:7" if it comes from a file
};

/// At most one transaction is open at a time. Members may be called from any thread; none blocks.
class Transaction {
 public:
  explicit Transaction(Monitor& monitor) : monitor_(monitor) {}

  /// Opens an empty transaction. Throws ValueError if one is open. `takes_only_operations`: its
  /// operations are given at once, so no other command has a place among them.
  void begin(bool takes_only_operations = false);
  bool takes_only_operations() const;
  bool is_open() const { return size().has_value(); }
  /// The number of operations in the open transaction; nullopt if none is open.
  std::optional<std::size_t> size() const;
  /// Sets the place of operations added next; may be empty.
  void set_place(const std::string& place);
  /// A transaction must be open. Throws ValueError if it reads.
  void add(Op op, const std::string& line);
  /// The same for a read. Throws ValueError if the transaction writes: ZooKeeper has a request of
  /// its own for each kind.
  void add_read(Invocation read);
  /// Marks the open transaction, if any, as unusable, because a line of the script was refused: it
  /// must not be sent incomplete.
  void spoil();
  /// The operations of the open transaction. Throws ValueError if none is open, or if it is
  /// unusable, after dropping it.
  std::vector<PlannedOp> operations();
  /// The reads of the open transaction, if it has any.
  std::vector<Invocation> reads() const;
  /// Closes the transaction; returns the number of its operations, nullopt if none was open.
  std::optional<std::size_t> drop();

 private:
  struct State {
    std::vector<PlannedOp> operations{};
    std::vector<Invocation> reads{};
    std::string place{};
    bool spoilt = false;
    bool takes_only_operations = false;

    std::size_t size() const { return operations.size() + reads.size(); }
  };
  Monitor& monitor_;
  Guarded<std::optional<State>> state_;
};

/// "the transaction of 2 operations was dropped".
std::string dropped_text(std::size_t operations);

}  // namespace zksh
