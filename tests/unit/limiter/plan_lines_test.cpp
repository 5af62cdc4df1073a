// Files of plans, and the table of their lines.
#include "limiter/plan_lines.hpp"

#include <string>

#include "catch.hpp"

namespace weir::limiter {
namespace {

constexpr SipKey key{.k0 = 1, .k1 = 2};
const identity::ClientAddressOptions client;

Plans plans() {
  Plans made;
  made.names = {"free", "gold", "#1 plan", "a#b"};
  made.index_names();
  return made;
}

PlanLines parse(std::string_view text, identity::Source source = {identity::FromHeader{"x-key"}}) {
  const Plans known = plans();
  const identity::Definition identity{.name = "who", .source = std::move(source)};
  return parse_plan_lines(
      text, {.plans = known, .identity = identity, .values = {.client = client}, .key = key});
}

std::optional<std::uint16_t> plan_of(const PlanLines& lines, std::string_view value) {
  const auto keys =
      identity::keys_of({identity::FromHeader{"x-key"}}, value, {.client = client}, key);
  return lines.table.find(keys.at(0));
}

using Findings = std::vector<PlanLines::Finding>;

}  // namespace

TEST_CASE("a line has an identity, a TAB and a plan") {
  const PlanLines lines = parse(
      "\xef\xbb\xbf"
      "first\tgold\r\n"
      "# comment\tgold\n"
      "  # another\n"
      "\n \t \r\n"
      "two words\tfree   # comment\n"
      "  blanks \t  gold  \n"
      "x#y\ta#b\n"
      "many\t\t\tgold\n"
      "last\tgold");
  CHECK(lines.problems == Findings{});
  CHECK(lines.unknown == Findings{});
  CHECK(lines.table.size() == 6);
  CHECK(plan_of(lines, "first") == 1);
  CHECK(plan_of(lines, "two words") == 0);
  CHECK(plan_of(lines, "blanks") == 1);
  CHECK(plan_of(lines, "x#y") == 3);
  CHECK(plan_of(lines, "many") == 1);
  CHECK(plan_of(lines, "last") == 1);
  CHECK_FALSE(plan_of(lines, "# comment"));
  CHECK(parse("").table.size() == 0);
  CHECK_FALSE(plan_of(parse(""), "first"));
}

TEST_CASE("a hash stands for its identity") {
  const Hash128 hash =
      identity::keys_of({identity::FromHeader{"x-key"}}, "secret", {.client = client}, key).at(0);
  std::string text = "hash:";
  append_hex(text, hash);
  CHECK(plan_of(parse(text + "\tgold"), "secret") == 1);
  for (char& c : text.replace(0, 5, ""))
    c = static_cast<char>(std::toupper(c));
  CHECK(plan_of(parse("hash:" + text + "\tgold"), "secret") == 1);
}

TEST_CASE("a wrong line is reported with its number and without its identity") {
  struct Row {
    const char* text;
    PlanLines::Finding finding;
  };
  const auto row = GENERATE(values<Row>({
      {"a\tgold\ns3cr3t gold\n", {2, "expected an identity, a TAB and the name of a plan"}},
      {"\tgold\n", {1, "the identity before the TAB is missing"}},
      {"s3cr3t\t\n", {1, "the name of a plan after the TAB is missing"}},
      {"s3cr3t\t # gold\n", {1, "the name of a plan after the TAB is missing"}},
      {"hash:12\tgold\n", {1, "expected 32 hexadecimal digits after hash:, as in the access log"}},
      {"hash:-000000000000000000000000000000\tgold\n",
       {1, "expected 32 hexadecimal digits after hash:, as in the access log"}},
      {"hash:000000000000000g0000000000000000\tgold\n",
       {1, "expected 32 hexadecimal digits after hash:, as in the access log"}},
      {"s3cr3t\tgold\n\ns3cr3t\tfree\n",
       {3, "an earlier line has another plan for this identity; keep one of them"}},
  }));
  CAPTURE(row.text);
  CHECK(parse(row.text).problems == Findings{row.finding});
}

TEST_CASE("the same line twice is no problem, and a few problems are kept") {
  CHECK(parse("a\tgold\na\tgold\n").problems == Findings{});
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "x\n";
  const PlanLines lines = parse(text);
  CHECK(lines.problems.size() == 10);
  CHECK(lines.omitted == 20);
}

TEST_CASE("an unknown plan is found and means the default") {
  const PlanLines lines = parse("a\tplatinum\nb\tgold\nc\tx\"\x80\n");
  CHECK(lines.problems == Findings{});
  CHECK(lines.unknown == Findings{{1, "no plan is called \"platinum\", so the default counts"},
                                  {3, "no plan is called \"x??\", so the default counts"}});
  CHECK(plan_of(lines, "a") == PlanTable::unknown);
  CHECK(plan_of(lines, "b") == 1);
}

TEST_CASE("an identity of several values needs its hash") {
  const identity::Source header{identity::FromHeader{"x-key"}};
  const identity::Source query{identity::FromQuery{"key"}};
  const identity::Source both{identity::AllOf{{header, query}}};
  const Findings needs_hash{
      {1, "the identity who combines several values; write hash: and the hash of the access log"}};
  CHECK(parse("a\tgold", both).problems == needs_hash);
  CHECK(parse("a\tgold", {identity::AnyOf{{header, both}}}).problems == needs_hash);
  const std::string hash = "hash:00112233445566778899aabbccddeeff\tgold";
  CHECK(parse(hash, both).table.size() == 1);
  // Either source may have the value.
  CHECK(parse("a\tgold", {identity::AnyOf{{header, query}}}).table.size() == 2);
  CHECK(parse("nobody\tgold", {identity::FromClientAddress{}}).problems ==
        Findings{{1, "no request has this value of the identity who; correct or remove it"}});
  // One of the sources may have it.
  CHECK(parse("nobody\tgold", {identity::AnyOf{{header, {identity::FromClientAddress{}}}}})
            .table.size() == 1);
}

}  // namespace weir::limiter
