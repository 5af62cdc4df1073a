#include "http/trace_context.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::http {
namespace {

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent = "00f067aa0ba902b7";

}  // namespace

TEST_CASE("the trace id is read of a valid traceparent only") {
  struct Row {
    std::string value;
    bool is_valid;
  };
  const std::string zeros(32, '0');
  for (const Row& row : {
           Row{"00-" + trace + "-" + parent + "-01", true},
           Row{"00-" + trace + "-" + parent + "-00", true},
           Row{"cc-" + trace + "-" + parent + "-01", true},
           Row{"cc-" + trace + "-" + parent + "-01-what-the-future", true},
           Row{"00-" + trace + "-" + parent + "-01-more", false},
           Row{"cc-" + trace + "-" + parent + "-01.more", false},
           Row{"ff-" + trace + "-" + parent + "-01", false},
           Row{"00-" + zeros + "-" + parent + "-01", false},
           Row{"00-" + trace + "-" + zeros.substr(16) + "-01", false},
           Row{"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + parent + "-01", false},
           Row{"00-" + trace + "-" + parent + "-0g", false},
           Row{"0x-" + trace + "-" + parent + "-01", false},
           Row{"00_" + trace + "-" + parent + "-01", false},
           Row{"00-" + trace + "_" + parent + "-01", false},
           Row{"00-" + trace + "-" + parent + "_01", false},
           Row{"00-" + trace + "-" + parent + "-0", false},
           Row{"00-" + trace.substr(1) + "-" + parent + "-01", false},
           Row{"", false},
       }) {
    CAPTURE(row.value);
    CHECK(trace_id_of(row.value) == (row.is_valid ? trace : ""));
  }
}

TEST_CASE("the parent and the flags are read of a valid traceparent") {
  const auto read = [](const std::string& value) { return trace_parent_of(value); };
  const std::string value = "00-" + trace + "-" + parent + "-";
  CHECK(read(value + "01").parent_id == parent);
  CHECK(read(value + "00").flags == 0);
  CHECK(read(value + "01").flags == sampled_flag);
  CHECK(read(value + "03").flags == (sampled_flag | random_flag));
  CHECK(read(value + "fe").flags == 0xfe);
  CHECK(read(value + "fg").parent_id.empty());
}

TEST_CASE("a trace goes on with the span here, the sampled flag and the random flag only") {
  struct Row {
    std::string before;
    std::uint64_t span;
    std::string after;
  };
  for (const Row& row : {
           Row{"00-" + trace + "-" + parent + "-00", 0xb7ad6b7169203331, "-b7ad6b7169203331-01"},
           Row{"00-" + trace + "-" + parent + "-01", 0, "-0000000000000001-01"},
           Row{"00-" + trace + "-" + parent + "-02", 1, "-0000000000000001-03"},
           Row{"cc-" + trace + "-" + parent + "-ff-more", 1, "-0000000000000001-03"},
       }) {
    CAPTURE(row.before);
    const auto text = continued_traceparent(trace_parent_of(row.before), row.span);
    CHECK(std::string(text.data(), text.size()) == "00-" + trace + row.after);
  }
}

TEST_CASE("a new traceparent has the flags that it is given") {
  const auto text = new_traceparent({.low = 1, .high = 2}, 3, 0);
  CHECK(std::string(text.data(), text.size()) ==
        "00-00000000000000020000000000000001-0000000000000003-00");
}

TEST_CASE("a new traceparent is valid and sampled, whatever its random bits") {
  const auto text = [](const Hash128& its_trace, std::uint64_t its_parent) {
    const auto made = new_traceparent(its_trace, its_parent);
    return std::string(made.data(), made.size());
  };
  CHECK(text({.low = 0xa3ce929d0e0e4736, .high = 0x4bf92f3577b34da6}, 0x00f067aa0ba902b7) ==
        "00-" + trace + "-" + parent + "-01");
  const std::string one = text({}, 0);
  CHECK(one == "00-00000000000000000000000000000001-0000000000000001-01");
  CHECK(trace_id_of(one) == "00000000000000000000000000000001");
  CHECK(trace_id_of(text({.low = 0, .high = 1}, 1)) == "00000000000000010000000000000000");
}

TEST_CASE("a request with several traceparent fields has no trace id") {
  const std::string value = "00-" + trace + "-" + parent + "-01";
  const FieldView field{.id = FieldId::unknown, .name = "TraceParent", .value = value};
  const std::vector<FieldView> none{{.id = FieldId::unknown, .name = "tracestate", .value = "a=b"}};
  const std::vector<FieldView> one{none[0], field};
  const std::vector<FieldView> two{field, field};
  RequestView request;
  request.fields = none;
  CHECK(trace_id_of(request).empty());
  request.fields = one;
  CHECK(trace_id_of(request) == trace);
  request.fields = two;
  CHECK(trace_id_of(request).empty());
}

}  // namespace weir::http
