// Runs the fuzz target that it is linked with once for each seed: NAME_fuzz PATH...
//
// Replaces libFuzzer's main() in builds without libFuzzer. A path is a seed or a directory of
// seeds. Each seed is printed before it runs, so the last one printed is the one that failed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Path = std::filesystem::path;

std::vector<Path> seeds_in(const Path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<Path> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    seeds.push_back(entry.path());
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

/// Returns false if the seed cannot be read.
bool run(const Path& seed) {
  std::printf("%s\n", seed.c_str());
  std::fflush(stdout);
  std::ifstream file(seed, std::ios::binary);
  if (!file) return false;
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  // A copy without spare capacity: AddressSanitizer reports a read beyond its end.
  const std::vector<std::uint8_t> input(content.begin(), content.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  std::size_t runs = 0;
  for (int i = 1; i < count; ++i) {
    for (const Path& seed : seeds_in(arguments[i])) {
      if (!run(seed)) return std::fprintf(stderr, "cannot read %s\n", seed.c_str()), 1;
      ++runs;
    }
  }
  if (runs == 0) return std::fprintf(stderr, "no seeds; usage: %s PATH...\n", arguments[0]), 2;
  std::printf("%zu seeds passed\n", runs);
  return 0;
}
