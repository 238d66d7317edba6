#include "replay/formats/pickle/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/pickle_text.hpp"
#include "tests/support/pickled.hpp"

namespace fragcast {
namespace {

using namespace std::string_literals;

/// A pickle of protocol 4 with this body, and what it holds.
std::string body(const std::string& opcodes) { return "\x80\x04"s + opcodes + "."; }
std::string load(const std::string& opcodes) { return load_pickle(body(opcodes)).text; }

/// The error that a pickle with this body causes.
std::string refusal(const std::string& opcodes) {
  try {
    return "read: " + load(opcodes);
  } catch (const InputError& error) {
    return error.what();
  }
}

/// A list of this one value.
std::string list_of(const std::string& opcodes) { return "]" + opcodes + "a"; }

TEST_CASE("a pickle's scalars are read", "[pickle]") {
  CHECK(load(list_of("N")) == "[None]");
  CHECK(load(list_of("\x88")) == "[True]");
  CHECK(load(list_of("\x89")) == "[False]");
  CHECK(load(list_of("K\xff")) == "[255]");
  CHECK(load(list_of("M\xff\xff")) == "[65535]");
  CHECK(load(list_of("J\xff\xff\xff\x7f")) == "[2147483647]");
  CHECK(load(list_of("J\xff\xff\xff\xff")) == "[-1]");
  CHECK(load(list_of("G\x3f\xe8\0\0\0\0\0\0"s)) == "[0.75]");
}

TEST_CASE("long integers of a pickle are two's complement of any length", "[pickle]") {
  CHECK(load(list_of("\x8a\0"s)) == "[0]");
  CHECK(load(list_of("\x8a\x01\xff")) == "[-1]");
  CHECK(load(list_of("\x8a\x02\xff\0"s)) == "[255]");
  CHECK(load(list_of("\x8a\x06\0\0\x40\x6c\x21\x7f"s)) == "[139781526781952]");
  CHECK(load(list_of("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f")) == "[9223372036854775807]");
  CHECK(load(list_of("\x8a\x08\0\0\0\0\0\0\0\x80"s)) == "[-9223372036854775808]");
  CHECK(load(list_of("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"s)) == "[18446744073709551615]");
  CHECK(load(list_of("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff")) == "[-1]");
  CHECK(load(list_of("\x8b\x01\0\0\0\x7f"s)) == "[127]");
  CHECK(load(list_of("\x8a\x09\0\0\0\0\0\0\0\0\x01"s)) == "[?]");  // 2^64
  CHECK(load(list_of("\x8a\x09\0\0\0\0\0\0\0\0\xff"s)) == "[?]");  // −2^64
}

TEST_CASE("a pickle's texts are read, whatever opcode tells them", "[pickle]") {
  CHECK(load(list_of("\x8c\x02hi")) == "['hi']");
  CHECK(load(list_of("X\x02\0\0\0hi"s)) == "['hi']");
  CHECK(load(list_of("\x8d\x02\0\0\0\0\0\0\0hi"s)) == "['hi']");
  CHECK(load(list_of("U\x02hi")) == "['hi']");
  CHECK(load(list_of("C\x02hi")) == "['hi']");
  CHECK(load(list_of("\x8c\0"s)) == "['']");
}

TEST_CASE("objects of a pickle are made with and without a mark", "[pickle]") {
  CHECK(load("]") == "[]");
  CHECK(load("}") == "{}");
  CHECK(load(")") == "()");
  CHECK(load("](K\1K\2e(K\3e") == "[1, 2, 3]");
  CHECK(load("]K\1aK\2a") == "[1, 2]");
  CHECK(load("}(K\1K\2K\3K\4u") == "{1: 2, 3: 4}");
  CHECK(load("}K\1K\2s") == "{1: 2}");
  CHECK(load("K\1\x85") == "(1)");
  CHECK(load("K\1K\2\x86") == "(1, 2)");
  CHECK(load("K\1K\2K\3\x87") == "(1, 2, 3)");
  CHECK(load("(K\1K\2K\3K\4t") == "(1, 2, 3, 4)");
  CHECK(load("](}]K\1K\2\x86(te") == "[{}, [], (1, 2), ()]");
}

TEST_CASE("an empty tuple can be the only key of a dict", "[pickle]") {
  CHECK(load("})K\1s") == "{(): 1}");
}

TEST_CASE("a pickle's frames are passed over", "[pickle]") {
  CHECK(load("\x95\x04\0\0\0\0\0\0\0]K\1a"s) == "[1]");
}

TEST_CASE("values above a mark can be dropped", "[pickle]") {
  CHECK(load("]K\1K\2"
             "0a") == "[1]");
  CHECK(load("]K\1(K\2K\3"
             "1a") == "[1]");
  CHECK(load("]K\1("
             "0a") == "[1]");
}

TEST_CASE("the memo is filled by number or in order", "[pickle]") {
  CHECK(load("](K\7\x94h\0e"s) == "[7, 7]");
  CHECK(load("](K\7q\0h\0e"s) == "[7, 7]");
  CHECK(load("](K\7r\3\0\0\0j\3\0\0\0e"s) == "[7, 7]");
  CHECK(load("](K\7\x94K\x08q\0h\0e"s) == "[7, 8, 8]");
}

TEST_CASE("a shared object of a pickle is finished once", "[pickle]") {
  const LoadedPickle shared = load_pickle(pickled("[$a=[1, 2], $a, {'k': $a}, $a]"));
  CHECK(shared.text == "[[1, 2], [1, 2], {'k': [1, 2]}, [1, 2]]");
  CHECK(shared.finished == 2);
}

TEST_CASE("an object that is referred to before it is complete stays one object", "[pickle]") {
  // [a, a] where a is fetched from the memo while it is still empty, then filled, then put in.
  const LoadedPickle loaded = load_pickle(body("](]\x94K\1ah\0e"s));
  CHECK(loaded.text == "[[1], [1]]");
  CHECK(loaded.finished == 1);
}

TEST_CASE("long lists come in batches", "[pickle]") {
  std::string literal = "[0";
  for (int i = 1; i < 2500; ++i) literal += fmt::format(", {}", i % 7);
  const std::string batches = pickled(literal + "]");
  CHECK(std::count(batches.begin(), batches.end(), '(') == 3);
  CHECK(load_pickle(batches).text.ends_with("… 2500]"));
}

TEST_CASE("what follows a pickle is left in the source", "[pickle]") {
  CHECK(load_pickle(body("]") + "\0\0\0"s).used == body("]").size());
}

TEST_CASE("protocols 2 to 5 are pickles, others are not", "[pickle]") {
  for (const char protocol : {'\2', '\3', '\4', '\5'}) {
    CHECK(load_pickle("\x80"s + protocol + "].").end.protocol == protocol);
  }
  CHECK_THROWS_AS(load_pickle("\x80\x06]."), InputError);
  CHECK_THROWS_AS(load_pickle("\x80\x01]."), InputError);
}

TEST_CASE("opcodes that could run code are refused by name and position", "[pickle]") {
  CHECK(
      refusal("cos\nsystem\n").starts_with("input: byte 2: the pickle's opcode GLOBAL would run"));
  CHECK_THAT(refusal("]\x8c\2os\x8c\6system\x93"),
             Catch::Contains("byte 15: the pickle's opcode STACK_GLOBAL"));
  for (const std::string code :
       {"R", "b", "i", "o", "P", "Q", "\x81", "\x92", "\x82", "\x83", "\x84"}) {
    CHECK_THAT(refusal(code), Catch::Contains("would run code"));
  }
}

TEST_CASE("opcodes of things no snapshot holds are refused", "[pickle]") {
  for (const std::string code : {"2",
                                 "I",
                                 "L",
                                 "F",
                                 "S",
                                 "V",
                                 "l",
                                 "d",
                                 "p",
                                 "g",
                                 "\x8f",
                                 "\x90",
                                 "\x91",
                                 "\x96",
                                 "\x97",
                                 "\x98"}) {
    CHECK_THAT(refusal(code), Catch::Contains("no memory snapshot holds"));
  }
  CHECK_THAT(refusal("\xfe"), Catch::Contains("no pickle has the opcode 0xfe"));
}

TEST_CASE("no opcode takes more from the stack than there is", "[pickle]") {
  for (int code = 0; code < 256; ++code) {
    if (code == '.') continue;
    for (const std::string before : {"", "(", "]", "}", "](", "}(", "K\1", "](K\1", "}(K\1"}) {
      // Enough of an argument for any opcode; most of these are refused, none may crash.
      (void)refusal(before + static_cast<char>(code) + std::string(16, '\0'));
    }
  }
  CHECK_THAT(refusal("a"), Catch::Contains("APPEND finds too few values"));
  CHECK_THAT(refusal("e"), Catch::Contains("APPENDS finds no mark"));
  CHECK_THAT(refusal("K\1(e"), Catch::Contains("APPENDS finds no list to add to"));
  CHECK_THAT(refusal("(K\1(K\1e"), Catch::Contains("APPENDS finds no list to add to"));
  CHECK_THAT(refusal("}(K\1u"), Catch::Contains("SETITEMS finds a key without a value"));
  CHECK_THAT(refusal("](K\1K\2u"), Catch::Contains("SETITEMS finds no dict to add to"));
  CHECK_THAT(refusal("]("
                     "0"
                     "0"
                     "0"),
             Catch::Contains("POP finds too few values"));
}

TEST_CASE("a memo entry that was never made is refused", "[pickle]") {
  CHECK_THAT(refusal("h\7"), Catch::Contains("BINGET asks for a memo entry never made"));
  CHECK_THAT(refusal("]r\xff\xff\xff\xff"),
             Catch::Contains("LONG_BINPUT makes memo entry 4294967295 too early"));
}

TEST_CASE("an object that holds itself is refused", "[pickle]") {
  CHECK_THAT(refusal("]\x94h\0a"s), Catch::Contains("holds itself"));
  CHECK_THAT(refusal("}\x94(K\1]h\0au"s), Catch::Contains("holds itself"));
  CHECK_THAT(refusal("(]\x94h\0\x85"
                     "at"s),
             Catch::Contains("holds itself"));
}

TEST_CASE("an object is not changed after it became part of another", "[pickle]") {
  CHECK_THAT(refusal("]]\x94"
                     "ah\0K\1a"s),
             Catch::Contains("already part of another"));
}

TEST_CASE("a billion laughs are as many objects as they are written", "[pickle]") {
  // Each list holds the one before ten times over.
  std::string opcodes = "]\x94";
  for (char i = 0; i < 30; ++i) {
    opcodes += "](";
    for (int times = 0; times < 10; ++times) opcodes += "h"s + i;
    opcodes += "e\x94";
  }
  CHECK(load_pickle(body(opcodes)).finished < 40);
}

TEST_CASE("nesting is limited", "[pickle]") {
  CHECK_THAT(refusal(std::string(1'000'000, ']')), Catch::Contains("nested deeper than"));
  // Of lists that are closed again there may be any number.
  std::string opcodes = "](";
  for (int i = 0; i < 300'000; ++i)
    opcodes +=
        "]\x94"
        "0";
  CHECK(load(opcodes + "e") == "[]");
}

TEST_CASE("a text longer than the window arrives whole", "[pickle]") {
  const std::string text(ByteSource::window_size + 1000, 'x');
  std::string opcodes = "]X";
  for (int shift = 0; shift < 32; shift += 8) {
    opcodes += static_cast<char>(text.size() >> shift & 0xff);
  }
  const std::string bytes = body(opcodes + text + "a");
  ByteSource source{memory_stream(bytes), ""};
  PickleTables tables;
  TextBuilder builder{tables};
  PickleStack stack{builder};
  CHECK(run_pickle(source, tables, stack).kind == PickleEnd::Kind::stop);
  CHECK(tables.texts()[PickleText{0U}] == text);
}

TEST_CASE("a text that claims to be longer than the input cuts it", "[pickle]") {
  const LoadedPickle loaded = load_pickle("\x80\x04]\x8d\xff\xff\xff\xff\xff\xff\xff\xffhi"s);
  CHECK(loaded.end.kind == PickleEnd::Kind::cut);
  CHECK(loaded.text == "[]");
}

TEST_CASE("of a pickle that is cut anywhere, what is complete can be had", "[pickle]") {
  const std::string whole = pickled("{'a': [1, 2], 'b': [[{'x': 1, 'y': 2}, {'x': 3, 'y': 4}]]}");
  for (std::size_t size = 2; size < whole.size(); ++size) {
    CHECK(load_pickle(whole.substr(0, size)).end.kind == PickleEnd::Kind::cut);
  }
  const auto cut_before = [&](const std::string& end) {
    return load_pickle(whole.substr(0, whole.rfind(end))).text;
  };
  CHECK(cut_before("uee") == "{'a': [1, 2], 'b': [[{'x': 1, 'y': 2}]]}");
  CHECK(cut_before("eeu.") == "{'a': [1, 2], 'b': [[{'x': 1, 'y': 2}, {'x': 3, 'y': 4}]]}");
  CHECK(cut_before("\x8c\1b") == "{'a': [1, 2]}");
}

TEST_CASE("of a pickle that is cut while an object is put into itself, nothing is kept",
          "[pickle]") {
  CHECK(load_pickle("\x80\x04]\x94(h\0"s).text.empty());
}

TEST_CASE("of a pickle that is cut, a list's only item is kept", "[pickle]") {
  // Python adds a single item without a mark: this is {'a': [[1, 2]]}, cut before the last two.
  CHECK(load_pickle("\x80\x04}(\x8c\1a]](K\1K\2"s).text == "{'a': [[1, 2]]}");
  CHECK(load_pickle("\x80\x04}(\x8c\1a]]](K\1K\2"s).text == "{'a': [[[1, 2]]]}");
}

}  // namespace
}  // namespace fragcast
