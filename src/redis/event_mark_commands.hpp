// The marks of events in Redis: PREFIX{IDENTITY}:POLICY:e1, beside the counter of the key.
//
// Used on the loop only.
#pragma once

#include <string>
#include <string_view>

#include "redis/routed_commands.hpp"
#include "redis/script.hpp"
#include "store/event_marks.hpp"

namespace weir::redis {

class EventMarkCommands final : public store::EventMarks {
 public:
  /// The constructor does not use the nodes.
  EventMarkCommands(NodeLookup& nodes, std::string_view key_prefix, Clock clock);

  void mark(const store::EventMark& mark, Instant now, Done done) override;
  void read_generation(OnGeneration done) override;

 private:
  const std::string prefix_;
  const Clock clock_;
  const std::string script_;
  RoutedCommands commands_;
};

}  // namespace weir::redis
