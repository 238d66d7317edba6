#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/golden/page.hpp"

namespace fragcast {

/// All of a file. Throws std::system_error if it cannot be read.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// Runs a program with its output caught and nothing to read. Throws std::system_error if it cannot
/// be started; a program that was killed has the status 128 + signal, as in a shell.
[[nodiscard]] CommandResult run_program(const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments,
                                        const std::filesystem::path& directory);

/// What the commands of a page print now, in a fresh directory with the page's files.
///
/// `recordings` stands for `$RECORDINGS` in commands; where output names that directory, the page
/// shows `$RECORDINGS`.
[[nodiscard]] std::vector<std::vector<std::string>> run_page(const Page& page,
                                                             const std::filesystem::path& program,
                                                             const std::string& recordings);

}  // namespace fragcast
