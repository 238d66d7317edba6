#include "replay/report/names.hpp"

namespace fragcast {

std::string_view name_of(Start start) {
  switch (start) {
    case Start::empty:
      return "empty";
    case Start::warm:
      return "warm";
    case Start::cold:
      return "cold";
    case Start::cold_largest_first:
      return "cold_largest_first";
  }
  return {};
}

std::string_view name_of(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::completed:
      return "completed";
    case RunOutcome::out_of_memory:
      return "out_of_memory";
    case RunOutcome::refused:
      return "refused";
  }
  return {};
}

}  // namespace fragcast
