// Failures: what calls that must fail throw, for unit tests.
#pragma once

#include "client/zk_error.h"

#include <string>

namespace zksh {

/// What the E that a call throws says; empty if it throws none.
template <class E = Error, class Call>
std::string refusal_of(Call&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

/// The code of the ZkError that a call throws; ok if it throws none.
template <class Call>
int code_of(Call&& call) {
  try {
    call();
  } catch (const ZkError& error) {
    return error.code();
  }
  return code::ok;
}

}  // namespace zksh
