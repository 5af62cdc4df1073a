// Answers to the requests of Weir itself: for any bytes in any pieces the outcome is the same, the
// bounds hold, and an answer that cannot be used has a problem on one line. The first byte
// determines how the rest is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/answer_reader.hpp"

namespace {

using weir::http::AnswerReader;
using State = AnswerReader::State;

constexpr AnswerReader::Limits limits{.head = 1024, .body = 256};

void require(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  State state;
  int status;
  std::string body;
  bool has_lifetime;
};

Outcome read(std::string_view input, std::size_t step) {
  AnswerReader reader(limits);
  for (std::size_t at = 0; at < input.size(); at += step) {
    const std::string copy{input.substr(at, step)};  // so that overruns are seen
    reader.read(copy);
  }
  reader.end();
  const State state = reader.state();
  require(state == State::done || state == State::failed);
  require((state == State::failed) == !reader.problem().empty());
  for (const char c : reader.problem())
    require(c >= 0x20 && c <= 0x7e);
  if (reader.fresh_for()) require(reader.fresh_for()->count() >= 0);
  const bool has_lifetime = reader.fresh_for().has_value();
  std::string body = reader.take_body();
  require(body.size() <= limits.body);
  require(state == State::done || body.empty());
  return {state, reader.status(), std::move(body), has_lifetime};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const std::string_view input{reinterpret_cast<const char*>(data) + 1, size - 1};
  const Outcome whole = read(input, std::max<std::size_t>(input.size(), 1));
  const Outcome pieces = read(input, 1 + data[0] % 16);
  require(whole.state == pieces.state && whole.body == pieces.body);
  if (whole.state == State::done)
    require(whole.status == pieces.status && whole.has_lifetime == pieces.has_lifetime);
  return 0;
}
