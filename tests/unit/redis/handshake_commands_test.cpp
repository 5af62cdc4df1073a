#include "redis/handshake_commands.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::redis;

namespace {

std::string said(const options::Redis& options, const std::vector<std::string>& scripts = {}) {
  std::string out;
  for (const auto& command : handshake_of(options, scripts))
    out += command.text;
  return out;
}

const std::string set_name = "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$4\r\nweir\r\n";

}  // namespace

TEST_CASE("a handshake sends the user, the database and the scripts") {
  options::Redis options;
  CHECK(said(options) == set_name);

  options.password = Secret("pa ss\r\n");
  CHECK(said(options) == "*2\r\n$4\r\nAUTH\r\n$7\r\npa ss\r\n\r\n" + set_name);

  options.user = "limits";
  options.database = 12;
  CHECK(said(options, {"return 1", "return 2"}) ==
        "*3\r\n$4\r\nAUTH\r\n$6\r\nlimits\r\n$7\r\npa ss\r\n\r\n" + set_name +
            "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n"
            "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 1\r\n"
            "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$8\r\nreturn 2\r\n");
}

TEST_CASE("a question by SHA becomes the same question by text") {
  const std::string sha(40, 'a');
  const std::string rest = "$1\r\n1\r\n$3\r\nkey\r\n$2\r\n\r\n\r\n";
  CHECK(as_eval("*5\r\n$7\r\nEVALSHA\r\n$40\r\n" + sha + "\r\n" + rest, "return 1") ==
        "*5\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n" + rest);
}

TEST_CASE("a SHA is 40 hex digits") {
  CHECK(is_sha(std::string(39, '0') + "f"));
  CHECK_FALSE(is_sha(std::string(39, '0')));
  CHECK_FALSE(is_sha(std::string(39, '0') + "F"));
  CHECK_FALSE(is_sha(""));
}
