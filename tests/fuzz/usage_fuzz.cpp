// The scanner for usage: for any bytes in any pieces the result is the same, nothing is read beyond
// the end of a piece, and a count is within its bounds. The first byte selects the format, the
// second determines how the rest is cut.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "usage/usage_scanner.hpp"

namespace {

using namespace weir::usage;

void require(bool holds) {
  if (!holds) std::abort();
}

JsonPointer pointer(std::string_view text) {
  auto parsed = JsonPointer::parse(text);
  require(parsed.has_value());
  return *parsed;
}

const UsagePlan& plan() {
  static const UsagePlan compiled = [] {
    const std::vector<UsageSource> sources{
        {.pointers = {pointer("/usage/total_tokens")}},
        {.pointers = {pointer("/message/usage/input_tokens"), pointer("/usage/output_tokens")}},
        {.pointers = {pointer("/0/a")}},
        {.pointers = {pointer("/a/1")}},
        {.pointers = {pointer("/\xc3\xa9\xf0\x9f\x98\x80")}},
        {.pointers = {pointer("/")}},
    };
    return *UsagePlan::compile(sources);
  }();
  return compiled;
}

/// Scans pieces of up to `step` bytes (all at once for 0), each at the end of memory of its own, so
/// that overruns are seen.
Usage scan(std::string_view type, std::string_view body, std::size_t step) {
  UsageScanner scanner(plan());
  scanner.begin(type, "");
  if (step == 0) step = body.size();
  std::vector<char> memory(step);
  while (!body.empty()) {
    const std::size_t size = std::min(step, body.size());
    char* const piece = memory.data() + (step - size);
    std::copy_n(body.data(), size, piece);
    scanner.feed({piece, size});
    body.remove_prefix(size);
  }
  return scanner.finish(BodyEnd::complete);
}

bool is_same(const Usage& a, const Usage& b) {
  return a.cost == b.cost && a.entry == b.entry && a.is_complete == b.is_complete &&
         a.missing == b.missing;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 8192) return 0;
  constexpr std::array<std::string_view, 3> types{"application/json", "application/x-ndjson",
                                                  "text/event-stream"};
  const std::string_view type = types[data[0] % types.size()];
  const std::size_t step = 1 + data[1];
  const std::string body(data + 2, data + size);
  const Usage whole = scan(type, body, 0);
  require(is_same(whole, scan(type, body, 1)));
  require(is_same(whole, scan(type, body, step)));
  require(whole.cost.has_value() == (whole.missing == MissingUsage::none));
  require(!whole.cost || (*whole.cost >= 0 && *whole.cost <= largest_count));
  require(whole.missing != MissingUsage::incomplete || !whole.is_complete);
  return 0;
}
