// The style of the report page.
#pragma once

#include <string_view>

namespace weir::replay {

inline constexpr std::string_view page_style = R"css(
:root {
  --paper: #fcfcfb; --ink: #1d2125; --soft: #5b646d; --line: #e3e6e8; --panel: #f3f4f4;
  --denied: #b3261e; --requests: #2b5c8a; --keys: #8a5a00; --good: #1c6b3f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e4e7ea; --soft: #a3acb5; --line: #2a2f34; --panel: #1b1f23;
    --denied: #ff8a80; --requests: #82b6e6; --keys: #e0b25c; --good: #7fcf9f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 0 20px 24px; max-width: 1160px; background: var(--paper); color: var(--ink);
  font: 14px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
h1 { margin: 14px 0 2px; font-size: 18px; }
h2 { margin: 26px 0 6px; font-size: 15px; }
h3 { margin: 16px 0 4px; font-size: 13px; }
p { margin: 4px 0 8px; }
.note { color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: 8px; margin: 12px 0; }
dl > div { flex: 1 1 120px; padding: 8px 12px; background: var(--panel); border-radius: 4px; }
dt { color: var(--soft); font-size: 12px; }
dd { margin: 0; font-size: 18px; font-weight: 600; }
dd small { color: var(--soft); font-size: 12px; font-weight: 400; }
.denied dd { color: var(--denied); }
figure { margin: 8px 0 12px; padding: 8px 12px; background: var(--panel); border-radius: 4px; }
figcaption { margin-bottom: 6px; color: var(--soft); font-size: 12px; }
figcaption i { display: inline-block; width: 10px; height: 10px; margin: 0 4px 0 10px; background: var(--requests); }
figcaption i.denied { background: var(--denied); }
figcaption i.keys { background: var(--keys); }
figure svg { display: block; width: 100%; height: 140px; }
figure p { display: flex; justify-content: space-between; gap: 8px; margin: 4px 0 0; color: var(--soft); font-size: 12px; }
rect { fill: var(--requests); }
rect.denied { fill: var(--denied); }
rect.keys { fill: var(--keys); }
rect.choice { fill: var(--good); fill-opacity: .18; }
line { stroke: var(--line); vector-effect: non-scaling-stroke; }
.table { overflow-x: auto; margin-bottom: 12px; }
table { width: 100%; border-collapse: collapse; }
caption { padding: 2px 0 4px; text-align: left; font-weight: 650; }
th, td {
  padding: 3px 0 3px 14px; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--line);
}
thead th { color: var(--soft); font-weight: 400; font-size: 12px; vertical-align: bottom; }
tbody th { font-weight: 500; }
th:first-child { padding-left: 0; text-align: left; }
.text { text-align: left; }
table { overflow-wrap: normal; }
.key { font-family: ui-monospace, monospace; font-size: 12px; }
tr.choice > * { background: var(--panel); }
td svg { width: 80px; height: 9px; background: var(--line); vertical-align: middle; }
summary { cursor: pointer; color: var(--soft); }
@media (max-width: 760px) {
  body { padding: 0 12px 20px; }
  th, td { padding-left: 7px; font-size: 12px; }
  td svg { display: none; }
}
)css";

}  // namespace weir::replay
