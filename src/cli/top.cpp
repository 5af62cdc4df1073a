// `weir top`: the busiest and the most limited keys of a running instance, as a view of the
// terminal or printed once.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

#include "app/top_list.hpp"
#include "base/text.hpp"
#include "cli/admin_call.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cli/top_table.hpp"

namespace weir::cli {
namespace {

constexpr std::size_t most_top_keys = 1000;
constexpr Duration refresh_interval = std::chrono::seconds(1);
/// The lines of the view beside those of keys: the summary, the names of columns, the help.
constexpr std::size_t other_lines = 3;
constexpr std::string_view view_help = "r requests  d denied  e early retries  q quit";

struct TopArguments : AdminTarget {
  std::string by{app::key_event_names[0]};
  std::size_t n = 20;
  std::string policy;
  std::string route;
  bool once = false;
  bool json = false;
};

std::string top_target(const TopArguments& arguments, std::size_t most) {
  std::string target = "/v1/top?by=" + arguments.by + "&n=" + std::to_string(most);
  if (!arguments.policy.empty()) target += "&policy=" + percent_encoded(arguments.policy);
  if (!arguments.route.empty()) target += "&route=" + percent_encoded(arguments.route);
  return target;
}

int print_top(const TopArguments& arguments) {
  int code = succeeded;
  const auto reply =
      ask_admin_of(arguments, "top", {.target = top_target(arguments, arguments.n)}, code);
  if (!reply) return code;
  const auto table = read_top_table(reply->body);
  if (!table) return reject_answer(arguments, "top");
  if (arguments.json) {
    std::cout << reply->body;
    return succeeded;
  }
  std::cout << table->summary << '\n';
  for (const std::string& line : lines_of(*table))
    std::cout << line << '\n';
  return succeeded;
}

/// Empty: the character has no meaning.
std::string_view event_of(char character) {
  const auto event = std::ranges::find(app::key_event_names, character,
                                       [](std::string_view name) { return name.front(); });
  return event == app::key_event_names.end() ? std::string_view() : *event;
}

bool has_meaning(const TerminalEvent& event) {
  using Kind = TerminalEvent::Kind;
  if (event.kind == Kind::key) return event.character == 'q' || !event_of(event.character).empty();
  return event.kind != Kind::nothing;
}

/// The view of the terminal. Keeps the latest table while the instance cannot be reached.
class TopView {
 public:
  TopView(TopArguments& arguments, Terminal& terminal)
      : arguments_(arguments), terminal_(terminal) {}

  /// Asks for the list, and shows it. Returns the event that came before the answer, which ends the
  /// request; `nothing`: none did.
  TerminalEvent refresh() {
    const std::size_t height = terminal_.height();
    const std::size_t rows = height > other_lines ? height - other_lines : 1;
    TerminalEvent event;
    int code = succeeded;
    const auto reply = call_admin(arguments_,
                                  {.target = top_target(arguments_, std::min(rows, most_top_keys)),
                                   .gives_up =
                                       [&] {
                                         event = terminal_.wait(Duration{0});
                                         return has_meaning(event);
                                       }},
                                  code);
    if (has_meaning(event)) return event;
    problem_ = reply ? std::string() : reply.error().message;
    if (reply) {
      if (auto table = read_top_table(reply->body)) {
        table_ = *std::move(table);
        by_ = arguments_.by;
      } else {
        problem_ = arguments_.url + ": the answer is not one of Weir's admin server";
      }
    }
    show();
    return {};
  }

  /// Sorts by the event whose name begins with this character. Returns false if there is none.
  bool sort_by(char character) {
    const auto event = event_of(character);
    if (event.empty()) return false;
    arguments_.by = event;
    return true;
  }

