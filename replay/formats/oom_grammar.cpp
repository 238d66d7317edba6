#include "replay/formats/oom_grammar.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace fragcast {
namespace {

// ---- the messages, as data, without their blanks ---------------------------------------------

enum class Speaker : std::uint8_t { npu, cuda, unnamed };

/// What a message begins with.
struct Head {
  std::string_view text;
  Speaker speaker;
  /// Nothing follows.
  bool whole = false;
};

constexpr std::array<Head, 6> heads{{
    {"NPUoutofmemory.", Speaker::npu},
    {"CUDAoutofmemory.", Speaker::cuda},
    {"HIPoutofmemory.", Speaker::cuda},
    // People paste it without its beginning.
    {"Triedtoallocate", Speaker::unnamed},
    {"CUDAerror:outofmemory", Speaker::cuda, true},
    {"HIPerror:outofmemory", Speaker::cuda, true},
}};

/// A piece of a message: a figure between two texts. In these, "#" is a number: the device's, where
/// it stands behind NPU or GPU.
struct Clause {
  std::string_view before;
  std::optional<OomFigure> figure;
  std::string_view after;
  /// Nothing of interest comes behind it.
  bool ends = false;
};

constexpr std::array<Clause, 19> clauses{{
    {"Triedtoallocate", OomFigure::tried, ""},
    {"Allocationwaspreemptivelyrejectedbecauseitwouldexceedper_process_memory_fractionlimit."
     "Requestedsize:",
     OomFigure::requested,
     "",
     true},
    // (NPU 0; 15.62 GiB total capacity; … )
    {"(NPU#;", {}, ""},
    {"(GPU#;", {}, ""},
    {"", OomFigure::total, "totalcapacity;"},
    {"", OomFigure::allocated, "alreadyallocated;"},
    {"", OomFigure::active, "currentactive;"},
    {"", OomFigure::free, "free;"},
    {"", OomFigure::allowed, "allowed;"},
    {"", OomFigure::cached, "cached", true},
    {"", OomFigure::reserved, "reservedintotalbyPyTorch", true},
    // . GPU 0 has a total capacity of 8.00 GiB of which …
    {".GPU#hasatotalcapacityof", OomFigure::total, "ofwhich"},
    {".GPU#hasatotalcapactyof", OomFigure::total, "ofwhich"},
    {"", OomFigure::free, "isfree."},
    {"Process#has", OomFigure::other_processes, "memoryinuse."},
    {"Includingnon-PyTorchmemory,thisprocesshas", OomFigure::process, "memoryinuse."},
    {"Oftheallocatedmemory", OomFigure::allocated, "isallocatedbyPyTorch,"},
    {"with", OomFigure::in_private_pools, "allocatedinprivatepools(e.g.,CUDAGraphs),"},
    {"and", OomFigure::unallocated, "isreservedbyPyTorchbutunallocated", true},
}};

/// As long as this, a beginning at the end of a line is worth looking at the next line.
constexpr std::size_t telling_beginning = 4;
/// Within so much text behind a message its hint begins and names a setting.
constexpr std::size_t hint_length = 120;
/// Of the processes' sizes, so many characters are kept as text.
constexpr std::size_t longest_list = 200;

// ---- reading ---------------------------------------------------------------------------------

enum class Step : std::uint8_t { yes, no, text_ends };

/// Whether `text` begins with all of `wanted`, or is the beginning of it.
Step begins_with(std::string_view text, std::string_view wanted) {
  if (text.starts_with(wanted)) return Step::yes;
  return text.size() < wanted.size() && wanted.starts_with(text) ? Step::text_ends : Step::no;
}

/// Moves on through a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t at() const { return at_; }

  Step literal(std::string_view wanted) {
    const Step step = begins_with(rest(), wanted);
    if (step == Step::yes) at_ += wanted.size();
    return step;
  }
  /// A literal with a number in the place of its "#".
  Step pattern(std::string_view wanted, std::optional<int>& number) {
    const std::size_t mark = wanted.find('#');
    const Step before = literal(wanted.substr(0, mark));
    if (mark == std::string_view::npos || before != Step::yes) return before;
    const Step digits = read_number(number);
    return digits == Step::yes ? literal(wanted.substr(mark + 1)) : digits;
  }
  Step size(PrintedSize& size) {
    PrintedSizeAt found = printed_size_at(rest());
    if (found.state == PrintedSizeAt::State::none) return Step::no;
    if (found.state == PrintedSizeAt::State::cut) return Step::text_ends;
    size = std::move(found.size);
    at_ += found.length;
    return Step::yes;
  }

