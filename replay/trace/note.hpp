#pragma once

#include <string>

namespace fragcast {

/// Something the user should know about an answer. The id is stable, for machines; the text is a
/// sentence for people.
struct Note {
  std::string id;
  std::string text;
  bool operator==(const Note&) const = default;
};

}  // namespace fragcast
