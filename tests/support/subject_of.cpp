#include "tests/support/subject_of.hpp"

#include "tests/support/stepped.hpp"

namespace fragcast {

Subject subject_of(std::string_view script) {
  Subject subject;
  subject.kind = SourceKind::call_script;
  subject.source.file = "test.calls";
  subject.history.conditions.model = "npu-caching";
  subject.history.trace = stepped(script);
  return subject;
}

}  // namespace fragcast
