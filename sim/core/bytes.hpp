#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace fragcast {

/// An amount of memory, in bytes. Signed, so that differences need no care.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_{count} {}

  /// The raw number: for input, output and indexing only.
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  /// Stands for "no limit" in settings.
  [[nodiscard]] static constexpr Bytes unlimited() {
    return Bytes{std::numeric_limits<std::int64_t>::max()};
  }

  constexpr auto operator<=>(const Bytes&) const = default;

  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }

  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.count_ + b.count_}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes{a.count_ - b.count_}; }
  friend constexpr Bytes operator-(Bytes a) { return Bytes{-a.count_}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes{a.count_ * n}; }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return Bytes{a.count_ * n}; }
  /// How many whole `b` fit into `a`.
  friend constexpr std::int64_t operator/(Bytes a, Bytes b) { return a.count_ / b.count_; }
  friend constexpr Bytes operator%(Bytes a, Bytes b) { return Bytes{a.count_ % b.count_}; }

 private:
  std::int64_t count_ = 0;
};

/// The smallest multiple of `unit` that is at least `size`.
[[nodiscard]] constexpr Bytes round_up(Bytes size, Bytes unit) {
  return ((size + unit - Bytes{1}) / unit) * unit;
}

/// The largest multiple of `unit` that is at most `size`.
[[nodiscard]] constexpr Bytes round_down(Bytes size, Bytes unit) { return (size / unit) * unit; }

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return 1024 * operator""_B(n); }
constexpr Bytes operator""_MiB(unsigned long long n) { return 1024 * operator""_KiB(n); }
constexpr Bytes operator""_GiB(unsigned long long n) { return 1024 * operator""_MiB(n); }
}  // namespace literals

}  // namespace fragcast
