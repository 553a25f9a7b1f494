// Listener: a socket of the loopback that accepts connections, and answers nothing by itself.
#pragma once

#include "base/fd.h"

#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>

namespace zksh {

class Listener {
 public:
  /// On a free port. Throws if there is none.
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd(), generic, size) != 0 || listen(fd(), 1) != 0 ||
        getsockname(fd(), generic, &size) != 0)
      throw std::runtime_error("cannot listen on the loopback");
    port_ = ntohs(address.sin_port);
  }

  int fd() const { return socket_.get(); }
  int port() const { return port_; }

 private:
  Fd socket_;
  int port_ = 0;
};

}  // namespace zksh
