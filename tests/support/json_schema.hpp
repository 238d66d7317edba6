#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fragcast {

/// What a schema makes of keys that it does not name.
enum class UnnamedKeys : std::uint8_t {
  as_written,  ///< allowed, unless `additionalProperties` says otherwise
  refused,     ///< for documents of our own: whatever we write is to be described
};

/// Where and why `document` is not what a JSON schema (draft 2020-12) describes, a line each;
/// empty if it is. Of the schema language this knows what our schemas use, and throws
/// std::invalid_argument for a keyword beyond that, rather than pass over it.
[[nodiscard]] std::vector<std::string> violations(const nlohmann::json& schema,
                                                  const nlohmann::json& document,
                                                  UnnamedKeys unnamed = UnnamedKeys::as_written);

}  // namespace fragcast
