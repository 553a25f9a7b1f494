// InheritedDescriptors: the descriptors above 2 that zksh was started with.
#pragma once

#include <vector>

namespace zksh {

/// Those that are not closed on exec, in order: a program that gets them has what whoever started
/// zksh meant it to have. They are found by the first call, which must come before zksh, or a
/// library, opens anything.
const std::vector<int>& inherited_descriptors();

}  // namespace zksh
