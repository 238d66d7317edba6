#include "tests/support/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

namespace fragcast {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

class Validator {
 public:
  Validator(const json& root, UnnamedKeys unnamed) : root_{root}, unnamed_{unnamed} {}

  void check(const json& schema, const json& value, const std::string& path) {
    for (const auto& [keyword, rule] : schema.items()) {
      const auto known = keywords().find(keyword);
      if (known == keywords().end()) {
        throw std::invalid_argument{fmt::format("keyword {} of a schema is not known", keyword)};
      }
      if (known->second) (this->*known->second)(rule, schema, value, path);
    }
  }

  [[nodiscard]] std::vector<std::string>& found() { return found_; }

 private:
  using Check = void (Validator::*)(const json& rule,
                                    const json& schema,
                                    const json& value,
                                    const std::string& path);

  static const std::map<std::string, Check>& keywords() {
    static const std::map<std::string, Check> table{
        {"$schema", nullptr},
        {"$id", nullptr},
        {"$defs", nullptr},
        {"title", nullptr},
        {"description", nullptr},
        {"$ref", &Validator::check_ref},
        {"type", &Validator::check_type},
        {"const", &Validator::check_const},
        {"enum", &Validator::check_enum},
        {"minimum", &Validator::check_minimum},
        {"maximum", &Validator::check_maximum},
        {"required", &Validator::check_required},
        {"properties", &Validator::check_properties},
        {"additionalProperties", &Validator::check_additional},
        {"items", &Validator::check_items},
        {"minItems", &Validator::check_min_items},
        {"maxItems", &Validator::check_max_items},
        {"anyOf", &Validator::check_any_of},
        {"allOf", &Validator::check_all_of},
    };
    return table;
  }

  void fail(const std::string& path, const std::string& why) {
    found_.push_back(fmt::format("{}: {}", path.empty() ? "/" : path, why));
  }

  void check_ref(const json& rule, const json&, const json& value, const std::string& path) {
    const auto reference = rule.get<std::string>();
    if (!reference.starts_with("#/")) {
      throw std::invalid_argument{fmt::format("$ref {} leads out of the schema", reference)};
    }
    check(root_.at(json::json_pointer{reference.substr(1)}), value, path);
  }
  void check_type(const json& rule, const json&, const json& value, const std::string& path) {
    const json types = rule.is_array() ? rule : json::array({rule});
    const bool fits = std::any_of(types.begin(), types.end(), [&](const json& type) {
      return has_type(value, type.get<std::string>());
    });
    if (!fits) fail(path, fmt::format("is {}, not {}", value.type_name(), rule.dump()));
  }
  void check_const(const json& rule, const json&, const json& value, const std::string& path) {
    if (value != rule) fail(path, fmt::format("is {}, not {}", value.dump(), rule.dump()));
  }
  void check_enum(const json& rule, const json&, const json& value, const std::string& path) {
    if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
      fail(path, fmt::format("is {}, none of {}", value.dump(), rule.dump()));
    }
  }
  void check_minimum(const json& rule, const json&, const json& value, const std::string& path) {
    if (value.is_number() && value < rule) fail(path, fmt::format("is below {}", rule.dump()));
  }
  void check_maximum(const json& rule, const json&, const json& value, const std::string& path) {
    if (value.is_number() && value > rule) fail(path, fmt::format("is above {}", rule.dump()));
  }
  void check_required(const json& rule, const json&, const json& value, const std::string& path) {
    if (!value.is_object()) return;
    for (const json& key : rule) {
      if (!value.contains(key.get<std::string>())) {
        fail(path, fmt::format("lacks {}", key.get<std::string>()));
      }
    }
  }
  void check_properties(const json& rule,
                        const json& schema,
                        const json& value,
                        const std::string& path) {
    if (!value.is_object()) return;
    for (const auto& [key, item] : value.items()) {
      if (rule.contains(key)) {
        check(rule.at(key), item, fmt::format("{}/{}", path, key));
      } else if (unnamed_ == UnnamedKeys::refused && !schema.contains("additionalProperties")) {
        fail(path, fmt::format("has {}, which the schema does not name", key));
      }
    }
  }
  void check_additional(const json& rule,
                        const json& schema,
                        const json& value,
                        const std::string& path) {
    if (!value.is_object()) return;
    for (const auto& [key, item] : value.items()) {
      if (schema.contains("properties") && schema.at("properties").contains(key)) continue;
      if (rule == false) {
        fail(path, fmt::format("has {}, which is not allowed", key));
      } else if (rule.is_object()) {
        check(rule, item, fmt::format("{}/{}", path, key));
      }
    }
  }
  void check_items(const json& rule, const json&, const json& value, const std::string& path) {
    if (!value.is_array()) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      check(rule, value[i], fmt::format("{}/{}", path, i));
    }
  }
  void check_min_items(const json& rule, const json&, const json& value, const std::string& path) {
    if (value.is_array() && value.size() < rule) fail(path, "has too few items");
  }
  void check_max_items(const json& rule, const json&, const json& value, const std::string& path) {
    if (value.is_array() && value.size() > rule) fail(path, "has too many items");
  }
  void check_any_of(const json& rule, const json&, const json& value, const std::string& path) {
    std::vector<std::string> reasons;
    for (const json& option : rule) {
      Validator attempt{root_, unnamed_};
      attempt.check(option, value, path);
      if (attempt.found_.empty()) return;
      reasons.insert(reasons.end(), attempt.found_.begin(), attempt.found_.end());
    }
    found_.insert(found_.end(), reasons.begin(), reasons.end());
  }
  void check_all_of(const json& rule, const json&, const json& value, const std::string& path) {
    for (const json& part : rule) check(part, value, path);
  }

  const json& root_;
  UnnamedKeys unnamed_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const json& schema, const json& document, UnnamedKeys unnamed) {
  Validator validator{schema, unnamed};
  validator.check(schema, document, "");
  return std::move(validator.found());
}

}  // namespace fragcast
