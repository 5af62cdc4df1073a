// A secret reaches its setting, and never a message.
#include <array>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "config/files.hpp"
#include "unit/config/files.hpp"

namespace weir::config {
namespace {

using test::Files;
using test::must_load;
using test::problems_of;

constexpr std::string_view marker = "MARKER-7f3a";

std::string token_of(const std::string& value, const Environment& environment) {
  return must_load("admin: {token: " + value + "}\n" + test::route_tail, environment)
      ->admin->token.reveal();
}

TEST_CASE("a secret is text, a variable or a file") {
  const Files directory;
  directory.write("token", "from-file\n");
  directory.write("bare", "no-newline");
  const Environment in =
      directory.environment({{"TOKEN", "from-variable"}, {"PLACE", "file:token"}});
  CHECK(token_of("plain", in) == "plain");
  CHECK(token_of("${TOKEN}", in) == "from-variable");
  CHECK(token_of("file:token", in) == "from-file");
  CHECK(token_of("file:bare", in) == "no-newline");
  CHECK(token_of("\"file:" + directory.path("token") + "\"", in) == "from-file");
  CHECK(token_of("${PLACE}", in) == "from-file");
  CHECK(token_of("${NONE:-}", in).empty());
}

TEST_CASE("the content of a variable is not shown if it is used as the name of a file") {
  const std::string secret(marker);
  const Environment in = test::environment({{"KEY", secret}}, "/etc");
  const std::string upstream =
      "upstreams: {a: {servers: [{url: \"https://b\"}], tls: {ca: \"x${KEY}\"}}}\n";
  const std::string found = problems_of(
      "listen: [{address: a:1, tls: {certificate: \"${KEY}\", private_key: \"/${KEY}\"}}]\n"
      "admin: {token: \"file:${KEY}\"}\n"
      "store: {type: redis, url: \"rediss://c\", tls: {ca: \"${KEY}\"}}\n" +
          upstream + test::route_tail,
      in);
  CHECK(found.find(marker) == std::string::npos);
  for (const char* const written :
       {"certificate: cannot use file \"${KEY}\"", "private_key: cannot use file \"/${KEY}\"",
        "token: cannot read file \"file:${KEY}\"", "ca: cannot use file \"x${KEY}\""}) {
    CAPTURE(found, written);
    CHECK(found.find(written) != std::string::npos);
  }
}

TEST_CASE("a key in the place of its file's name is not shown") {
  const std::string pem = "-----BEGIN PRIVATE KEY-----\n" + std::string(marker) + "\n";
  const Environment in = test::environment({{"KEY", pem}}, "/etc");
  const std::string text =
      "  " + pem.substr(0, pem.find('\n')) + "\n      " + std::string(marker) + "\n";
  for (const std::string& key : {std::string(" \"${KEY}\"\n"), "|\n    " + text}) {
    CAPTURE(key);
    const std::string found = problems_of(
        "listen:\n- address: a:1\n  tls:\n    certificate: gone\n"
        "    private_key: " +
            key + test::route_tail,
        in);
    CHECK(
        found.find("listen[0].tls.private_key: this is the content of such a file; write the name "
                   "of the file\n") != std::string::npos);
    CHECK(found.find(marker) == std::string::npos);
  }
}

TEST_CASE("a secret file that cannot be read is named") {
  const Files directory;
  directory.write("empty", "\n");
  directory.write("large", std::string(64 * 1024 + 1, 'x'));
  const Environment in = directory.environment();
  const auto problem = [&](const std::string& file) {
    return problems_of("admin: {token: \"file:" + file + "\"}\n" + test::route_tail, in);
  };
  CHECK(problem("missing").find("1:16: admin.token: cannot read file \"") == 0);
  CHECK(problem("missing").find("missing\": No such file") != std::string::npos);
  CHECK(problem("empty").find("it is empty") != std::string::npos);
  CHECK(problem("large").find("larger than 65536 bytes") != std::string::npos);
  CHECK(problem(".").find("it is a directory") != std::string::npos);
}

TEST_CASE("a secret is read from a pipe, if it has a writer") {
  const Files directory;
  const std::string fifo = directory.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto none = read_secret_file(fifo, Patience(10));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().message.ends_with("fifo\": neither data nor its end arrived within 10 ms"));

  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  REQUIRE(::write(ends[1], "secret\n", 7) == 7);
  ::close(ends[1]);
  const auto secret = read_secret_file("/dev/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  REQUIRE(secret.has_value());
  CHECK(secret->reveal() == "secret");
}

TEST_CASE("no message contains a secret, whatever else is wrong") {
  const Files directory;
  directory.write("secret", std::string(marker) + " \x01\n");
  const Environment in = directory.environment({{"SECRET", std::string(marker) + "\n:["}});
  const std::string m(marker);
  const std::string values[] = {
      m,
      "\"" + m + " with spaces\"",
      "\"" + m + "\\n\"",
      "[" + m + "]",
      "{a: " + m + "}",
      "${SECRET}",
      "\"${SECRET}${GONE}\"",
      "\"" + m + "${\"",
      "\"" + m + "${GONE}\"",
      "file:secret",
      "*" + m,
      "&" + m + " x",
      "!" + m + " x",
      "\"" + m,
      "'" + m + "\n",
      "\"" + m + "\\q\"",
      m + ": x",
      "@" + m,
  };
  const std::string places[] = {
      "admin: {token: VALUE}\n",
      "admin:\n  token: VALUE\n  adress: x\n",
      "identity_secret: VALUE\n",
      "admin: {token: VALUE, token: VALUE}\n",
      "store: {redis: {url: VALUE}}\n",
      "store: {type: redis, redis: {url: \"redis://u:" + m + "@h:x\", tls: {ca: none}}}\n",
      "store: {type: redis, redis: {url: \"redis://u:" + m + "/@h\"}}\n",
      "store: {redis: {url: \"redis://u:" + m + "%2@h\"}}\n",
      "store: {redis: {url: \"rediss://u:" + m + "@h\"}}\n",
      "store: {redis: {url: \"unix://u:" + m + "@h\"}}\n",
      "upstreams: {a: {servers: [{url: \"http://u:" + m + "@h\"}]}}\n",
  };
  for (const std::string& place : places) {
    for (const std::string& value : values) {
      std::string yaml = place;
      for (std::size_t at = 0; (at = yaml.find("VALUE")) != std::string::npos;)
        yaml.replace(at, 5, value);
      yaml += "workers: wrong\nunknown: 1\nroutes: [{}]\n";
      const std::string problems = problems_of(yaml, in);
      CAPTURE(yaml, problems);
      CHECK_FALSE(problems.empty());
      CHECK(problems.find(marker) == std::string::npos);
    }
  }
}

TEST_CASE("no message shows the content of a variable, in any key") {
  const Environment in = test::environment({{"SECRET", std::string(marker) + " \n"}});
  for (const std::string key :
       {"workers: V", "shutdown_timeout: V", "retry_after: V", "listen: [{address: V}]",
        "downstream: {max_head: V}", "access_log: {sample: V}",
        "client_address: {trusted_proxies: [V], header: V}", "identities: {a: {header: V}}",
        "policies: {p: {rate: V, algorithm: V, burst: V, mode: V}}",
        "policies: {p: {algorithm: attributed_window, rate: 1/s, attributes: [V, \"identity:V\", "
        "\"header:V\"]}}",
        "upstreams: {a: {servers: [{url: V}]}}"}) {
    std::string yaml = key;
    for (std::size_t at = 0; (at = yaml.find('V', at)) != std::string::npos; at += 12)
      yaml.replace(at, 1, "\"${SECRET}\"");
    for (std::size_t at = 0; (at = yaml.find(":\"${SECRET}\"\"")) != std::string::npos;)
      yaml.replace(at, 13, ":${SECRET}\"");
    const std::string problems = problems_of(yaml + "\nroutes: [{}]\n", in);
    CAPTURE(yaml, problems);
    CHECK(problems.find("routes[0]") != std::string::npos);
    CHECK(std::count(problems.begin(), problems.end(), '\n') > 1);
    CHECK(problems.find(marker) == std::string::npos);
  }
  const std::string routes =
      "routes: [{name: V, upstream: V, match: {host: V, path: V, methods: [V], headers: {a: V}},"
      " respond: {status: V, content_type: V}, limits: [{policy: V, key: V, cost: V}]}]\n";
  std::string yaml = routes;
  for (std::size_t at = 0; (at = yaml.find('V', at)) != std::string::npos; at += 12)
    yaml.replace(at, 1, "\"${SECRET}\"");
  const std::string problems = problems_of(yaml, in);
  CAPTURE(problems);
  CHECK(std::count(problems.begin(), problems.end(), '\n') >= 9);
  CHECK(problems.find(marker) == std::string::npos);
}

TEST_CASE("a file is loaded with its own directory and the environment of the process") {
  const Files directory;
  directory.write("weir.yaml", "admin: {token: file:token}\n" + test::route_tail);
  directory.write("token", "t\n");
  const Loaded loaded = load_file(directory.path("weir.yaml"));
  REQUIRE(loaded.has_value());
  CHECK((*loaded)->admin->token.reveal() == "t");
  CHECK((*loaded)->workers >= 1);

  const Loaded missing = load_file(directory.path("none.yaml"));
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error()[0].to_string().find("cannot read the file: ") == 0);
}

}  // namespace
}  // namespace weir::config
