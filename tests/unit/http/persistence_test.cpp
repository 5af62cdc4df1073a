// Whether a connection is kept: a row per case.
#include <vector>

#include "catch.hpp"
#include "http/received_request.hpp"

namespace weir::http {
namespace {

using FramingKind = Framing::Kind;

TEST_CASE("a connection is kept if nothing speaks against it") {
  CHECK(is_persistent({.client_wants = true, .draining = false, .request_will_be_read = true}));
  // The client closes it, Weir stops, or the start of the next request is unknown.
  CHECK_FALSE(
      is_persistent({.client_wants = false, .draining = false, .request_will_be_read = true}));
  CHECK_FALSE(
      is_persistent({.client_wants = true, .draining = true, .request_will_be_read = true}));
  CHECK_FALSE(
      is_persistent({.client_wants = true, .draining = false, .request_will_be_read = false}));
  CHECK_FALSE(is_persistent({}));
}

TEST_CASE("a response without a length ends with the connection of a client of HTTP/1.0") {
  struct Row {
    FramingKind kind;
    bool ends_for_1_0;
  };
  for (const Row row : {Row{FramingKind::none, false},
                        {FramingKind::length, false},
                        {FramingKind::chunked, true},
                        {FramingKind::until_close, true}}) {
    CAPTURE(static_cast<int>(row.kind));
    CHECK(ends_with_connection(0, row.kind) == row.ends_for_1_0);
    CHECK_FALSE(ends_with_connection(1, row.kind));
  }
}

TEST_CASE("an unread body is read and dropped if it is small and on its way") {
  const std::vector<FieldView> waits{
      {.id = FieldId::expect, .name = "Expect", .value = "100-continue"}};
  constexpr bool expects = true, sends = false;
  struct Row {
    Framing framing;
    bool client;
    bool is_worth;
    bool is_framed = true;
  };
  const Row rows[] = {
      {{FramingKind::none, 0}, sends, true},
      {{FramingKind::length, 0}, sends, true},
      {{FramingKind::length, 0}, expects, true},
      {{FramingKind::length, 99}, sends, true},
      {{FramingKind::length, 100}, sends, true},
      // Too large, or of unknown size.
      {{FramingKind::length, 101}, sends, false},
      {{FramingKind::chunked, 0}, sends, false},
      {{FramingKind::none, 0}, sends, false, false},
      // Not sent unless Weir sends 100.
      {{FramingKind::length, 99}, expects, false},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    ReceivedRequest request;
    request.framing = rows[i].framing;
    request.is_framed = rows[i].is_framed;
    if (rows[i].client == expects) request.view.fields = waits;
    CHECK(is_worth_reading(request, 100) == rows[i].is_worth);
  }
}

}  // namespace
}  // namespace weir::http
