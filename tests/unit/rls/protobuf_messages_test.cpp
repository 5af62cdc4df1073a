#include "rls/protobuf_messages.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "grpc/protobuf_writer.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufWriter;
using options::RateLimitUnit;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

std::string with_descriptors(std::size_t descriptors, std::size_t entries) {
  std::string message;
  for (std::size_t i = 0; i < descriptors; ++i) {
    ProtobufWriter(message).message(2, [&](ProtobufWriter& to) {
      for (std::size_t k = 0; k < entries; ++k)
        to.message(1, [&](ProtobufWriter& entry) { entry.text(1, "k"); });
    });
  }
  return message;
}

TEST_CASE("a request is read") {
  // The domain "api", two descriptors and a hits_addend of 7.
  constexpr auto message =
      "\x0a\x03"
      "api"
      "\x12\x20"
      "\x0a\x0b\x0a\x04user\x12\x03"
      "ann"
      "\x0a\x06\x0a\x04path"
      "\x12\x05\x08\xac\x02\x10\x02"
      "\x1a\x02\x08\x03"
      "\x12\x08\x0a\x02\x0a\x00\x1a\x00\x20\x01"
      "\x18\x07"sv;
  Request request;
  request.domain = "of the request before";
  request.entries.resize(5);
  CHECK(read_protobuf(message, request) == ""sv);
  CHECK(request.domain == "api");
  CHECK(request.hits_addend == 7);
  REQUIRE(request.descriptors.size() == 2);
  const Descriptor& first = request.descriptors[0];
  const auto entries = request.entries_of(first);
  CHECK(std::vector<Entry>(entries.begin(), entries.end()) ==
        std::vector<Entry>{{"user", "ann"}, {"path", ""}});
  CHECK(first.limit == StatedLimit{.requests_per_unit = 300, .unit = RateLimitUnit::minute});
  CHECK(first.hits_addend == 3U);
  CHECK_FALSE(first.is_negative_hits);
  const Descriptor& second = request.descriptors[1];
  CHECK(request.entries_of(second).size() == 1);
  CHECK(request.entries_of(second)[0] == Entry{});
  CHECK_FALSE(second.limit.has_value());
  CHECK(second.hits_addend == 0U);  // present, with the default
  CHECK(second.is_negative_hits);
}

