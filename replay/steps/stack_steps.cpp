#include "replay/steps/stack_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/trace/site.hpp"

namespace fragcast {
namespace {

constexpr std::size_t most_of_median = 4;

/// An allocation, and the frames of the program itself that led to it, outermost first.
struct Member {
  std::size_t event = 0;
  std::span<const FrameId> path;
};

/// The user's frames of every stack, each worked out once.
class UserPaths {
 public:
  explicit UserPaths(const CallStacks& stacks) : stacks_{stacks} {}

  std::span<const FrameId> operator()(StackId stack) {
    const auto [known, fresh] = paths_.try_emplace(stack.value());
    if (fresh) {
      for (StackId at = stack; at != StackId{}; at = stacks_.caller(at)) {
        const FrameId frame = stacks_.innermost(at);
        if (is_users_own(stacks_, frame)) known->second.push_back(frame);
      }
      std::reverse(known->second.begin(), known->second.end());
    }
    return known->second;
  }

 private:
  const CallStacks& stacks_;
  std::unordered_map<std::uint32_t, std::vector<FrameId>> paths_;
};

/// Where the lines of one function come back to the least line that they ever come back to.
struct Restarts {
  FrameId frame;
  std::vector<std::size_t> events;
};

class StackSearch {
 public:
  StackSearch(const Trace& trace, const CallStacks& stacks) : trace_{trace}, stacks_{stacks} {}

  std::optional<Steps> run();

 private:
  using Function = std::pair<TextId, TextId>;

  [[nodiscard]] Function function_of(const Member& member, std::size_t depth) const {
    const Frame& frame = stacks_.frame(member.path[depth]);
    return {frame.function, frame.file};
  }
  [[nodiscard]] std::uint64_t line_of(const Member& member, std::size_t depth) const {
    return stacks_.frame(member.path[depth]).line;
  }
  /// Of the function that most of the members are in at that depth.
  [[nodiscard]] std::vector<Member> of_main_function(const std::vector<Member>& members,
                                                     std::size_t depth) const;
  [[nodiscard]] std::vector<Member> of_main_frame(const std::vector<Member>& members,
                                                  std::size_t depth) const;
  [[nodiscard]] std::optional<Restarts> restarts_of(const std::vector<Member>& members,
                                                    std::size_t depth) const;
  [[nodiscard]] bool alike(const std::vector<std::size_t>& begins) const;

  const Trace& trace_;
  const CallStacks& stacks_;
};

/// Those of the members that share the most common key.
template <class Key, class KeyOf>
std::vector<Member> most_common(const std::vector<Member>& members, KeyOf key_of) {
  std::map<Key, std::size_t> counts;
  for (const Member& member : members) ++counts[key_of(member)];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  std::vector<Member> result;
  for (const Member& member : members) {
    if (most != counts.end() && key_of(member) == most->first) result.push_back(member);
  }
  return result;
}

std::vector<Member> StackSearch::of_main_function(const std::vector<Member>& members,
                                                  std::size_t depth) const {
  return most_common<Function>(members, [&](const Member& m) { return function_of(m, depth); });
}

std::vector<Member> StackSearch::of_main_frame(const std::vector<Member>& members,
                                               std::size_t depth) const {
  return most_common<FrameId>(members, [&](const Member& m) { return m.path[depth]; });
}

std::optional<Restarts> StackSearch::restarts_of(const std::vector<Member>& members,
                                                 std::size_t depth) const {
  std::optional<std::uint64_t> head;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const std::uint64_t line = line_of(members[i], depth);
    if (line < line_of(members[i - 1], depth) && (!head || line < *head)) head = line;
  }
  if (!head) return std::nullopt;

  Restarts restarts;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (line_of(members[i], depth) != *head) continue;
    const bool first = restarts.events.empty();
    if (!first && line_of(members[i - 1], depth) <= *head) continue;
    restarts.frame = members[i].path[depth];
    restarts.events.push_back(members[i].event);
  }
  if (restarts.events.size() < 2) return std::nullopt;
  return restarts;
}

bool StackSearch::alike(const std::vector<std::size_t>& begins) const {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : trace_.events.size();
    sizes.push_back(end - begins[i]);
  }
  if (sizes.empty()) return false;
  std::sort(sizes.begin(), sizes.end());
  return sizes[sizes.size() - 1] <= most_of_median * sizes[sizes.size() / 2];
}

std::optional<Steps> StackSearch::run() {
  UserPaths paths{stacks_};
  std::vector<Member> members;
  for (std::size_t i = 0; i < trace_.events.size(); ++i) {
    const Event& event = trace_.events[i];
    if (event.kind != EventKind::allocate) continue;
    const auto path = paths(trace_.allocations[event.allocation.index()].stack);
    if (!path.empty()) members.push_back({.event = i, .path = path});
  }
  const std::size_t half = members.size() / 2;
  for (std::size_t depth = 0; members.size() > half; ++depth) {
    members.erase(std::remove_if(members.begin(),
                                 members.end(),
                                 [&](const Member& m) { return m.path.size() <= depth; }),
                  members.end());
    const std::vector<Member> of_function = of_main_function(members, depth);
    const auto restarts = restarts_of(of_function, depth);
    if (restarts && alike(restarts->events)) {
      return Steps{.source = StepSource::call_stacks,
                   .begins = restarts->events,
                   .marked_by = fmt::format("{}, where the lines of its function start over",
                                            describe(stacks_, restarts->frame))};
    }
    members = of_main_frame(of_function, depth);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Steps> steps_by_stacks(const Trace& trace, const CallStacks& stacks) {
  if (trace.allocations.empty()) return std::nullopt;
  return StackSearch{trace, stacks}.run();
}

}  // namespace fragcast
