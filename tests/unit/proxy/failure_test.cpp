// Each failure has the answer that docs/reference-exchange.md lists.
#include "proxy/failure.hpp"

#include <cctype>
#include <fstream>
#include <map>
#include <string>

#include "catch.hpp"
#include "source_directory.hpp"

namespace weir::proxy {
namespace {

/// Failure -> the first word of its answer in the table: a status, or "none;".
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> answers;
  std::ifstream document(WEIR_SOURCE_DIR "/docs/reference-exchange.md");
  bool is_in_table = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("| `Failure` |")) is_in_table = true;
    if (!is_in_table) continue;
    if (line.empty()) break;
    if (!line.starts_with("| `") || line.starts_with("| `Failure`")) continue;
    const auto name_end = line.find('`', 3);
    const auto answer = line.rfind("| ", line.size() - 3) + 2;
    answers[line.substr(3, name_end - 3)] = line.substr(answer, line.find(' ', answer) - answer);
  }
  return answers;
}

TEST_CASE("the failures of the upstream are those from unreachable to unhealthy") {
  for (int i = 0; i <= static_cast<int>(Failure::overloaded); ++i) {
    const auto failure = static_cast<Failure>(i);
    CAPTURE(i);
    CHECK(is_of_upstream(failure) ==
          (failure == Failure::upstream_unreachable ||
           failure == Failure::upstream_connect_timeout || failure == Failure::upstream_broken ||
           failure == Failure::upstream_refused || failure == Failure::upstream_reset ||
           failure == Failure::upstream_goaway || failure == Failure::upstream_invalid ||
           failure == Failure::upstream_timed_out || failure == Failure::upstream_unhealthy));
  }
}

TEST_CASE("each failure has the answer of the table") {
  using enum Failure;
  const std::map<std::string, Failure> failures{
      {"head_malformed", head_malformed},
      {"head_too_large", head_too_large},
      {"target_too_long", target_too_long},
      {"method_too_long", method_too_long},
      {"head_timed_out", head_timed_out},
      {"body_too_large", body_too_large},
      {"body_malformed", body_malformed},
      {"body_timed_out", body_timed_out},
      {"plain_on_tls", plain_on_tls},
      {"downstream_gone", downstream_gone},
      {"deadline_passed", deadline_passed},
      {"upstream_unreachable", upstream_unreachable},
      {"upstream_connect_timeout", upstream_connect_timeout},
      {"upstream_broken", upstream_broken},
      {"upstream_refused", upstream_refused},
      {"upstream_reset", upstream_reset},
      {"upstream_goaway", upstream_goaway},
      {"upstream_invalid", upstream_invalid},
      {"upstream_timed_out", upstream_timed_out},
      {"upstream_unhealthy", upstream_unhealthy},
      {"tunnel_unsupported", tunnel_unsupported},
      {"overloaded", overloaded},
  };
  REQUIRE(failures.size() == static_cast<std::size_t>(overloaded));  // all except none
  const auto answers = documented();
  CHECK(answers.size() == failures.size());
  for (const auto& [name, failure] : failures) {
    CAPTURE(name);
    const http::Refusal answer = answer_to(failure);
    REQUIRE(answers.contains(name));
    CHECK(answers.at(name) == (answer.status == 0 ? "none;" : std::to_string(answer.status)));
    CHECK(answer.detail.empty() == (answer.status == 0));
  }
  CHECK(answer_to(none).status == 0);
}

TEST_CASE("a failure of HTTP/2 states its error code") {
  using enum Failure;
  CHECK(answer_to(upstream_refused).detail ==
        "the upstream refused the request (HTTP/2 REFUSED_STREAM)");
  CHECK(answer_to(upstream_reset, 8).detail ==
        "the upstream reset the stream before its answer was complete (HTTP/2 CANCEL)");
  CHECK(answer_to(upstream_reset, 2).detail ==
        "the upstream reset the stream before its answer was complete (HTTP/2 INTERNAL_ERROR)");
  CHECK(answer_to(upstream_goaway, 11).detail ==
        "the upstream ended its connection before its answer was complete "
        "(HTTP/2 GOAWAY, ENHANCE_YOUR_CALM)");
  CHECK(answer_to(upstream_reset, 13).detail.ends_with("(HTTP/2 HTTP_1_1_REQUIRED)"));
  CHECK(answer_to(upstream_reset, 14).detail.ends_with("(HTTP/2 UNKNOWN)"));
  CHECK(answer_to(upstream_goaway, 0xffffffff).detail.ends_with("(HTTP/2 GOAWAY, UNKNOWN)"));
}

TEST_CASE("a response is cut if its end was not an invalid one, nor a timeout") {
  using enum Failure;
  for (const Failure cut : {upstream_broken, upstream_refused, upstream_reset, upstream_goaway})
    CHECK(is_cut(cut));
  for (const Failure other : {none, deadline_passed, upstream_unreachable, upstream_connect_timeout,
                              upstream_invalid, upstream_timed_out, upstream_unhealthy})
    CHECK_FALSE(is_cut(other));
}

}  // namespace
}  // namespace weir::proxy
