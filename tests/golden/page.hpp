#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fragcast {

// A golden page is a Markdown file that holds its own input: prose, the files that its commands
// read, the commands, and what they print. README.md is one too.
//
//     ```calls edge.calls            a block whose first line names a file: that file
//     malloc a 1MiB 0
//     ```
//     ```console                     commands of fragcast, each followed by what it prints;
//     $ fragcast layout edge.calls   other commands are for the reader and not run
//     0x100000000000 large …
//     2> fragcast: warning: …        what went to the error stream comes behind
//     exit status 2                  unless it is 0
//     ```
//
// `$RECORDINGS` in a command is the directory of recordings; a page that wants it is skipped where
// there is none. Rewriting puts what the commands print now into the page.

/// A file that the page's commands find in their directory.
struct PageFile {
  std::string name;
  std::string content;
};

/// One command and where in the page its output is: lines [output_begin, output_end), from 0.
struct PageCommand {
  /// Without the name of the program.
  std::vector<std::string> arguments;
  std::string text;
  std::size_t line = 0;
  std::size_t output_begin = 0;
  std::size_t output_end = 0;
};

struct Page {
  std::vector<std::string> lines;
  std::vector<PageFile> files;
  std::vector<PageCommand> commands;

  [[nodiscard]] bool wants_recordings() const;
  [[nodiscard]] std::vector<std::string> expected_output(const PageCommand& command) const;
};

/// Reads a page; throws std::invalid_argument with the line that cannot be understood.
[[nodiscard]] Page parse_page(std::string_view text);

/// What a command left behind.
struct CommandResult {
  std::string output;
  std::string errors;
  int status = 0;
};

/// The lines by which a page shows a result.
[[nodiscard]] std::vector<std::string> shown(const CommandResult& result);

/// The page with the output of each of its commands replaced. One element for each command.
[[nodiscard]] std::string rewritten(const Page& page,
                                    const std::vector<std::vector<std::string>>& outputs);

/// Expected against actual lines, marked `-` and `+` between what they share; empty if equal.
[[nodiscard]] std::string difference(const std::vector<std::string>& expected,
                                     const std::vector<std::string>& actual);

}  // namespace fragcast
