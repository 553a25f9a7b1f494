// Transaction: the operations that are collected between `multi` and `exec`.
#pragma once

#include "client/client.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zksh {

/// One operation, and how the user gave it.
struct PlannedOp {
  Op op;
  std::string line;     ///< the words that were given, secrets masked
  std::string place{};  ///< "FILE:7" when it comes from a file
};

/// At most one is open at a time. Members may be called from any thread; none blocks.
class Transaction {
 public:
  explicit Transaction(Monitor& monitor) : monitor_(monitor) {}

  /// Opens an empty one. Throws ValueError when one is open.
  void begin();
  bool is_open() const { return size().has_value(); }
  /// How many operations the open one has; nothing when none is open.
  std::optional<std::size_t> size() const;
  /// Where the operations come from that are added next, or empty.
  void come_from(const std::string& place);
  /// One must be open.
  void add(Op op, const std::string& line);
  /// A line of a script was refused: what was collected is not what was meant, and must not be
  /// sent. Nothing happens when none is open.
  void spoil();
  /// What the open one holds. Throws ValueError when none is open; a spoilt one is dropped first.
  std::vector<PlannedOp> operations();
  /// Closes it; returns how many operations it had, or nothing when none was open.
  std::optional<std::size_t> drop();

 private:
  struct State {
    std::vector<PlannedOp> operations;
    std::string place;
  };
  Monitor& monitor_;
  Guarded<std::optional<State>> state_;
  Guarded<bool> spoilt_;
};

/// "the transaction of 2 operations was dropped".
std::string dropped_text(std::size_t operations);

}  // namespace zksh
