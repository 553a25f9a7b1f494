// Fuzzes configuration files, and that of a new membership.
#include "client/ensemble.h"
#include "config/configuration.h"
#include "config/security_settings.h"
#include "fuzz.h"

namespace zksh::fuzz {

void configuration_fuzz(std::string_view bytes) {
  const MemoryFile file(bytes);
  accepts([&] {
    std::size_t size = 0;
    const auto read = read_configuration_file(file.name());
    require(read.has_value(), "the file is there");
    for (const auto& [section, entries] : read->sections)
      for (const auto& [key, value] : entries) size += key.size() + value.text.size();
    require(size <= 2 * bytes.size() + 100, "nothing is made up");
  });
  accepts([&] { members_in_file(file.name()); });
  client_connect_string(bytes);
}

}  // namespace zksh::fuzz
