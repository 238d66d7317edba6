#include "tests/support/json_schema.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

json shape() {
  return json::parse(R"({
    "type": "object",
    "required": ["name", "size"],
    "properties": {
      "name": {"type": "string"},
      "size": {"$ref": "#/$defs/bytes"},
      "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
      "kind": {"enum": ["small", "large"]},
      "version": {"const": 1},
      "pair": {"type": "array", "items": {"$ref": "#/$defs/bytes"}, "minItems": 2, "maxItems": 2},
      "child": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
      "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
      "closed": {"type": "object", "properties": {"a": {}}, "additionalProperties": false},
      "both": {"allOf": [{"type": "object"}, {"required": ["b"]}]}
    },
    "$defs": {"bytes": {"type": "integer", "minimum": 0}}
  })");
}

std::vector<std::string> check(const char* document) {
  json schema = shape();
  schema["properties"]["child"]["anyOf"][0]["$ref"] = "#/$defs/child";
  schema["$defs"]["child"] = {{"type", "object"}, {"required", {"name"}}};
  return violations(schema, json::parse(document));
}

using Lines = std::vector<std::string>;

TEST_CASE("a document that fits its schema has no violations", "[json_schema]") {
  CHECK(check(R"({"name":"a","size":3})").empty());
  CHECK(check(R"({"name":"a","size":3,"share":null,"kind":"small","version":1,"pair":[0,1],
                  "child":null,"counts":{"x":1},"closed":{"a":[]},"both":{"b":1},"more":2})")
            .empty());
  CHECK(check(R"({"name":"a","size":3,"share":0.5,"child":{"name":"b"}})").empty());
}

TEST_CASE("each way not to fit a schema is found and named", "[json_schema]") {
  CHECK(check("[]") == Lines{R"(/: is array, not "object")"});
  CHECK(check(R"({"size":3})") == Lines{"/: lacks name"});
  CHECK(check(R"({"name":7,"size":3})") == Lines{R"(/name: is number, not "string")"});
  CHECK(check(R"({"name":"a","size":3.5})") == Lines{R"(/size: is number, not "integer")"});
  CHECK(check(R"({"name":"a","size":-1})") == Lines{"/size: is below 0"});
  CHECK(check(R"({"name":"a","size":1,"share":1.5})") == Lines{"/share: is above 1"});
  CHECK(check(R"({"name":"a","size":1,"kind":"huge"})") ==
        Lines{R"(/kind: is "huge", none of ["small","large"])"});
  CHECK(check(R"({"name":"a","size":1,"version":2})") == Lines{"/version: is 2, not 1"});
  CHECK(check(R"({"name":"a","size":1,"pair":[1]})") == Lines{"/pair: has too few items"});
  CHECK(check(R"({"name":"a","size":1,"pair":[1,2,3]})") == Lines{"/pair: has too many items"});
  CHECK(check(R"({"name":"a","size":1,"pair":[1,"b"]})") ==
        Lines{R"(/pair/1: is string, not "integer")"});
  CHECK(check(R"({"name":"a","size":1,"counts":{"x":"y"}})") ==
        Lines{R"(/counts/x: is string, not "integer")"});
  CHECK(check(R"({"name":"a","size":1,"closed":{"b":1}})") ==
        Lines{"/closed: has b, which is not allowed"});
  CHECK(check(R"({"name":"a","size":1,"both":{}})") == Lines{"/both: lacks b"});
  CHECK(check(R"({"name":"a","size":1,"child":{}})") ==
        Lines{"/child: lacks name", R"(/child: is object, not "null")"});
}

TEST_CASE("keys that a schema does not name can be refused", "[json_schema]") {
  const json schema = json::parse(R"({"properties": {"a": {"properties": {"b": {}}}}})");
  const json document = json::parse(R"({"a": {"b": 1, "c": 2}})");
  CHECK(violations(schema, document).empty());
  CHECK(violations(schema, document, UnnamedKeys::refused) ==
        Lines{"/a: has c, which the schema does not name"});
}

TEST_CASE("a keyword that the validator does not know is an error", "[json_schema]") {
  CHECK_THROWS_AS(violations(json::parse(R"({"pattern": "x"})"), json{"x"}), std::invalid_argument);
  CHECK_THROWS_AS(violations(json::parse(R"({"$ref": "other.json"})"), json{"x"}),
                  std::invalid_argument);
}

}  // namespace
}  // namespace fragcast
