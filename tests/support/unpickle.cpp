#include "tests/support/unpickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace fragcast {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument{what}; }

/// An object or a number; containers name their items by index.
struct Node {
  enum class Kind : std::uint8_t { scalar, list, dict };
  Kind kind = Kind::scalar;
  json value;
  std::vector<std::size_t> items;
};

class Unpickler {
 public:
  explicit Unpickler(std::string_view input) : input_{input} {}

  json run() {
    while (step()) {
    }
    if (stack_.size() != 1) fail("the stack does not hold one value at the end");
    return to_json(stack_.back());
  }

 private:
  /// Carries out an opcode; false at the end.
  bool step() {
    const auto code = static_cast<unsigned char>(take(1).front());
    switch (code) {
      case 0x80:  // PROTO
        if (const auto version = take_number(1); version < 2 || version > 4) {
          fail(fmt::format("protocol {}", version));
        }
        return true;
      case 0x95:  // FRAME
        take(8);
        return true;
      case 'N':
        return push(json(nullptr));
      case 0x88:  // NEWTRUE
        return push(json(true));
      case 0x89:  // NEWFALSE
        return push(json(false));
      case 'K':
        return push(json(take_number(1)));
      case 'M':
        return push(json(take_number(2)));
      case 'J':
        return push(json(static_cast<std::int32_t>(take_number(4))));
      case 0x8a:  // LONG1
        return push(take_long(static_cast<std::size_t>(take_number(1))));
      case 'G':
        return push(take_double());
      case 0x8c:  // SHORT_BINUNICODE
        return push(json(std::string{take(static_cast<std::size_t>(take_number(1)))}));
      case 'X':
        return push(json(std::string{take(static_cast<std::size_t>(take_number(4)))}));
      case ']':
        return push(Node::Kind::list);
      case '}':
        return push(Node::Kind::dict);
      case 0x86:  // TUPLE2
        return make_pair();
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case 'a':
        return add(stack_.size() - 1);
      case 's':
        return add(stack_.size() - 2);
      case 'e':
      case 'u':
        return add_since_mark();
      case 0x94:  // MEMOIZE
        memo_.push_back(stack_.back());
        return true;
      case 'h':
        return recall(take_number(1));
      case 'j':
        return recall(take_number(4));
      case '.':
        return false;
      default:
        fail(fmt::format("opcode {:#x}", code));
    }
  }

  std::string_view take(std::size_t count) {
    if (input_.size() < count) fail("the pickle is cut");
    const std::string_view bytes = input_.substr(0, count);
    input_.remove_prefix(count);
    return bytes;
  }
  std::uint64_t take_number(std::size_t bytes) {
    std::uint64_t number = 0;
    const std::string_view digits = take(bytes);
    for (std::size_t i = bytes; i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(digits[i]);
    return number;
  }
  json take_long(std::size_t bytes) {
    if (bytes == 9) {
      const std::uint64_t value = take_number(8);
      if (take_number(1) != 0) fail("an integer beyond 64 bits");
      return value;
    }
    if (bytes > 8) fail("an integer beyond 64 bits");
    const std::uint64_t value = take_number(bytes);
    const int unused = static_cast<int>(64 - 8 * bytes);
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  json take_double() {
    std::uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    return std::bit_cast<double>(bits);
  }

  bool push(json value) {
    nodes_.push_back({.kind = Node::Kind::scalar, .value = std::move(value), .items = {}});
    stack_.push_back(nodes_.size() - 1);
    return true;
  }
  bool push(Node::Kind kind) {
    push(json(nullptr));
    nodes_.back().kind = kind;
    return true;
  }
  bool make_pair() {
    const std::vector<std::size_t> items{stack_.end() - 2, stack_.end()};
    stack_.resize(stack_.size() - 2);
    push(Node::Kind::list);
    nodes_.back().items = items;
    return true;
  }
  /// Gives the values from `first` on to the container below them.
  bool add(std::size_t first) {
    auto& items = nodes_[stack_[first - 1]].items;
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
    return true;
  }
  bool add_since_mark() {
    const std::size_t first = marks_.back();
    marks_.pop_back();
    // A batch becomes the arguments of one call there.
    if (stack_.size() - first > 10'000) fail("a batch that is too long to be spread");
    return add(first);
  }
  bool recall(std::uint64_t index) {
    stack_.push_back(memo_.at(index));
    return true;
  }

  [[nodiscard]] json to_json(std::size_t index) const {
    const Node& node = nodes_[index];
    switch (node.kind) {
      case Node::Kind::scalar:
        return node.value;
      case Node::Kind::list: {
        json list = json::array();
        for (const std::size_t item : node.items) list.push_back(to_json(item));
        return list;
      }
      case Node::Kind::dict: {
        json dict = json::object();
        for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
          dict[nodes_[node.items[i]].value.get<std::string>()] = to_json(node.items[i + 1]);
        }
        return dict;
      }
    }
    return nullptr;
  }

  std::string_view input_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::size_t> memo_;
};

}  // namespace

json unpickle(std::string_view pickle) { return Unpickler{pickle}.run(); }

}  // namespace fragcast
