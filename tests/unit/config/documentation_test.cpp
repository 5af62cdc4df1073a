// The YAML of the documents: every block loads, or shows exactly the problems that are printed
// below it. A block without upstreams, policies or routes is a part of a file and is completed
// here.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "config/limit_file.hpp"
#include "source_directory.hpp"
#include "unit/config/files.hpp"
#include "unit/config/loading.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::config {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ostringstream content;
  content << std::ifstream(file).rdbuf();
  return content.str();
}

struct Example {
  std::string file;
  std::string kind;  ///< what follows "yaml" on the line of the fence; empty for files of Weir
  std::string text;
};

/// The fenced blocks of YAML.
std::vector<Example> examples_in(const fs::path& file) {
  const std::string fence = "```yaml";
  const std::string text = content_of(file);
  std::vector<Example> examples;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    const std::size_t begin = text.find('\n', at) + 1;
    const std::size_t end = text.find("```", begin);
    const std::size_t kind = text.find_first_not_of(' ', at);
    examples.push_back(
        {file.filename(), text.substr(kind, begin - 1 - kind), text.substr(begin, end - begin)});
    at = end;
  }
  return examples;
}

std::vector<fs::path> documents() {
  const fs::path root = WEIR_SOURCE_DIR;
  std::vector<fs::path> files{root / "README.md", root / "CONTRIBUTING.md",
                              root / "deploy" / "README.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

bool has_section(const std::string& yaml, const std::string& name) {
  return ("\n" + yaml).find("\n" + name + ":") != std::string::npos;
}

bool is_whole(const std::string& yaml) {
  return has_section(yaml, "routes") && has_section(yaml, "upstreams");
}

/// The part with the sections that it refers to.
std::string completed(std::string yaml) {
  if (!has_section(yaml, "upstreams"))
    yaml += "upstreams: {api: {servers: [{url: \"http://127.0.0.1:3000\"}]}}\n";
  if (!has_section(yaml, "policies"))
    yaml += "policies: {per_client: {algorithm: gcra, rate: 10/1s}}\n";
  if (!has_section(yaml, "routes")) yaml += "routes: [{upstream: api}]\n";
  return yaml;
}

/// The fenced block that follows `intro`.
std::string block_after(const std::string& text, const std::string& intro) {
  const std::size_t fence = text.find("```", text.find(intro));
  const std::size_t begin = text.find('\n', fence) + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST_CASE("the documented problems are the ones the documented file has") {
  const std::string text = content_of(WEIR_SOURCE_DIR "/docs/configuration.md");
  const std::string yaml = block_after(text, "how to fix it. This file");
  REQUIRE(yaml.starts_with("listen:"));
  std::istringstream problems(test::problems_of(yaml));
  std::string shown;
  for (std::string line; std::getline(problems, line);) {
    shown += "weir.yaml:" + line + "\n";
  }
  CHECK(block_after(text, "is answered with") == shown);
}

TEST_CASE("every example of the documents loads, and whole files do without a warning") {
  const test::Files files;
  files.write("weir_admin_token", "an-admin-token-of-32-characters..");
  files.write("weir_identity_secret", "a secret of more than 32 characters");
  files.write("weir_redis_url", "redis://weir:PASSWORD@redis:6379/0");
  files.write("weir_sentinel_password", "another secret");
  files.write("weir_webhook_url", "https://alerts.example/hooks/TOKEN");
  files.write("weir_webhook_token", "Bearer TOKEN");
  files.write("crawlers.txt", "192.0.2.0/24\n");
  fs::create_directory(files.path("ratelimit"));
  files.write("ratelimit/edge.yaml", "domain: edge\n");
  files.write("plans.tsv", "acme\tgold\n");
  files.write("jwks.json", R"({"keys": [{"kty": "EC", "crv": "P-256", "kid": "1",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})");  // RFC 7515, appendix A.3.1
  for (const std::string name : {"example.com", "example.org"}) {
    const tls::test::MadeCertificate made(name);
    files.write(name + ".pem", content_of(made.files().certificate));
    files.write(name + ".key", content_of(made.files().private_key));
  }
  const Environment in =
      files.environment({{"WEIR_IDENTITY_SECRET", "a secret of more than 32 characters"},
                         {"WEIR_ADMIN_TOKEN", "an-admin-token-of-32-characters.."}});
  const std::string secrets = "file:/run/secrets/";
  std::size_t whole = 0;
  for (const fs::path& document : documents()) {
    for (Example& example : examples_in(document)) {
      if (!example.kind.empty()) continue;
      CAPTURE(example.file, example.text);
      for (auto at = example.text.find(secrets); at != std::string::npos;
           at = example.text.find(secrets))
        example.text.replace(at, secrets.size(), "file:");
      CHECK(test::problems_of(completed(example.text), in) == "");
      if (!is_whole(example.text)) continue;
      ++whole;
      if (const Loaded loaded = load_text(example.text, in)) {
        for (const Diagnostic& warning : (*loaded)->presentation.warnings)
          FAIL_CHECK(warning.to_string());
      }
    }
  }
  CHECK(whole >= 12);
}

TEST_CASE("examples that are no files of Weir are marked") {
  const std::set<std::string> kinds{"",         "faulty", "kubernetes", "prometheus",
                                    "scenario", "limits", "envoy"};
  for (const fs::path& document : documents()) {
    for (const Example& example : examples_in(document)) {
      CAPTURE(example.file, example.text);
      CHECK(kinds.contains(example.kind));
      if (example.kind == "limits") CHECK(parse_limit_file(example.text).problems.empty());
    }
  }
}

}  // namespace
}  // namespace weir::config
