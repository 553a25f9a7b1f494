// Fuzzes terminal input: a byte for how many bytes to read at once, one for what to call next, and
// the input.
#include "fuzz.h"
#include "term/line_editor.h"

#include <array>
#include <unistd.h>

namespace zksh::fuzz {

void keys_fuzz(std::string_view bytes) {
  Input input(bytes);
  const std::size_t budget = 1U + input.byte();
  unsigned asks = input.byte();
  const auto typed = input.rest().substr(0, 4096);  // what a pipe always accepts
  std::array<int, 2> ends{};
  require(pipe(ends.data()) == 0, "there is a pipe");
  const Fd reading(ends[0]);
  {
    const Fd writing(ends[1]);
    require(write(writing.get(), typed.data(), typed.size()) == static_cast<ssize_t>(typed.size()),
            "a pipe takes what is typed");
  }
  KeyInput keys(reading.get());
  std::string taken;
  constexpr std::string_view paste_end = "\033[201~";
  while (!keys.ended() || keys.has_ahead()) {
    keys.set_budget(budget);
    asks = asks * 5 + 1;
    if ((asks & 4U) != 0) {
      std::string paste;
      if (keys.take_paste(paste)) paste += paste_end;
      taken += paste;
    } else if (keys.ready()) {
      const int byte = keys.next();
      if (byte < 0) continue;
      keys.put_back(static_cast<char>(byte));
      require(keys.next() == byte, "what is put back comes again");
      taken += static_cast<char>(byte);
    }
  }
  require(taken == typed, "every byte comes once, in its order", taken);
}

}  // namespace zksh::fuzz
