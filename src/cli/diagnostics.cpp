#include "cli/diagnostics.hpp"

namespace weir::cli {

void print_diagnostics(std::ostream& out, const std::string& file,
                       std::span<const config::Diagnostic> diagnostics, std::string_view label) {
  for (const auto& diagnostic : diagnostics) {
    out << file << ':';
    if (diagnostic.line > 0) out << diagnostic.line << ':' << diagnostic.column << ':';
    out << ' ' << label;
    if (!diagnostic.key_path.empty()) out << diagnostic.key_path << ": ";
    out << diagnostic.message << '\n';
  }
}

}  // namespace weir::cli
