#include "cli/cli.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "catch.hpp"

namespace {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

Outcome run_weir(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "weir");
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  const Captured out(std::cout);
  const Captured err(std::cerr);
  const int code = weir::cli::run(static_cast<int>(arguments.size()), argv.data());
  return {.code = code, .out = out.text(), .err = err.text()};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A configuration file for as long as the test runs.
class ConfigurationFile {
 public:
  explicit ConfigurationFile(const std::string& yaml) {
    std::string directory = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
    directory_ = ::mkdtemp(directory.data());
    std::ofstream(path()) << yaml;
  }
  ~ConfigurationFile() { std::filesystem::remove_all(directory_); }
  ConfigurationFile(const ConfigurationFile&) = delete;
  ConfigurationFile& operator=(const ConfigurationFile&) = delete;
  std::string path() const { return (directory_ / "weir.yaml").string(); }

 private:
  std::filesystem::path directory_;
};

constexpr auto good = R"(
upstreams:
  api: {servers: [{url: "http://127.0.0.1:3000"}]}
identities:
  api_key: {header: x-api-key}
policies:
  per_client: {algorithm: gcra, rate: 10/1s, burst: 20}
  per_key: {algorithm: sliding_window, rates: [100/1m, 1000/1h], mode: shadow}
routes:
  - name: search
    match: {host: api.example.com, path: /v1/**, methods: [GET, HEAD], headers: {x-beta: "1"}}
    upstream: api
    limits:
      - {policy: per_key, key: api_key, otherwise: client, cost: 5}
      - {policy: per_client, key: client}
  - match: {path: /}
    respond: {status: 200, body: "hello"}
)";

}  // namespace

TEST_CASE("weir prints its version") {
  for (const char* const argument : {"version", "--version"}) {
    const auto outcome = run_weir({argument});
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "weir " WEIR_VERSION "\n");
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("weir --help lists the commands") {
  const auto outcome = run_weir({"--help"});
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  for (const char* const command :
       {"serve", "proxy", "check", "explain", "hash", "health", "version", "help"}) {
    CHECK(contains(outcome.out, std::string("\n  ") + command + " "));
  }
}

TEST_CASE("every command has its help") {
  for (const char* const command :
       {"serve", "proxy", "check", "explain", "hash", "health", "version", "help"}) {
    const auto outcome = run_weir({command, "--help"});
    CAPTURE(command);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, std::string("weir ") + command));
    CHECK(outcome.err.empty());
  }
  CHECK(contains(run_weir({"serve", "--help"}).out, "/etc/weir/weir.yaml"));
  CHECK(contains(run_weir({"proxy", "--help"}).out, "127.0.0.1:8080"));
}

TEST_CASE("wrong usage is exit code 2, with a hint at the help") {
  const std::vector<std::vector<std::string>> rows{
      {},
      {"chek"},
      {"--verbose"},
      {"check"},
      {"check", "one", "two"},
      {"check", "--quiet", "one"},
      {"serve", "--config"},
      {"serve", "one", "two"},
      {"serve", "one", "--config", "two"},
      {"hash", "one"},
      {"help", "nonsense"},
      {"proxy"},
      {"proxy", "--to", "http://127.0.0.1:1"},
      {"proxy", "--limit", "1/s"},
      {"proxy", "--to", "http://127.0.0.1:1", "--limit", "1/s", "--burst", "many"},
      {"version", "now"},
      {"health", "now"},
      {"explain"},
      {"explain", "--config", "a"},
      {"explain", "http://a", "http://b"},
      {"check", "one", "serve"},
  };
  for (const auto& row : rows) {
    CAPTURE(row);
    const auto outcome = run_weir(row);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("weir: "));
    CHECK(contains(outcome.err, "--help`"));
  }
}

TEST_CASE("an empty option of weir proxy does not count as an absent one") {
  for (const std::string option : {"--redis", "--admin", "--burst"}) {
    const auto outcome = run_weir({"proxy", "--to", "http://a", "--limit", "1/s", option, ""});
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "weir: " + option +
                             ": it is empty: give it a value, or leave the option out\nTry `weir "
                             "proxy --help`.\n");
  }
}

TEST_CASE("an unknown argument is named, even if another one is missing") {
  CHECK(run_weir({"chek"}).err == "weir: unknown command \"chek\"\nTry `weir --help`.\n");
  CHECK(run_weir({"--verbose"}).err ==
        "weir: unexpected argument \"--verbose\"\nTry `weir --help`.\n");
  CHECK(run_weir({"--"}).err == "weir: A subcommand is required\nTry `weir --help`.\n");
  CHECK(run_weir({"proxy", "--too=http://user:secret@host"}).err ==
        "weir: unexpected argument \"--too\"\nTry `weir proxy --help`.\n");
  CHECK(run_weir({"proxy", "--to", "http://a", "redis://user:secret@host"}).err ==
        "weir: unexpected argument \"redis\"\nTry `weir proxy --help`.\n");
  CHECK(run_weir({"proxy", "--to", "http://a", "--limit", "1/s", "--burst=secret"}).err ==
        "weir: --burst: expected a whole number\nTry `weir proxy --help`.\n");
  CHECK(run_weir({"serve", "-tsecret"}).err ==
        "weir: unexpected argument \"-t\"\nTry `weir serve --help`.\n");
  const auto health = run_weir({"health", "--admin", "http://user:secret@127.0.0.1:1"}).err;
  CHECK(contains(health, "a user or password in the URL is not used; remove it\n"));
  CHECK_FALSE(contains(health, "secret"));
  CHECK(run_weir({"check", "--quiet"}).err ==
        "weir: unexpected argument \"--quiet\"\nTry `weir check --help`.\n");
  CHECK(run_weir({"check", "one", "two"}).err ==
        "weir: unexpected argument \"two\"\nTry `weir check --help`.\n");
}

TEST_CASE("weir check of a good file") {
  const ConfigurationFile file(good);
  const auto outcome = run_weir({"check", file.path()});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == file.path() + ": ok\n");
}

TEST_CASE("weir check --verbose prints what every route resolves to") {
  const ConfigurationFile file(good);
  const auto outcome = run_weir({"check", "--verbose", file.path()});
  CHECK(outcome.code == 0);
  CHECK(outcome.out ==
        file.path() +
            ": ok\n"
            "store memory: up to 1000000 keys\n"
            "route search: GET,HEAD host api.example.com path /v1/** header x-beta: 1\n"
            "  upstream api at 127.0.0.1:3000\n"
            "  limit per_key: sliding_window 100/1m + 1000/1h, 100 at once, shadow; "
            "key api_key (header x-api-key), otherwise client (client_address); cost 5\n"
            "  limit per_client: gcra 10/1s, 20 at once; key client (client_address); cost 1\n"
            "route /: any method path /\n"
            "  respond 200 text/plain, 5 bytes\n"
            "  no limits\n");
  const ConfigurationFile many(
      "upstreams: {a: {servers: [{url: \"https://b\", weight: 3}, {url: \"https://[::1]:8443\"}], "
      "balance: "
      "least_connections, tls: {verify: false}, health_check: {path: /up, interval: 2s}}}\n"
      "routes: [{upstream: a}]\n");
  CHECK(contains(run_weir({"check", "--verbose", many.path()}).out,
                 "  upstream a at https://b:443 weight 3, https://[::1]:8443; least_connections; "
                 "certificates are not verified; checks /up every 2s\n"));
  const ConfigurationFile decides("routes: [{decide: true}]\n");
  CHECK(contains(run_weir({"check", "--verbose", decides.path()}).out,
                 "  decide: 200, 429 or another status of its policies, for another proxy\n"));
}

TEST_CASE("weir check --verbose prints where use is shared, and never a password") {
  const ConfigurationFile file(
      "listen: [{address: \"127.0.0.1:0\"}]\n"
      "admin: off\n"
      "identity_secret: 0123456789abcdef0123456789abcdef\n"
      "store:\n"
      "  type: redis\n"
      "  redis: {url: \"redis://weir:s3cret@redis.example/2\", replicas: 4, timeout: 5ms}\n"
      "policies:\n"
      "  shared: {rate: 100/1m, burst: 8}\n"
      "  open: {rate: 1/s, on_failure: allow, headers: {x-b: b}}\n"
      "  shut: {rate: 1/s, on_failure: deny}\n"
      "routes:\n"
      "  - {match: {path: /}, respond: {status: 204, headers: {x-a: a, Link: b}},\n"
      "     limits: [{policy: shared}, {policy: open}, {policy: shut}]}\n");
  const auto outcome = run_weir({"check", "--verbose", file.path()});
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        file.path() +
            ": ok\n"
            "store redis at redis.example:6379 database 2: keys weir:*, a decision within 5ms, "
            "left alone for 1s after 5 failures, replicas 4\n"
            "route /: any method path /\n"
            "  respond 204 text/plain, 0 bytes, headers x-a, Link\n"
            "  limit shared: gcra 100/1m, 8 at once; key client (client_address); cost 1; "
            "while redis is down: local 25/1m, 2 at once\n"
            "  limit open: gcra 1/1s, 1 at once, denials with headers x-b; key client "
            "(client_address); cost 1; "
            "while redis is down: allow\n"
            "  limit shut: gcra 1/1s, 1 at once; key client (client_address); cost 1; "
            "while redis is down: deny\n");
  const ConfigurationFile automatic(
      "store: {type: redis, redis: {url: \"redis://r\", replicas: auto}}\n"
      "policies: {shared: {rate: 100/1m}}\n"
      "routes: [{respond: {}, limits: [{policy: shared}]}]\n");
  const std::string text = run_weir({"check", "--verbose", automatic.path()}).out;
  CHECK(contains(text, ", replicas auto\n"));
  CHECK(contains(text, "while redis is down: local, the quota divided by the instances\n"));
}

TEST_CASE("weir check prints a line for each problem") {
  const ConfigurationFile file(
      "routes:\n  - {match: {path: /}, respond: {status: 200}, bogus: 1}\nworkers: none\n");
  const auto outcome = run_weir({"check", file.path()});
  CHECK(outcome.code == 2);
  CHECK(outcome.err.empty());
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
  CHECK(outcome.out.starts_with(file.path() + ":2:"));
  CHECK(contains(outcome.out, "\n" + file.path() + ":3:"));
  CHECK_FALSE(contains(outcome.out, ": ok"));
}

TEST_CASE("weir check prints warnings on standard error and succeeds") {
  const ConfigurationFile file(std::string(good) + "admin: {address: \"0.0.0.0:9090\"}\n");
  const auto outcome = run_weir({"check", file.path()});
  CHECK(outcome.code == 0);
  CHECK(outcome.out == file.path() + ": ok\n");
  CHECK(contains(outcome.err, ": warning: admin.address: "));
}

TEST_CASE("a configuration that cannot be read or used is exit code 2") {
  const ConfigurationFile bad("routes: 5\n");
  const std::string missing = bad.path() + ".missing";
  CHECK(run_weir({"check", missing}).out.starts_with(missing + ": "));
  CHECK(run_weir({"check", missing}).code == 2);
  const auto served = run_weir({"serve", "--config", missing});
  CHECK(served.code == 2);
  CHECK(served.err.starts_with(missing + ": "));
  const auto refused = run_weir({"serve", "--config", bad.path()});
  CHECK(refused.code == 2);
  CHECK(refused.err.starts_with(bad.path() + ":1:"));
}

TEST_CASE("weir proxy reports problems with the names of its flags") {
  struct Row {
    std::vector<std::string> flags;
    std::string complaint;
  };
  const std::vector<Row> rows{
      {{"--to", "ftp://x", "--limit", "1/s"}, "weir proxy: --to: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "often"}, "weir proxy: --limit: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1\"}, x: {"}, "weir proxy: --limit: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--burst", "0"}, "weir proxy: --burst: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--key", "client"}, "weir proxy: --key: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--key", "header:"}, "weir proxy: --key: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--key", "header:a b"},
       "weir proxy: --key: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--listen", "8080"},
       "weir proxy: --listen: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--admin", "9090"},
       "weir proxy: --admin: "},
      {{"--to", "http://127.0.0.1:1", "--limit", "1/s", "--redis", "http://u:pass@x"},
       "weir proxy: --redis: expected a URL, such as redis://"},
  };
  for (const auto& row : rows) {
    auto arguments = row.flags;
    arguments.insert(arguments.begin(), "proxy");
    CAPTURE(arguments);
    const auto outcome = run_weir(arguments);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.starts_with(row.complaint));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
    CHECK(outcome.err.ends_with("\nTry `weir proxy --help`.\n"));
    CHECK(outcome.out.empty());
  }
}
