#include "cli/one_line.hpp"

namespace weir::cli {

Result<std::string> read_one_line(std::istream& input, bool is_terminal) {
  std::string line;
  std::getline(input, line);
  if (line.empty()) return Problem{"standard input has no line, or an empty one; write the key"};
  if (!is_terminal && input.peek() != std::istream::traits_type::eof())
    return Problem{"standard input has more than one line; write one key"};
  return {boost::system::in_place_value, std::move(line)};
}

}  // namespace weir::cli
