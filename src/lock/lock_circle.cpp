// LockCircle: a circle, told.
#include "lock/lock_circle.h"

#include "base/number.h"
#include "base/quoting.h"

#include <fmt/format.h>

#include <cstddef>

namespace zksh {

std::string own_circle_text(const LockCircle& circle) {
  const auto& links = circle.links;
  std::string text = links.front().held ? "its holder" : "one that is before it";
  for (std::size_t i = 1; i < links.size(); ++i) {
    text += fmt::format(" waits for {}", as_word(links[i].path));
    if (i + 1 < links.size())
      text += links[i].held ? ", whose holder" : ", where one that is before it";
  }
  text += links.back().held ? ", which this shell holds" : ", where this shell is before it";
  return text + (links.size() == 2 ? ": neither can go on"
                                   : fmt::format(": none of the {} can go on", links.size()));
}

std::string circle_text(const LockCircle& circle) {
  const auto& links = circle.links;
  std::string text = "circle: " + session_text(links.front().session);
  for (std::size_t i = 0; i < links.size(); ++i)
    text += fmt::format("{} waits at {} for {}", i == 0 ? "" : ", which", as_word(links[i].path),
                        session_text(links[(i + 1) % links.size()].session));
  return text + ": none of them can go on";
}

Json circle_json(const LockCircle& circle) {
  auto links = Json::array();
  for (const auto& link : circle.links) {
    auto json = Json::object();
    json.set("session", session_text(link.session)).set("path", link.path).set("held", link.held);
    links.add(std::move(json));
  }
  return links;
}

}  // namespace zksh