TEST_CASE("a descriptor is merged from its parts as Protocol Buffers require") {
  struct Row {
    std::string_view descriptor;
    std::optional<StatedLimit> limit;
    std::optional<std::uint64_t> hits_addend;
  };
  const Row rows[] = {
      {""sv, {}, {}},
      {"\x12\x00"sv, StatedLimit{}, {}},
      {"\x12\x02\x10\x07"sv, StatedLimit{.unit = RateLimitUnit::week}, {}},
      {"\x12\x02\x10\x08"sv, StatedLimit{}, {}},          // no unit
      {"\x12\x04\x10\x01\x10\x63"sv, StatedLimit{}, {}},  // the last one
      {"\x12\x02\x08\x05\x12\x02\x10\x01"sv,
       StatedLimit{.requests_per_unit = 5, .unit = RateLimitUnit::second},
       {}},
      {"\x12\x02\x08\x05\x12\x00\x12\x02\x08\x06"sv, StatedLimit{.requests_per_unit = 6}, {}},
      {"\x1a\x02\x08\x05\x1a\x00"sv, {}, 5},
      {"\x1a\x02\x08\x05\x1a\x02\x08\x00"sv, {}, 0},
      {"\x1a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, {}, ~std::uint64_t{0}},
      {"\x2a\x01x\x1a\x00"sv, {}, 0},  // with a field of a later version
  };
  for (const Row& row : rows) {
    std::string message;
    ProtobufWriter(message).bytes(2, row.descriptor);
    Request request;
    CHECK(read_protobuf(message, request) == ""sv);
    REQUIRE(request.descriptors.size() == 1);
    CHECK(request.descriptors[0].limit == row.limit);
    CHECK(request.descriptors[0].hits_addend == row.hits_addend);
  }
}

TEST_CASE("a request that is not valid is refused with the reason") {
  struct Row {
    std::string_view message;
    std::string_view reason;
  };
  const Row rows[] = {
      {"\x0a\x01\xff"sv, "a string is not valid UTF-8"},
      {"\x12\x05\x0a\x03\x0a\x01\xff"sv, "a string is not valid UTF-8"},
      {"\x12\x05\x0a\x03\x12\x01\xff"sv, "a string is not valid UTF-8"},
      {"\x12\x02\x0a\x03"sv, "a field ends beyond the end of its message"},
      {"\x10\x01"sv, "the wire type of a field is not that of its type"},
      {"\x12\x02\x0a\x80"sv, "the message ends within a varint"},
      {"\x12\x02\x08\x01"sv, "the wire type of a field is not that of its type"},
      {"\x12\x03\x12\x01\x08"sv, "the message ends within a varint"},
      {"\x12\x03\x1a\x01\x08"sv, "the message ends within a varint"},
  };
  for (const Row& row : rows) {
    const std::string_view bytes = row.message;
    CAPTURE(std::vector<int>(bytes.begin(), bytes.end()));
    Request request;
    CHECK(read_protobuf(row.message, request) == row.reason);
  }
}

TEST_CASE("a request is refused beyond the bounds") {
  Request request;
  CHECK(read_protobuf(with_descriptors(most_descriptors, 1), request) == ""sv);
  CHECK(request.descriptors.size() == most_descriptors);
  CHECK(read_protobuf(with_descriptors(most_descriptors + 1, 1), request) ==
        "the request has more than 64 descriptors");
  CHECK(read_protobuf(with_descriptors(2, most_entries), request) == ""sv);
  CHECK(request.entries.size() == 2 * most_entries);
  CHECK(read_protobuf(with_descriptors(1, most_entries + 1), request) ==
        "a descriptor has more than 64 entries");
  std::string message;
  ProtobufWriter(message).text(1, std::string(most_message_bytes - 4, 'd'));
  CHECK(message.size() == most_message_bytes);
  CHECK(read_protobuf(message, request) == ""sv);
  message += '\x18';
  CHECK(read_protobuf(message, request) == "the request is longer than 65536 bytes");
}

TEST_CASE("a response is written") {
  Response response;
  std::string out = "before";
  append_protobuf(out, response);
  CHECK(out == "before");

  response.overall_code = Code::over_limit;
  response.statuses = {
      {.code = Code::over_limit,
       .current_limit =
           CurrentLimit{.requests_per_unit = 300, .unit = RateLimitUnit::hour, .name = "n"},
       .limit_remaining = 0,
       .duration_until_reset = 90s + 1us},
      {.code = Code::ok,
       .current_limit = CurrentLimit{},
       .limit_remaining = 200,
       .duration_until_reset = 0s},
      {.code = Code::unknown},
  };
  response.response_headers_to_add.add("a", "b");
  response.response_headers_to_add.add("c", "");
  response.dynamic_metadata.policy = "p";
  out.clear();
  append_protobuf(out, response);
  CHECK(out ==
        "\x08\x02"
        "\x12\x13\x08\x02\x12\x08\x08\xac\x02\x10\x03\x1a\x01n\x22\x05\x08\x5a\x10\xe8\x07"
        "\x12\x09\x08\x01\x12\x00\x18\xc8\x01\x22\x00"
        "\x12\x00"
        "\x1a\x06\x0a\x01"
        "a\x12\x01"
        "b"
        "\x1a\x03\x0a\x01"
        "c"
        "\x32\x0f\x0a\x0d\x0a\x06policy\x12\x03\x1a\x01p"sv);
}

}  // namespace
}  // namespace weir::rls