 private:
  Step read_number(std::optional<int>& number) {
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (value <= std::numeric_limits<int>::max()) value = value * 10 + (text_[at_] - '0');
    }
    if (at_ == text_.size()) return Step::text_ends;
    if (at_ == begin) return Step::no;
    if (value <= std::numeric_limits<int>::max()) number = static_cast<int>(value);
    return Step::yes;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct ReadClause {
  std::optional<int> number;
  PrintedSize size;
};

Step read(Reader& reader, const Clause& clause, ReadClause& into) {
  const Step before = reader.pattern(clause.before, into.number);
  if (before != Step::yes || !clause.figure) return before;
  const Step size = reader.size(into.size);
  return size == Step::yes ? reader.literal(clause.after) : size;
}

/// Several processes may be named: theirs is one figure.
void add_figure(OomMessage& message, OomFigure figure, PrintedSize size) {
  auto& known = message.printed(figure);
  if (!known) {
    known = std::move(size);
    return;
  }
  if (known->text.size() < longest_list) {
    known->text += " + ";
    known->text += known->text.size() < longest_list ? size.text : "...";
  }
  known->impossible = known->impossible || size.impossible;
  if (known->impossible) return;
  known->range = known->range + size.range;
  known->impossible = known->range.most > largest_printed;
}

bool names_device(const Clause& clause) {
  return clause.before.find("NPU#") != std::string_view::npos ||
         clause.before.find("GPU#") != std::string_view::npos;
}

/// A figure comes once; a message that repeats itself has ended before.
bool is_repeated(const OomMessage& message, const Clause& clause) {
  return clause.figure && clause.figure != OomFigure::other_processes &&
         message.printed(*clause.figure);
}

/// The next clause, whichever it is.
struct NextClause {
  Step step = Step::no;
  /// Where the step is `yes`.
  const Clause* clause = nullptr;
};

NextClause read_next(Reader& reader, OomMessage& message) {
  NextClause next;
  for (const Clause& clause : clauses) {
    if (is_repeated(message, clause)) continue;
    Reader trial = reader;
    ReadClause found;
    const Step step = read(trial, clause, found);
    if (step == Step::text_ends) next.step = Step::text_ends;
    if (step != Step::yes) continue;
    reader = trial;
    if (names_device(clause) && found.number) message.device = found.number;
    if (clause.figure) add_figure(message, *clause.figure, std::move(found.size));
    return {.step = Step::yes, .clause = &clause};
  }
  return next;
}

/// What a message shows of itself beside its figures.
struct Manner {
  bool npu = false;
  /// The figures stand in brackets, not in sentences.
  bool in_brackets = false;
};

OomWording wording_of(const OomMessage& message, Manner manner, std::string_view behind) {
  const bool names_max_split =
      behind.substr(0, hint_length).find("max_split_size_mb") != std::string_view::npos;
  if (message.printed(OomFigure::requested)) return OomWording::npu_rejected;
  if (manner.npu) return OomWording::npu;
  if (message.printed(OomFigure::cached)) return OomWording::cuda_cached;
  if (manner.in_brackets) {
    return names_max_split ? OomWording::cuda_reserved_hint : OomWording::cuda_reserved;
  }
  if (message.printed(OomFigure::in_private_pools)) return OomWording::cuda_private_pools;
  return names_max_split ? OomWording::cuda_unallocated : OomWording::cuda_expandable;
}

OomMatch read_message(std::string_view text, std::size_t begin, const Head& head) {
  using State = OomMatch::State;
  OomMatch match{.state = State::complete, .message = {}, .begin = begin};
  Reader reader{text.substr(begin)};
  if (head.speaker != Speaker::unnamed) reader.literal(head.text);
  match.end = begin + reader.at();
  if (head.whole) {
    match.message.wording = OomWording::cuda_driver;
    return match;
  }
  Manner manner{.npu = head.speaker == Speaker::npu};
  NextClause next = read_next(reader, match.message);
  while (next.step == Step::yes && !next.clause->ends) {
    manner.npu = manner.npu || next.clause->before.starts_with("(NPU");
    manner.in_brackets = manner.in_brackets || next.clause->before.starts_with('(');
    next = read_next(reader, match.message);
  }
  match.end = begin + reader.at();
  match.message.cut = next.step != Step::yes;
  match.message.wording = wording_of(match.message, manner, reader.rest());
  if (next.step == Step::text_ends) match.state = State::unfinished;
  if (next.step == Step::no) {
    const State without = head.speaker == Speaker::unnamed ? State::none : State::mention;
    match.state = match.message.figure_count() == 0 ? without : State::partial;
  }
  return match;
}

/// Whether some head begins like this: asked of every character of a log.
constexpr bool may_begin(char c) { return c == 'N' || c == 'C' || c == 'H' || c == 'T'; }

/// The head at the beginning of a text, or of which the text is a telling beginning.
struct HeadAt {
  const Head* head = nullptr;
  bool unfinished = false;
};

HeadAt head_at(std::string_view text) {
  for (const Head& head : heads) {
    const Step step = begins_with(text, head.text);
    if (step == Step::yes) return {.head = &head};
    if (step == Step::text_ends && text.size() >= telling_beginning) {
      return {.head = &head, .unfinished = true};
    }
  }
  return {};
}

}  // namespace

OomMatch find_oom(std::string_view squeezed, std::size_t from) {
  using State = OomMatch::State;
  OomMatch mention;
  for (std::size_t at = from; at < squeezed.size(); ++at) {
    if (!may_begin(squeezed[at])) continue;
    const HeadAt found = head_at(squeezed.substr(at));
    if (found.head == nullptr) continue;
    if (found.unfinished) {
      return {.state = State::unfinished, .message = {}, .begin = at, .end = at};
    }
    OomMatch match = read_message(squeezed, at, *found.head);
    if (match.state == State::none) continue;
    if (match.state != State::mention) return match;
    if (mention.state == State::none) mention = match;
  }
  return mention;
}

}  // namespace fragcast
