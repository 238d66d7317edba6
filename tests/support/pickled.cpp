#include "tests/support/pickled.hpp"

#include <cctype>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "replay/formats/pickle/writer.hpp"

namespace fragcast {
namespace {

/// Writes one pickle, whoever's. Objects are referred to by number.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  virtual std::uint32_t begin_list() = 0;
  virtual void end_list() = 0;
  virtual std::uint32_t begin_dict() = 0;
  virtual void key(std::string_view name) = 0;
  virtual void end_dict() = 0;
  virtual void pair(std::int64_t first, std::int64_t second) = 0;
  virtual void again(std::uint32_t object) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void natural(std::uint64_t value) = 0;
  virtual void integer(std::int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void boolean(bool value) = 0;
  virtual void none() = 0;
  virtual std::string finish() = 0;
};

class Python final : public Output {
 public:
  explicit Python(int protocol) : protocol_{protocol} {}
  std::uint32_t begin_list() override { return writer_.begin_list().value(); }
  void end_list() override { writer_.end_list(); }
  std::uint32_t begin_dict() override { return writer_.begin_dict().value(); }
  void key(std::string_view name) override { writer_.key(name); }
  void end_dict() override { writer_.end_dict(); }
  void pair(std::int64_t first, std::int64_t second) override { writer_.pair(first, second); }
  void again(std::uint32_t object) override { writer_.again(PickleWriter::Reference{object}); }
  void text(std::string_view value) override { writer_.text(value); }
  void natural(std::uint64_t value) override { writer_.natural(value); }
  void integer(std::int64_t value) override { writer_.integer(value); }
  void real(double value) override { writer_.real(value); }
  void boolean(bool value) override { writer_.boolean(value); }
  void none() override { writer_.none(); }
  std::string finish() override {
    writer_.finish();
    std::string bytes = out_.str();
    bytes[1] = static_cast<char>(protocol_);
    return bytes;
  }

 private:
  int protocol_;
  std::ostringstream out_;
  PickleWriter writer_{out_};
};

class TorchJit final : public Output {
 public:
  std::uint32_t begin_list() override {
    bytes_ += ']';
    const std::uint32_t reference = memoize();
    bytes_ += '(';
    return reference;
  }
  void end_list() override { bytes_ += 'e'; }
  std::uint32_t begin_dict() override {
    bytes_ += '}';
    const std::uint32_t reference = memoize();
    bytes_ += '(';
    return reference;
  }
  void key(std::string_view name) override { text(name); }
  void end_dict() override { bytes_ += 'u'; }
  void pair(std::int64_t first, std::int64_t second) override {
    integer(first);
    integer(second);
    bytes_ += '\x86';
  }
  void again(std::uint32_t object) override {
    put(object < 256 ? 'h' : 'j', object, object < 256 ? 1 : 4);
  }
  void text(std::string_view value) override {
    if (const auto known = texts_.find(value); known != texts_.end()) {
      again(known->second);
      return;
    }
    put('X', value.size(), 4);
    bytes_ += value;
    texts_.emplace(value, memoize());
  }
  void natural(std::uint64_t value) override { integer(static_cast<std::int64_t>(value)); }
  void integer(std::int64_t value) override {
    const auto bits = static_cast<std::uint64_t>(value);
    if (value >= 0 && value < 1 << 8) {
      put('K', bits, 1);
    } else if (value >= 0 && value < 1 << 16) {
      put('M', bits, 2);
    } else if (value == static_cast<std::int32_t>(value)) {
      put('J', bits, 4);
    } else {
      bytes_ += "\x8a";
      put('\x08', bits, 8);
    }
  }
  void real(double value) override {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bytes_ += 'G';
    for (int shift = 56; shift >= 0; shift -= 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  }
  void boolean(bool value) override { bytes_ += value ? '\x88' : '\x89'; }
  void none() override { bytes_ += 'N'; }
  std::string finish() override { return bytes_ + '.'; }

 private:
  void put(char code, std::uint64_t argument, std::size_t size) {
    bytes_ += code;
    for (std::size_t i = 0; i < size; ++i) bytes_ += static_cast<char>(argument >> 8 * i & 0xff);
  }
  std::uint32_t memoize() {
    put(memo_ < 256 ? 'q' : 'r', memo_, memo_ < 256 ? 1 : 4);
    return memo_++;
  }

  std::string bytes_{"\x80\x02"};
  std::uint32_t memo_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
};

/// Reads a literal and says it to an output.
class Reader {
 public:
  Reader(std::string_view literal, Output& output) : rest_{literal}, output_{output} {}

