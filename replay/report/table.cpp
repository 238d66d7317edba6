#include "replay/report/table.hpp"

#include <algorithm>

namespace fragcast {
namespace {

/// Code points, by counting the bytes that begin one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const Row& row : rows_) {
    if (row.size() < 2) continue;
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  for (const Row& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t gap = row.size() < 2 ? 0 : widths[i] - width(row[i]);
      if (i > 0) line.append(2 + gap, ' ');
      line += row[i];
      if (i == 0) line.append(gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace fragcast
