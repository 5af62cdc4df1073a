// The bodies of tests/data/usage: responses of OpenAI, Anthropic, Gemini, vLLM and Ollama as they
// document them, and edges of the formats. Beside each body NAME there is NAME.expected with the
// entries of cost_from and the result.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "source_directory.hpp"
#include "unit/usage/oracle.hpp"
#include "unit/usage/scan.hpp"

namespace weir::usage {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  REQUIRE(file);
  return text.str();
}

struct Recording {
  std::string name;
  std::string type;
  std::string body;
  std::vector<std::string> entries;
  Found expected;
};

std::string type_of(const std::string& extension) {
  if (extension == ".json") return "application/json";
  return extension == ".sse" ? "text/event-stream; charset=utf-8" : "application/x-ndjson";
}

MissingUsage reason_named(const std::string& name) {
  for (const auto reason :
       {MissingUsage::incomplete, MissingUsage::not_a_count, MissingUsage::not_found}) {
    if (name_of(reason) == name) return reason;
  }
  FAIL("no reason is called " << name);
  return MissingUsage::none;
}

Recording recording(const std::filesystem::path& path) {
  Recording made{.name = path.filename().string(),
                 .type = type_of(path.extension().string()),
                 .body = text_of(path),
                 .entries = {},
                 .expected = {}};
  std::istringstream lines(text_of(path.string() + ".expected"));
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    REQUIRE(colon != std::string::npos);
    const std::string key = line.substr(0, colon);
    const std::string value = line.substr(colon + 2);
    if (key == "cost_from") {
      made.entries.push_back(value);
    } else if (key == "cost") {
      made.expected.cost = std::stoll(value);
    } else if (key == "missing") {
      made.expected.missing = reason_named(value);
    } else {
      REQUIRE(line == "complete: no");
      made.expected.is_complete = false;
    }
  }
  return made;
}

std::vector<Recording> recordings() {
  std::set<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/tests/data/usage")) {
    if (entry.path().extension() != ".expected") paths.insert(entry.path());
  }
  std::vector<Recording> all;
  for (const auto& path : paths)
    all.push_back(recording(path));
  REQUIRE(all.size() >= 70);
  return all;
}

std::vector<std::string> pointers_in(const std::string& entry) {
  std::vector<std::string> pointers;
  for (std::size_t at = 0; at < entry.size();) {
    const std::size_t plus = std::min(entry.find(" + ", at), entry.size());
    pointers.push_back(entry.substr(at, plus - at));
    at = plus + 3;
  }
  return pointers;
}

TEST_CASE("recorded bodies have the expected usage, whole and divided anywhere") {
  for (const Recording& row : recordings()) {
    INFO(row.name);
    const UsagePlan plan = plan_of(row.entries);
    UsageScanner scanner(plan);
    const std::string_view body = row.body;
    CHECK(scan(scanner, row.type, {body}) == row.expected);
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
      INFO("cut at " << cut);
      REQUIRE(scan(scanner, row.type, {body.substr(0, cut), body.substr(cut)}) == row.expected);
    }
    for (const std::size_t step : {1, 2, 3, 7, 64}) {
      INFO("pieces of " << step);
      REQUIRE(scan_bytes(scanner, row.type, body, step) == row.expected);
    }
  }
}

TEST_CASE("a real parser finds the same in recorded bodies that are complete") {
  int compared = 0;
  for (const Recording& row : recordings()) {
    INFO(row.name);
    std::string body = row.body;
    if (body.starts_with("\xef\xbb\xbf")) body.erase(0, 3);
    std::vector<std::string> documents{body};
    if (row.type.starts_with("text/")) documents = oracle::events_of(body);
    if (row.type.ends_with("ndjson")) documents = oracle::lines_of(body);
    if (documents.size() == 1 && !nlohmann::json::accept(body)) continue;
    std::vector<std::string> pointers;
    for (const std::string& entry : row.entries) {
      for (const std::string& each : pointers_in(entry))
        pointers.push_back(each);
    }
    oracle::Counts counts(pointers);
    for (const std::string& document : documents)
      counts.read(document);
    std::optional<std::int64_t> cost;
    for (const std::string& entry : row.entries) {
      if (!cost) cost = counts.sum(pointers_in(entry));
    }
    CHECK(cost == row.expected.cost);
    ++compared;
  }
  CHECK(compared >= 60);
}

TEST_CASE("a document that ends early is never complete, however it is framed") {
  for (const Recording& row : recordings()) {
    if (row.type != "application/json" || !nlohmann::json::accept(row.body)) continue;
    INFO(row.name);
    const UsagePlan plan = plan_of(row.entries);
    UsageScanner scanner(plan);
    const std::string_view body = row.body;
    const std::size_t start = body.find_first_of("{[");
    for (std::size_t size = start + 1; size <= body.find_last_of("}]"); ++size) {
      INFO("first " << size << " bytes");
      REQUIRE_FALSE(scan(scanner, row.type, {body.substr(0, size)}).is_complete);
    }
  }
}

}  // namespace
}  // namespace weir::usage