  /// Shows the latest list, whose order is that of its request.
  void show() const {
    std::vector<TerminalLine> lines;
    lines.push_back({.text = "weir top by " + by_ + ", " + table_.summary});
    for (std::string& line : lines_of(table_, terminal_.width()))
      lines.push_back({.text = std::move(line), .is_highlighted = lines.size() == 1});
    const std::size_t height = terminal_.height();
    if (height > 0) {
      lines.resize(height - 1);
      lines.push_back({.text = problem_.empty() ? std::string(view_help) : problem_});
    }
    terminal_.show(lines);
  }

 private:
  TopArguments& arguments_;
  Terminal& terminal_;
  TopTable table_;
  std::string by_{arguments_.by};  ///< the order of the table
  std::string problem_;
};

/// Returns when the user quits, or a signal arrives.
void run_view(TopView& view, Terminal& terminal) {
  using Kind = TerminalEvent::Kind;
  using Clock = std::chrono::steady_clock;
  auto due = Clock::now();
  TerminalEvent event;
  while (event.kind != Kind::ended && (event.kind != Kind::key || event.character != 'q')) {
    const bool is_sorted = event.kind == Kind::key && view.sort_by(event.character);
    if (event.kind == Kind::resized) view.show();
    const auto now = Clock::now();
    if (is_sorted || event.kind == Kind::resized || now >= due) {
      event = view.refresh();
      due = Clock::now() + refresh_interval;
    } else {
      event = terminal.wait(std::chrono::duration_cast<Duration>(due - now) + Duration{1'000});
    }
  }
}

int show_top(TopArguments& arguments) {
  // A wrong address, token or parameter is an error of the command, and not a line of the view.
  int code = succeeded;
  if (!ask_admin_of(arguments, "top", {.target = top_target(arguments, 1)}, code)) return code;
  {
    const auto terminal = Terminal::open();
    if (!terminal) return refuse("top", terminal.error().message);
    TopView view(arguments, **terminal);
    run_view(view, **terminal);
  }
  // The terminal is restored. The caller sees the signal, as if nothing had handled it.
  if (const int signal = Terminal::signal(); signal != 0) std::raise(signal);
  return succeeded;
}

std::string check_event(const std::string& name) {
  const bool is_known = std::ranges::find(app::key_event_names, name) != app::key_event_names.end();
  return is_known ? std::string() : "expected requests, denied or early_retries";
}

std::string check_count(const std::string& text) {
  const auto count = parse_number<std::size_t>(text);
  return count && *count >= 1 && *count <= most_top_keys
             ? std::string()
             : "expected a whole number from 1 to " + std::to_string(most_top_keys);
}

}  // namespace

void add_top(CLI::App& root, Action& chosen) {
  auto* const command =
      root.add_subcommand("top", "Show the busiest and the most limited keys while Weir runs");
  const auto arguments = std::make_shared<TopArguments>();
  add_admin_target(*command, *arguments, "The admin server: http://HOST:PORT or unix:/path")
      .capture_default_str();
  command->add_option("--by", arguments->by, "The order: requests, denied or early_retries")
      ->check(check_event)
      ->type_name("EVENT")
      ->capture_default_str();
  command->add_option("-n", arguments->n, "The number of keys that --once and --json print")
      ->check(check_count)
      ->type_name("COUNT")
      ->capture_default_str();
  command->add_option("--policy", arguments->policy, "Only keys of this policy")->type_name("NAME");
  command->add_option("--route", arguments->route, "Only keys on this route")->type_name("NAME");
  command->add_flag("--once", arguments->once, "Print the list once, for scripts");
  command->add_flag("--json", arguments->json, "Print the answer of the admin server once");
  command->footer(
      "Refreshes once a second. Keys: r, d and e sort by requests, denied and early retries, q\n"
      "quits. Shows the keyed hash of each key, as the access log does, and never a key. Counts\n"
      "are never too low, and too high by at most +/-. <=N is a bound: the key is not counted.\n"
      "In a narrow terminal names are cut, and columns left out, so that KEY can be copied.");
  command->callback([&chosen, arguments] {
    chosen = [arguments] {
      return arguments->once || arguments->json ? print_top(*arguments) : show_top(*arguments);
    };
  });
}

}  // namespace weir::cli
