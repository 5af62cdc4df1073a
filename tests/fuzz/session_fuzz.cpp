// A whole client connection, both directions. A script (session/script.hpp) is the client, its
// upstreams and the clock; session/judge.hpp checks what must hold for every script.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "session/script.hpp"
#include "session/world.hpp"

namespace {

using namespace weir::fuzz;

/// Messages that are frequent in HTTP; each is a step.
constexpr std::array<std::string_view, 47> sayings{
    "cGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "cHEAD /few/1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "cGET /slow/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "cGET /fixed/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
    "cGET /decide/ HTTP/1.1\r\nHost: a\r\nX-Forwarded-Uri: /x\r\n\r\n",
    "cPUT /key/1 HTTP/1.1\r\nHost: a\r\nX-Api-Key: k\r\nContent-Length: 2\r\n\r\nab",
    "cGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "cPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    "cPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n",
    "cGET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\n\r\n",
    "cGET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "cPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
    "c5\r\nhello\r\n",
    "c0\r\n\r\n",
    "c0\r\nx: 1\r\n\r\n",
    "chello",
    "cPROXY TCP4 10.0.0.2 10.0.0.1 1 2\r\n",
    "uHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "uHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n",
    "uHTTP/1.1 200 OK\r\n\r\n",
    "uHTTP/1.0 200 OK\r\nConnection: close\r\n\r\n",
    "uHTTP/1.1 100 Continue\r\n\r\n",
    "uHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
    "uHTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "uHTTP/1.1 204 No Content\r\n\r\n",
    "uHTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
    "uHTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
    "u5\r\nhello\r\n",
    "u0\r\nx: 1\r\n\r\n",
    "a0",
    "a1",
    "a20000",
    "a99999",
    "x70000",
    "y70000",
    "e",
    "q",
    "r",
    "s",
    "h",
    "k",
    "z",
    "t11",
    "n1",
    "g0",
    "g3",
    "l",
};

std::string changed(std::string_view part, std::minstd_rand& random) {
  std::string text(part);
  if (!text.empty() && random() % 8 == 0) text[0] = static_cast<char>(text[0] ^ 0x20);
  return text;
}

void change_steps(std::vector<std::string>& parts, std::minstd_rand& random) {
  const auto at = 1 + static_cast<std::ptrdiff_t>(random() % parts.size());
  const auto is_step = static_cast<std::size_t>(at) < parts.size();
  switch (random() % 6) {
    case 0:
      if (is_step) parts.erase(parts.begin() + at);
      return;
    case 1:
      if (is_step)
        parts.insert(parts.begin() + at, changed(parts[static_cast<std::size_t>(at)], random));
      return;
    case 2:
      if (is_step) std::swap(parts[static_cast<std::size_t>(at)], parts.back());
      return;
    case 3:
      parts[0].assign(1, "stplofg-"[random() % 8]);
      return;
    default:
      parts.insert(parts.begin() + at, changed(sayings[random() % sayings.size()], random));
  }
}

std::size_t copy_out(const std::string& text, std::uint8_t* data, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  std::memcpy(data, text.data(), size);
  return size;
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

/// libFuzzer's. Weak, because a build without libFuzzer does not have it; nothing mutates there.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                                      std::size_t most);

/// Half of the changes are of whole steps.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  auto parts = parts_of(text_of(data, size));
  for (auto left = 1 + random() % 3; left > 0; --left)
    change_steps(parts, random);
  return copy_out(join(parts), data, most);
}

/// The beginning of one script and the end of another.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size,
                                                 std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  std::minstd_rand random(seed);
  auto parts = parts_of(text_of(one, one_size));
  const auto more = parts_of(text_of(other, other_size));
  parts.resize(1 + random() % parts.size());
  parts.insert(parts.end(), more.begin() + static_cast<std::ptrdiff_t>(random() % more.size()),
               more.end());
  return copy_out(join(parts), out, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2048) return 0;
  const Script script = read_script(text_of(data, size));
  World world(script.setup);
  for (const auto& step : script.steps)
    world.perform(step);
  world.finish();
  return 0;
}
