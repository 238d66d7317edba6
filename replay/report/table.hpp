#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace fragcast {

/// A table for people: the first column left-aligned, the others right-aligned, widths fitted to
/// the contents in code points. A row of one empty cell is a blank line.
class Table {
 public:
  using Row = std::vector<std::string>;

  void add(Row row) { rows_.push_back(std::move(row)); }
  void add_blank() { rows_.emplace_back(); }
  /// A line of its own, over all columns.
  void add_heading(std::string text) { rows_.push_back({std::move(text)}); }

  void print(std::ostream& out) const;

 private:
  std::vector<Row> rows_;
};

}  // namespace fragcast
