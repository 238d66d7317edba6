#include "tests/golden/page.hpp"

#include <stdexcept>

#include "tests/golden/run_page.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view small_page =
    "Prose, and a file.\n"
    "```calls a.calls\n"
    "malloc a 1MiB 0\n"
    "free a\n"
    "```\n"
    "```console\n"
    "$ fragcast info a.calls --name 'two words'\n"
    "first\n"
    "second\n"
    "\n"
    "$ ls -l | wc\n"
    "not run\n"
    "$ fragcast models\n"
    "```\n"
    "```text\n"
    "$ fragcast in a block that is no console\n"
    "```\n";

TEST_CASE("a page holds its files and its commands with their output", "[page]") {
  const Page page = parse_page(small_page);
  REQUIRE(page.files.size() == 1);
  CHECK(page.files[0].name == "a.calls");
  CHECK(page.files[0].content == "malloc a 1MiB 0\nfree a\n");
  REQUIRE(page.commands.size() == 2);
  CHECK(page.commands[0].arguments == Lines{"info", "a.calls", "--name", "two words"});
  CHECK(page.expected_output(page.commands[0]) == Lines{"first", "second"});
  CHECK(page.commands[1].arguments == Lines{"models"});
  CHECK(page.expected_output(page.commands[1]).empty());
}

TEST_CASE("a page that cannot be understood is refused with the line", "[page]") {
  CHECK_THROWS_WITH(parse_page("text\n```console\n$ fragcast\n"),
                    "line 2: this block is not closed by ```");
  CHECK_THROWS_WITH(parse_page("```console\nno command\n```\n"),
                    "line 2: a console begins with a command: $ …");
  CHECK_THROWS_WITH(parse_page("```console\n$ fragcast a | b\n```\n"),
                    "line 2: '|' is for a shell, and there is none: quote it");
  CHECK_THROWS_WITH(parse_page("```console\n$ fragcast 'a\n```\n"),
                    "line 2: a quote is not closed");
  CHECK_THROWS_WITH(parse_page("```calls ../a.calls\n```\n"),
                    "line 1: a file of a page has no directory");
}

TEST_CASE("a result is shown as output, then errors, then an exit status that is not 0", "[page]") {
  CHECK(shown({.output = "a\nb\n", .errors = "", .status = 0}) == Lines{"a", "b"});
  CHECK(shown({.output = "a\n\n", .errors = "oh\n", .status = 2}) ==
        Lines{"a", "", "2> oh", "exit status 2"});
}

TEST_CASE("rewriting replaces output and leaves everything else alone", "[page]") {
  const Page page = parse_page(small_page);
  const std::string now = rewritten(page, {{"new"}, {"model one", "model two"}});
  CHECK(now ==
        "Prose, and a file.\n"
        "```calls a.calls\n"
        "malloc a 1MiB 0\n"
        "free a\n"
        "```\n"
        "```console\n"
        "$ fragcast info a.calls --name 'two words'\n"
        "new\n"
        "\n"
        "$ ls -l | wc\n"
        "not run\n"
        "$ fragcast models\n"
        "model one\n"
        "model two\n"
        "```\n"
        "```text\n"
        "$ fragcast in a block that is no console\n"
        "```\n");
  const Page again = parse_page(now);
  CHECK(again.expected_output(again.commands[0]) == Lines{"new"});
}

TEST_CASE("rewriting with the same output gives the same page", "[page]") {
  const Page page = parse_page(small_page);
  CHECK(rewritten(page, {{"first", "second"}, {}}) == small_page);
}

TEST_CASE("a difference is shown between what is the same", "[page]") {
  CHECK(difference({"a", "b", "c"}, {"a", "b", "c"}).empty());
  CHECK(difference({"a", "b", "c"}, {"a", "x", "y", "c"}) == "  a\n- b\n+ x\n+ y\n  c\n");
  CHECK(difference({"a"}, {}) == "- a\n");
}

TEST_CASE("a program's output, errors and exit status are caught", "[page]") {
  const CommandResult result = run_program("/bin/sh", {"-c", "echo a; echo b >&2; exit 3"}, "/");
  CHECK(result.output == "a\n");
  CHECK(result.errors == "b\n");
  CHECK(result.status == 3);
  CHECK(run_program("/bin/sh", {"-c", "kill -9 $$"}, "/").status == 137);
  CHECK_THROWS_AS(run_program("/no/such/program", {}, "/"), std::system_error);
}

TEST_CASE("a page's commands find its files and see the recordings by name", "[page]") {
  const Page page = parse_page(
      "```calls a.calls\n"
      "malloc\n"
      "```\n"
      "```console\n"
      "$ fragcast a.calls\n"
      "$ fragcast $RECORDINGS/none\n"
      "```\n");
  CHECK(page.wants_recordings());
  const auto outputs = run_page(page, "/bin/cat", "/far/away");
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0] == Lines{"malloc"});
  REQUIRE(outputs[1].size() == 2);
  CHECK(outputs[1][0].find("$RECORDINGS/none") != std::string::npos);
  CHECK(outputs[1][1] == "exit status 1");
}

}  // namespace
}  // namespace fragcast
