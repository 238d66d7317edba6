#include <fmt/format.h>

#include <optional>
#include <string>

#include "replay/cli/command.hpp"
#include "replay/formats/price_file.hpp"
#include "replay/report/table.hpp"
#include "sim/device/prices.hpp"

namespace fragcast {
namespace {

ExitStatus run_profiles(const Options& options, Console& console) {
  if (const auto name = options.own.text("profile")) {
    const KnownDevice* device = find_known_device(*name);
    if (device == nullptr) {
      throw UsageError{fmt::format("--profile {}: there is no such device", *name)};
    }
    console.out << price_file_of(*device);
    return ExitStatus::fine;
  }
  const auto gibibytes = [](std::optional<Bytes> size) {
    constexpr double gibibyte = 1 << 30;
    return size ? fmt::format("{:.2f} GiB", static_cast<double>(size->count()) / gibibyte)
                : std::string{"not known"};
  };
  Table table;
  table.add({"", "total", "free at start", "prices"});
  for (const KnownDevice& device : known_devices()) {
    table.add({std::string{device.name},
               gibibytes(device.total),
               gibibytes(device.free_at_start),
               device.basis == PriceBasis::guess ? "a guess" : "sources"});
  }
  table.print(console.out);
  console.out << '\n';
  for (const KnownDevice& device : known_devices()) {
    console.out << fmt::format("{:<12}{}\n", device.name, device.summary);
  }
  return ExitStatus::fine;
}

}  // namespace

Command profiles_command() {
  return {.syntax = {.name = "profiles",
                     .usage = "[--profile NAME]",
                     .summary = "the devices whose calls have prices",
                     .explanation =
                         "Lists devices: the memory that an allocator is told of, what of it "
                         "is free when a process starts,\nand what the prices rest on that "
                         "device time is estimated with; or the prices of one of them.\n",
                     .files = FileArguments::none,
                     .own = {{.name = "profile",
                              .argument = "NAME",
                              .help = "the prices of this device, as a file that --prices reads"}}},
          .run = run_profiles};
}

}  // namespace fragcast
