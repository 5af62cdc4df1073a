#include "cli/cli.hpp"

int main(int argc, char** argv) {
  return weir::cli::run(argc, argv);
}
