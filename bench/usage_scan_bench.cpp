// The time to scan bodies for usage, in microseconds per KiB: the best of many short runs, so that
// other work on the machine matters less.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "usage/usage_scanner.hpp"

namespace weir::bench {
namespace {

using namespace usage;

struct Body {
  const char* name;
  const char* type;
  std::string text;
};

std::string repeated(int times, std::string_view text, std::string_view separator = "") {
  std::string all;
  for (int i = 0; i < times; ++i)
    all.append(i == 0 ? "" : separator).append(text);
  return all;
}

std::string object_of_numbers(int members) {
  std::string text = "{";
  for (int i = 0; i < members; ++i)
    text.append("\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",");
  return text + R"("usage":{"total_tokens":29}})";
}

std::vector<Body> bodies() {
  const std::string usage = R"("usage":{"prompt_tokens":19,"total_tokens":29}})";
  const std::string text = R"(The quick brown fox jumps over the lazy dog.\nIt said \"hello\". )";
  const std::string chunk =
      R"(data: {"id":"chatcmpl-9xYbJ3","object":"chat.completion.chunk","created":1741569952,)"
      R"("model":"gpt-4.1-2025-04-14","service_tier":"default",)"
      R"("system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":" Hello"},)"
      R"("logprobs":null,"finish_reason":null}],"usage":null})"
      "\n\n";
  const std::string probability =
      R"({"token":"Hello","logprob":-0.3172,"bytes":[72,101,108,108,111],)"
      R"("top_logprobs":[{"token":"Hi","logprob":-1.3,"bytes":[72,105]}]})";
  return {
      {"chat completion", "application/json",
       R"({"id":"chatcmpl-9xYbJ3","choices":[{"index":0,"message":{"content":")" +
           repeated(60, text) + R"("}}],)" + usage},
      {"chat stream", "text/event-stream",
       repeated(400, chunk) + "data: {\"choices\":[]," + usage + "\n\ndata: [DONE]\n\n"},
      {"embedding", "application/json",
       R"({"data":[{"embedding":[)" + repeated(3072, "-0.0123456789", ",") + "]}]," + usage},
      {"log probabilities", "application/json",
       R"({"choices":[{"logprobs":{"content":[)" + repeated(500, probability, ",") + "]}}]," +
           usage},
      {"object of numbers", "application/json", object_of_numbers(1000)},
  };
}

UsagePlan plan() {
  const auto pointer = [](std::string_view text) { return JsonPointer::parse(text).value(); };
  const std::vector<UsageSource> sources{
      {.field = "x-usage-tokens"},
      {.pointers = {pointer("/usage/total_tokens")}},
      {.pointers = {pointer("/usage/input_tokens"), pointer("/usage/output_tokens")}}};
  return UsagePlan::compile(sources).value();
}

/// Scans the body in pieces; false if its usage was not found.
bool scan(UsageScanner& scanner, const Body& body, std::size_t piece_size) {
  scanner.begin(body.type, "");
  for (std::size_t at = 0; at < body.text.size(); at += piece_size)
    scanner.feed(std::string_view(body.text).substr(at, piece_size));
  return scanner.finish(BodyEnd::complete).cost == 29;
}

/// Returns the microseconds per KiB, or -1 if the usage was not found.
double best_time(UsageScanner& scanner, const Body& body, std::size_t piece_size) {
  double best = 1e9;
  for (int run = 0; run < 500; ++run) {
    std::size_t scanned = 0;
    const auto start = std::chrono::steady_clock::now();
    for (; scanned < 128UL * 1024; scanned += body.text.size()) {
      if (!scan(scanner, body, piece_size)) return -1;
    }
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() * 1024 / static_cast<double>(scanned));
  }
  return best;
}

}  // namespace
}  // namespace weir::bench

int main() {
  using namespace weir::bench;
  const auto compiled = plan();
  weir::usage::UsageScanner scanner(compiled);
  std::printf("us/KiB               bytes   pieces of 16 KiB   of 1 KiB\n");
  for (const Body& body : bodies())
    std::printf("%-18s %7zu   %16.3f   %8.3f\n", body.name, body.text.size(),
                best_time(scanner, body, 16384), best_time(scanner, body, 1024));
  return 0;
}
