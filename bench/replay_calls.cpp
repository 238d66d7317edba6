// Replays a call script under a settings string and prints how many calls there were: what
// callgrind counts the instructions of. Collection is toggled on replay_all, so reading the script
// costs nothing.
//
//     replay_calls SCRIPT MODEL [CONF]

#include <cstddef>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "replay/engine/session.hpp"
#include "replay/formats/byte_source.hpp"
#include "replay/formats/call_script.hpp"

namespace fragcast {

/// Every event of the session's trace; its own symbol, for the profiler to hook.
__attribute__((noinline)) std::size_t replay_all(Session& session) {
  while (!session.at_end()) session.step();
  return session.position();
}

}  // namespace fragcast

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: replay_calls SCRIPT MODEL [CONF]\n";
    return 2;
  }
  try {
    fragcast::ByteSource source = fragcast::open_source(std::string{argv[1]});
    const fragcast::Trace trace =
        fragcast::read_call_script([&source] { return source.next_line(); }, argv[1]);
    fragcast::RunSpec spec{.name = "budget", .model = fragcast::find_model(argv[2])};
    if (spec.model == nullptr) throw std::runtime_error{"there is no such model"};
    if (argc > 3) spec.settings = argv[3];
    fragcast::Session session{trace, fragcast::resolve_conditions(trace, spec)};
    if (!session.refusal().empty()) throw std::runtime_error{session.refusal()};
    std::cout << fragcast::replay_all(session) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "replay_calls: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
