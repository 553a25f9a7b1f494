// Fuzzes connect strings.
#include "client/connect_string.h"
#include "client/node_path.h"
#include "fuzz.h"

namespace zksh::fuzz {

void connect_string_fuzz(std::string_view bytes) {
  accepts([&] {
    const auto parsed = parse_connect_string(bytes);
    require(!parsed.servers.empty(), "a server is named");
    require(parsed.chroot.empty() || !path_flaw(parsed.chroot), "the chroot is a path");
    std::string text;
    for (const auto& server : parsed.servers) {
      require(!server.host.empty() && server.port > 0 && server.port < 65536, "a server is whole");
      if (!text.empty()) text += ',';
      text += server.text();
    }
    const auto again = parse_connect_string(text + parsed.chroot);
    require(again.for_c_client() == parsed.for_c_client(), "a connect string reads back", text);
  });
}

}  // namespace zksh::fuzz