  void value(const std::string& name = {}) {
    skip_blanks();
    if (rest_.empty()) fail();
    const char first = rest_.front();
    if (first == '$') {
      reference();
    } else if (first == '{') {
      remember(name, output_.begin_dict());
      items('}', [&] {
        output_.key(quoted());
        expect(':');
        value();
      });
      output_.end_dict();
    } else if (first == '[') {
      remember(name, output_.begin_list());
      items(']', [&] { value(); });
      output_.end_list();
    } else if (first == '(') {
      pair();
    } else if (first == '\'') {
      output_.text(quoted());
    } else {
      scalar();
    }
  }

  void end() {
    skip_blanks();
    if (!rest_.empty()) fail();
  }

 private:
  void reference() {
    rest_.remove_prefix(1);
    const std::string name = word();
    if (accept('=')) {
      value(name);
    } else {
      output_.again(names_.at(name));
    }
  }

  void remember(const std::string& name, std::uint32_t object) {
    if (!name.empty()) names_[name] = object;
  }

  template <class Item>
  void items(char end, Item item) {
    rest_.remove_prefix(1);
    while (!accept(end)) {
      item();
      if (!accept(',') && (skip_blanks(), !rest_.starts_with(end))) fail();
    }
  }

  void pair() {
    expect('(');
    const std::int64_t first = std::stoll(word(), nullptr, 0);
    expect(',');
    const std::int64_t second = std::stoll(word(), nullptr, 0);
    expect(')');
    output_.pair(first, second);
  }

  void scalar() {
    const std::string text = word();
    if (text == "True" || text == "False") {
      output_.boolean(text == "True");
    } else if (text == "None") {
      output_.none();
    } else if (text.find('.') != std::string::npos) {
      output_.real(std::stod(text));
    } else if (text.starts_with('-')) {
      output_.integer(std::stoll(text, nullptr, 0));
    } else {
      output_.natural(std::stoull(text, nullptr, 0));
    }
  }

  std::string quoted() {
    expect('\'');
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) fail();
    std::string text{rest_.substr(0, end)};
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string word() {
    skip_blanks();
    std::size_t end = 0;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    };
    while (end < rest_.size() && belongs(rest_[end])) ++end;
    if (end == 0) fail();
    std::string text{rest_.substr(0, end)};
    rest_.remove_prefix(end);
    return text;
  }

  bool accept(char wanted) {
    skip_blanks();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail();
  }
  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }
  [[noreturn]] void fail() const {
    throw std::invalid_argument{"no Python literal: " + std::string{rest_.substr(0, 40)}};
  }

  std::string_view rest_;
  Output& output_;
  std::map<std::string, std::uint32_t> names_;
};

std::unique_ptr<Output> output_of(Pickler pickler) {
  switch (pickler) {
    case Pickler::python_4:
      return std::make_unique<Python>(4);
    case Pickler::python_5:
      return std::make_unique<Python>(5);
    case Pickler::torch_jit:
      return std::make_unique<TorchJit>();
  }
  throw std::invalid_argument{"no pickler"};
}

}  // namespace

std::string pickled(std::string_view literal, Pickler pickler) {
  const std::unique_ptr<Output> output = output_of(pickler);
  Reader reader{literal, *output};
  reader.value();
  reader.end();
  return output->finish();
}

}  // namespace fragcast
