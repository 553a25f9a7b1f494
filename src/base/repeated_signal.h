// RepeatedSignal: when two signals are one.
#pragma once

#include <chrono>

namespace zksh {

/// A signal that comes again within this time of the first counts once: timeout(1) sends it to the
/// process and then to its group.
inline constexpr std::chrono::milliseconds one_signal{500};

}  // namespace zksh
