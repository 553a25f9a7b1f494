// Fuzzes the values of quota nodes, and the limits in a dump.
#include "fuzz.h"
#include "node/quota.h"
#include "tree/tree_text.h"

namespace zksh::fuzz {

void quota_fuzz(std::string_view bytes) {
  if (const auto quota = QuotaText::parse(bytes)) {
    const auto text = quota->text();
    const auto again = QuotaText::parse(text);
    require(again.has_value(), "what is written can be read", text);
    require(again->text() == text, "what is written reads back", text);
    for (const auto key : {QuotaText::count, QuotaText::bytes, QuotaText::count_hard_limit,
                           QuotaText::byte_hard_limit})
      require(again->get(key) == quota->get(key), "a limit reads back", text);
  }
  accepts([&] {
    const auto limits = parse_limits(bytes);
    require(parse_limits(limits_text(limits)) == limits, "limits read back", limits_text(limits));
  });
}

}  // namespace zksh::fuzz
