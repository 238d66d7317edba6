#include "tests/golden/run_page.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace fragcast {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error{errno, std::generic_category(), what};
}

/// A directory that goes away with its content.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fragcast_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) fail("a temporary directory");
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// In the child: does not return.
[[noreturn]] void become(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments,
                         const std::filesystem::path& directory,
                         const std::filesystem::path& caught) {
  constexpr int cannot_start = 127;
  const auto redirect = [](const std::filesystem::path& path, int flags, int to) {
    const int file = open(path.c_str(), flags, 0600);
    if (file < 0 || dup2(file, to) < 0) _exit(cannot_start);
  };
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(caught / "output", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect(caught / "errors", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  if (chdir(directory.c_str()) != 0) _exit(cannot_start);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  _exit(cannot_start);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const std::ifstream file{path, std::ios::binary};
  if (!file) fail(path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

CommandResult run_program(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments,
                          const std::filesystem::path& directory) {
  if (access(program.c_str(), X_OK) != 0) fail(program.string());
  const TemporaryDirectory caught;
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) become(program, arguments, directory, caught.path());
  int state = 0;
  while (waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  return {.output = read_text(caught.path() / "output"),
          .errors = read_text(caught.path() / "errors"),
          .status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state)};
}

std::vector<std::vector<std::string>> run_page(const Page& page,
                                               const std::filesystem::path& program,
                                               const std::string& recordings) {
  const std::string name = "$RECORDINGS";
  const TemporaryDirectory directory;
  for (const PageFile& file : page.files) {
    std::ofstream{directory.path() / file.name, std::ios::binary} << file.content;
  }
  std::vector<std::vector<std::string>> outputs;
  for (const PageCommand& command : page.commands) {
    std::vector<std::string> arguments;
    for (const std::string& argument : command.arguments) {
      arguments.push_back(replaced(argument, name, recordings));
    }
    CommandResult result = run_program(program, arguments, directory.path());
    result.output = replaced(std::move(result.output), recordings, name);
    result.errors = replaced(std::move(result.errors), recordings, name);
    outputs.push_back(shown(result));
  }
  return outputs;
}

}  // namespace fragcast
