// The cost of a table of many routes: the time to build it, its memory, and the time to find a
// route, beside a table of one route. Callgrind counts the instructions of one find:
//   valgrind --tool=callgrind --toggle-collect='weir::bench::find_last*' route_table_bench NAME
#include <chrono>
#include <cstdio>
#include <deque>
#include <malloc.h>
#include <string>
#include <string_view>
#include <vector>

#include "routing/route_table.hpp"

namespace weir::bench {
namespace {

using namespace routing;

constexpr int finds = 100'000;

struct Shape {
  const char* name;
  int routes;
  const char* prefix;  ///< of the pattern; the route's number follows
  const char* suffix;
  bool has_hosts = false;
};

constexpr Shape shapes[] = {
    {"one", 1, "/segment", "/**"},
    {"distinct", 10'000, "/segment", "/**"},
    {"one_deep", 1, "/v1/shared/prefix/item", ""},
    {"shared", 10'000, "/v1/shared/prefix/item", ""},
    {"hosts", 10'000, "/segment", "/**", true},
};

std::deque<Match> matches_of(const Shape& shape) {
  std::deque<Match> matches;
  for (int i = 0; i < shape.routes; ++i) {
    const std::string number = std::to_string(9999 - i);
    Match& match = matches.emplace_back();
    if (shape.has_hosts) {
      match.host = "host" + number + ".example.com";
    } else {
      match.path = PathPattern::parse(shape.prefix + number + shape.suffix).value();
    }
  }
  return matches;
}

std::vector<RouteTable::Entry> entries_of(const std::deque<Match>& matches) {
  std::vector<RouteTable::Entry> entries;
  for (const Match& match : matches)
    entries.push_back({.match = &match});
  return entries;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

[[gnu::noinline]] bool find_last(const RouteTable& table, Question& question,
                                 std::vector<Candidate>& candidates) {
  if (question.paths.read(question.request.path, table.reading_options())) return false;
  const auto none = [&]() -> Result<const Question*, http::Refusal> { return &question; };
  return !table.find(question, none, candidates) && candidates.size() == 1;
}

bool measure(const Shape& shape) {
  const auto matches = matches_of(shape);
  auto entries = entries_of(matches);
  const auto before = mallinfo2();
  const auto build_start = std::chrono::steady_clock::now();
  const RouteTable table(std::move(entries), {});
  const double build_took = milliseconds_since(build_start);
  const auto after = mallinfo2();
  const auto bytes = static_cast<double>(after.uordblks + after.hblkhd) -
                     static_cast<double>(before.uordblks + before.hblkhd);

  const std::string number = std::to_string(10'000 - shape.routes);
  const std::string path = shape.prefix + number + (*shape.suffix == '\0' ? "" : "/x");
  const std::string host = "host" + number + ".example.com";
  Question question;
  question.request.method = "GET";
  question.request.path = path;
  question.request.host = host;
  std::vector<Candidate> candidates;
  bool is_found = true;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < finds; ++i)
    is_found &= find_last(table, question, candidates);
  const double find_took = milliseconds_since(start);
  std::printf("%-10s %6d routes: built in %6.2f ms, %7.0f KB, found in %4.0f ns\n", shape.name,
              shape.routes, build_took, bytes / 1024, find_took * 1e6 / finds);
  return is_found;
}

}  // namespace
}  // namespace weir::bench

int main(int count, char** arguments) {
  bool is_fine = true;
  for (const auto& shape : weir::bench::shapes) {
    if (count < 2 || std::string_view(arguments[1]) == shape.name)
      is_fine &= weir::bench::measure(shape);
  }
  return is_fine ? 0 : 1;
}
