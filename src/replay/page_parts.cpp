#include "replay/page_parts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "status/tables.hpp"

namespace weir::replay {
namespace {

/// The height of a chart, and the width of a group of bars, in units of its own.
constexpr double chart_height = 100;
constexpr double group_width = 10;

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

void append_rect(std::string& out, std::string_view style, double x, double width, double height) {
  out.append("<rect class=\"").append(style).append("\" x=\"").append(decimal(x));
  out.append("\" y=\"").append(decimal(chart_height - height)).append("\" width=\"");
  out.append(decimal(width)).append("\" height=\"").append(decimal(height)).append("\"/>");
}

/// A share that is not 0 is visible.
double height_of(double share) {
  constexpr double least = 0.8;
  return share <= 0 ? 0 : std::max(least, std::min(share, 1.0) * chart_height);
}

bool is_bar(const PageCell& cell) {
  return cell.kind == PageCell::Kind::denied_bar || cell.kind == PageCell::Kind::keys_bar;
}

void append_cell(std::string& out, const PageCell& cell) {
  using enum PageCell::Kind;
  out += cell.kind == text  ? "<td class=\"text\">"
         : cell.kind == key ? "<td class=\"text key\">"
                            : "<td>";
  if (is_bar(cell)) {
    out.append("<svg viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    out.append("<rect class=\"").append(cell.kind == keys_bar ? "keys" : "denied");
    out.append("\" width=\"").append(decimal(height_of(cell.share))).append("\" height=\"1\"/>");
    out.append("</svg> ");
  }
  out.append(status::escaped(cell.text)).append("</td>");
}

}  // namespace

PageTable::PageTable(std::string& out, std::string_view caption, std::size_t texts,
                     std::initializer_list<std::string_view> columns)
    : out_(out) {
  out_.append("<div class=\"table\"><table><caption>").append(status::escaped(caption));
  out_.append("</caption>\n<thead><tr>");
  std::size_t number = 0;
  for (const std::string_view column : columns) {
    out_.append(++number <= texts ? "<th scope=\"col\" class=\"text\">" : "<th scope=\"col\">");
    out_.append(status::escaped(column)).append("</th>");
  }
  out_.append("</tr></thead>\n<tbody>\n");
}

void PageTable::row(const PageCell& name, const std::vector<PageCell>& cells, bool is_choice) {
  out_.append(is_choice ? "<tr class=\"choice\">" : "<tr>").append("<th scope=\"row\">");
  out_.append(status::escaped(name.text)).append("</th>");
  for (const PageCell& cell : cells)
    append_cell(out_, cell);
  out_.append("</tr>\n");
}

void append_chart(std::string& out, const std::vector<PageBars>& bars, bool is_stacked,
                  std::size_t choice) {
  const std::size_t groups = bars.front().shares.size();
  const double all = group_width * static_cast<double>(groups);
  out.append("<svg viewBox=\"0 0 ").append(decimal(all)).append(" ").append(decimal(chart_height));
  out.append(
      "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"The numbers are in the "
      "table below\">");
  for (const double share : {0.25, 0.5, 0.75}) {
    const std::string y = decimal(chart_height * share);
    out.append("<line x1=\"0\" x2=\"").append(decimal(all)).append("\" y1=\"").append(y);
    out.append("\" y2=\"").append(y).append("\"/>");
  }
  const double bar =
      is_stacked ? group_width : 0.8 * group_width / static_cast<double>(bars.size());
  for (std::size_t group = 0; group < groups; ++group) {
    const double x = group_width * static_cast<double>(group);
    if (group == choice) append_rect(out, "choice", x, group_width, chart_height);
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const double height = height_of(bars[i].shares[group]);
      const double shift = is_stacked ? 0 : 0.1 * group_width + bar * static_cast<double>(i);
      if (height > 0) append_rect(out, bars[i].style, x + shift, bar, height);
    }
  }
  out.append("</svg>\n");
}

}  // namespace weir::replay
