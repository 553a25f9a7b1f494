// Fuzzes what other clients put in a lock's queue: node names and data.
#include "base/text.h"
#include "fuzz.h"
#include "lock/text.h"
#include "recipes/lock_name.h"

namespace zksh::fuzz {

void lock_name_fuzz(std::string_view bytes) {
  Input input(bytes);
  const auto text = input.line();
  const auto name = parse_lock_name(text);
  const auto sequence = lock_sequence(text);
  require(name.has_value() == sequence.has_value(), "a contender has a number", text);
  if (name) {
    require(name->text == text && name->sequence == *sequence, "a name is its own", text);
    require(name->text.starts_with(name->prefix()), "a name begins with its prefix", text);
    require(name->text.find(name->key()) != std::string::npos, "the key is in the name", text);
    library_name(name->made_by());
    joins_many(*name);
  }
  const auto owner = owner_in_line(std::string(input.rest()));
  require_harmless(owner);
  require(text_width(owner) <= 101, "an owner fits a line", owner);
}

}  // namespace zksh::fuzz
