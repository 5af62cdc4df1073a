#include "identity/parameters.hpp"

#include <initializer_list>
#include <string>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::identity {
namespace {

std::string decoded(std::string_view text) {
  PercentDecoder decoder{text};
  std::string out;
  while (!decoder.at_end())
    out += decoder.next();
  return out;
}

/// The result in a few characters: the count, the first and the last value, and a letter for
/// each flag.
std::string shown(const Occurrences& found) {
  std::string text = std::to_string(found.count);
  text.append(" ").append(found.first).append(" ").append(found.last);
  if (found.imitated) text += " imitated";
  if (found.divided) text += " divided";
  if (found.spaced) text += " spaced";
  if (found.crowded) text += " crowded";
  if (found.quoted) text += " quoted";
  return text;
}

std::string in_query(std::string_view query, std::string_view name = "k") {
  return shown(query_parameters(query, name));
}

std::string in_cookies(std::initializer_list<const char*> lines) {
  std::vector<http::FieldView> fields = http::fields_of({{"A", "k=0"}});
  for (const char* const line : lines)
    fields.push_back(http::fields_of({{"cookie", line}})[0]);
  http::RequestView request;
  request.fields = fields;
  return shown(cookies(request, "k"));
}

}  // namespace

TEST_CASE("an escape is decoded, \"+\" is a space, and an incomplete escape stands for itself") {
  CHECK(decoded("a%20b+c") == "a b c");
  CHECK(decoded("%41%7a%7E%30") == "Az~0");
  CHECK(decoded("%2B%25") == "+%");
  CHECK(decoded("%fF%00") == std::string("\xff\0", 2));
  CHECK(decoded("%") == "%");
  CHECK(decoded("%4") == "%4");
  CHECK(decoded("%4g%g4") == "%4g%g4");
  CHECK(decoded("%%41") == "%A");
}

TEST_CASE("the parameters of a name are counted, with the first and the last value") {
  CHECK(in_query("") == "0  ");
  CHECK(in_query("a=1&b=2") == "0  ");
  CHECK(in_query("k=1") == "1 1 1");
  CHECK(in_query("k=1&a=x&%6B=2%20") == "2 1 2%20");
  CHECK(in_query("&k&&k=a=b&") == "2  a=b");
  CHECK(in_query("kk=1&=k") == "0  ");
}

TEST_CASE("other names of a query that services read as this one are reported") {
  CHECK(in_query("K=1") == "0   imitated");
  CHECK(in_query("k[]=1") == "0   imitated");
  CHECK(in_query("k=1&%20k=2") == "1 1 1 imitated");
  CHECK(in_query("k=a]=b") == "1 a]=b a]=b imitated");
  CHECK(in_query("k=a%5D=b") == "1 a%5D=b a%5D=b imitated");
  CHECK(in_query("k=a=b%5d=") == "1 a=b%5d= a=b%5d= imitated");
  CHECK(in_query("k=a]b=") == "1 a]b= a]b=");
  CHECK(in_query("a=1;k=2") == "0   divided");
  CHECK(in_query("a=1;k=2", "l") == "0  ");
  CHECK(in_query("k=1;2") == "1 1;2 1;2 divided");
  CHECK(in_query("&a&[=1", "[") == "1 1 1");  // no name at all is not read as this one
}

TEST_CASE("more than 1000 parameters are a crowd, whatever their names") {
  std::string query;
  for (int i = 0; i < 999; ++i)
    query += "a&";
  CHECK(in_query(query + "k=1") == "1 1 1");
  CHECK(in_query(query + "&k=1") == "1 1 1 crowded");
}

TEST_CASE("the cookies of a name are counted over all Cookie lines") {
  CHECK(in_cookies({}) == "0  ");
  CHECK(in_cookies({"k=1"}) == "1 1 1");
  CHECK(in_cookies({"a=b; k=\"1\"", " k = 2 ;c"}) == "2 1 2");
  CHECK(in_cookies({"K=1; kk=2; k"}) == "1  ");
}

TEST_CASE("other names of cookies that services read as this one are reported") {
  CHECK(in_cookies({"%6b=1"}) == "0   imitated");
  CHECK(in_cookies({"k[]=1; k=2"}) == "1 2 2 imitated");
  CHECK(in_cookies({"a=1,k=2"}) == "0   divided");
  CHECK(in_cookies({"a=1 k=2"}) == "0   spaced");
  CHECK(in_cookies({"k=1 2"}) == "1 1 2 1 2 spaced");
  CHECK(in_cookies({"k=\"1 2\""}) == "1 1 2 1 2");
  CHECK(in_cookies({"k=1\"2"}) == "1 1\"2 1\"2 quoted");
  CHECK(in_cookies({"a=\"b", "k=1"}) == "1 1 1 quoted");
  CHECK(in_cookies({"a=\"b\"; k=1"}) == "1 1 1");
}

}  // namespace weir::identity
