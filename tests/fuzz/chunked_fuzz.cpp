// The chunked decoder: for any bytes in any pieces the outcome is the same, and nothing is read
// twice or beyond the end. The first byte determines how the rest is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/chunked.hpp"

namespace {

using weir::http::ChunkedDecoder;
using Event = ChunkedDecoder::Event;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  Event end = Event::need_more;
  std::string payload;
  std::string trailers;
  std::size_t consumed = 0;
};

bool is_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Decodes with the end of the input moving on by `step` bytes at a time (all at once for 0).
Outcome decode(std::string_view input, std::size_t step) {
  ChunkedDecoder decoder;
  Outcome outcome;
  for (std::size_t end = step == 0 ? input.size() : 0;; end = std::min(end + step, input.size())) {
    for (;;) {
      const std::string copy{
          input.substr(outcome.consumed, end - outcome.consumed)};  // so that overruns are seen
      const auto result = decoder.next(copy);
      require(result.consumed <= copy.size());
      require(is_within(result.payload, copy) && is_within(result.trailer.name, copy) &&
              is_within(result.trailer.value, copy));
      outcome.consumed += result.consumed;
      outcome.end = result.event;
      outcome.payload += result.payload;
      if (result.event == Event::trailer)
        outcome.trailers.append(result.trailer.name).append(1, '\0').append(result.trailer.value);
      if (result.event == Event::payload) require(!result.payload.empty());
      if (result.event == Event::malformed) require(!decoder.fault().empty());
      if (result.event != Event::payload && result.event != Event::trailer) break;
    }
    if (end == input.size() || outcome.end != Event::need_more) return outcome;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string_view input{reinterpret_cast<const char*>(data) + 1, size - 1};
  const Outcome whole = decode(input, 0);
  const Outcome pieces = decode(input, 1 + data[0] % 16);
  require(whole.end == pieces.end && whole.payload == pieces.payload &&
          whole.trailers == pieces.trailers);
  if (whole.end == Event::done) require(whole.consumed == pieces.consumed);
  return 0;
}
