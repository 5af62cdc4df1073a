// Random JSON text with few names, so that pointers lead into it, against a real parser.
#include <random>

#include "catch.hpp"
#include "seed.hpp"
#include "unit/usage/oracle.hpp"
#include "unit/usage/scan.hpp"

namespace weir::usage {
namespace {

class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  std::string pointer() {
    std::string text;
    for (unsigned depth = 1 + below(2) * below(3); depth > 0; --depth) {
      text += '/';
      for (const char c : name())
        text += c == '/' ? "~1" : c == '~' ? "~0" : std::string(1, c);
    }
    return text;
  }

  std::string document() { return blanks() + (below(5) == 0 ? array(0) : object(0)) + blanks(); }

 private:
  static constexpr std::array<std::string_view, 8> names{"a", "b",   "0",        "1",
                                                         "",  "a/b", "\xc3\xa9", "~ab"};

  /// The first names are the most frequent.
  std::string_view name() { return names[below(2) * below(names.size() - 1) + below(2)]; }

  std::string blanks() {
    return below(4) == 0 ? std::string(1 + below(3), " \t\r"[below(3)]) : std::string();
  }

  std::string character(char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (static_cast<unsigned char>(c) >= 0x80 || below(6) != 0) return {c};
    return std::string("\\u00") + digits[static_cast<unsigned char>(c) / 16u] +
           digits[static_cast<unsigned char>(c) % 16u];
  }

  std::string key() {
    std::string text = "\"";
    for (const char c : name())
      text += character(c);
    return text + "\"" + blanks() + ":" + blanks();
  }

  std::string string() {
    constexpr std::array<std::string_view, 9> parts{
        "\\\"", "\\\\", "{", "]", "\"", "a\\n", "\\u00e9", "\\ud83d\\ude00", "text of some length"};
    std::string text = "\"";
    for (unsigned count = below(5); count > 0; --count) {
      const auto part = parts[below(parts.size())];
      if (part != "\"") text += part;
    }
    return text + "\"";
  }

  std::string number() {
    std::string text = below(8) == 0 ? "-" : "";
    text += std::to_string(below(3) == 0 ? random_() : below(100));
    if (below(6) == 0) text += "." + std::to_string(below(100));
    if (below(6) == 0) text += (below(2) == 0 ? "e" : "E+") + std::to_string(below(12));
    return text;
  }

  std::string value(unsigned depth) {
    switch (below(depth < 5 ? 10 : 6)) {
      case 0:
        return string();
      case 1:
        return below(2) == 0 ? "null" : "true";
      case 2:
      case 3:
      case 4:
      case 5:
        return number();
      case 6:
        return array(depth + 1);
      default:
        return object(depth + 1);
    }
  }

  std::string array(unsigned depth) {
    std::string text = "[" + blanks();
    for (unsigned i = 0, count = below(4); i < count; ++i)
      text += (i > 0 ? "," + blanks() : "") + value(depth) + blanks();
    return text + "]";
  }

  std::string object(unsigned depth) {
    std::string text = "{" + blanks();
    for (unsigned i = 0, count = below(8); i < count; ++i)
      text += (i > 0 ? "," + blanks() : "") + key() + value(depth) + blanks();
    return text + "}";
  }

  std::mt19937 random_;
};

/// Documents in each of the framings.
std::string framed(const std::vector<std::string>& documents, std::string_view type,
                   RandomText& random) {
  if (type == "application/json") return documents.front();
  std::string body;
  for (const std::string& document : documents) {
    const bool is_event = type == "text/event-stream";
    const std::string line_end = random.below(2) == 0 ? "\n" : "\r\n";
    if (is_event && random.below(3) == 0) body += ": ping" + line_end;
    body += (is_event ? "data: " : "") + document + line_end + (is_event ? line_end : "");
  }
  return body;
}

constexpr unsigned documents_read = history_length(40'000U);

TEST_CASE("random documents have the counts that a real parser finds, however they are divided") {
  constexpr unsigned seed = 20261123;
  int found_counts = 0;
  for (unsigned round = 0; round < documents_read; ++round) {
    INFO("seed " << seed + round);
    RandomText random(seed + round);
    const std::string_view type =
        std::array{"application/json", "application/jsonl", "text/event-stream"}[random.below(3)];
    std::vector<std::string> documents(type == "application/json" ? 1 : 1 + random.below(4));
    for (std::string& document : documents) {
      do {
        document = random.document();
      } while (type == "text/event-stream" && document.find('\r') != std::string::npos);
      REQUIRE(nlohmann::json::accept(document));
    }
    const std::string body = framed(documents, type, random);
    const std::vector<std::string> pointers{random.pointer(), random.pointer()};
    INFO(body << "\n" << pointers[0] << " " << pointers[1]);
    oracle::Counts counts(pointers);
    for (const std::string& document : documents)
      counts.read(document);
    auto expected = counts.sum({pointers[0]});
    if (!expected) expected = counts.sum({pointers[1]});
    if (expected) ++found_counts;
    const UsagePlan plan = plan_of(pointers);
    UsageScanner scanner(plan);
    const Found whole = scan(scanner, type, {body});
    REQUIRE(whole.cost == expected);
    REQUIRE(whole.is_complete);
    const std::size_t cut = body.empty() ? 0 : random.below(static_cast<unsigned>(body.size()));
    const std::string_view text = body;
    REQUIRE(scan(scanner, type, {text.substr(0, cut), text.substr(cut)}) == whole);
    REQUIRE(scan_bytes(scanner, type, text, 1 + random.below(9)) == whole);
  }
  CHECK(found_counts > static_cast<int>(documents_read / 8));
}

TEST_CASE("damaged documents give the same answer however they are divided") {
  const TestSeed seed;
  RandomText random(seed);
  constexpr std::string_view bytes = "{}[]\",:\\u0e-\n\r ";
  for (int round = 0; round < history_length(5'000); ++round) {
    std::string body = random.document() + random.document();
    for (unsigned changes = 1 + random.below(3); changes > 0; --changes)
      body[random.below(static_cast<unsigned>(body.size()))] =
          bytes[random.below(static_cast<unsigned>(bytes.size()))];
    const std::string_view type =
        std::array{"application/json", "application/jsonl", "text/event-stream"}[random.below(3)];
    if (type == "text/event-stream") body.insert(0, "data:");
    INFO(type << "\n" << body);
    const UsagePlan plan = plan_of({random.pointer(), random.pointer()});
    UsageScanner scanner(plan);
    const Found whole = scan(scanner, type, {body});
    REQUIRE(scan_bytes(scanner, type, body) == whole);
    REQUIRE(scan_bytes(scanner, type, body, 2 + random.below(9)) == whole);
  }
}

}  // namespace
}  // namespace weir::usage
