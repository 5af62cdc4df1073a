// A Watch of grpc.health.v1: sends the status of a service, and again when it changes ("GRPC Health
// Checking Protocol").
//
// Waits for events, and wakes at no interval. The context wakes it when the process begins to stop
// or to drain, and after a reload, so that its exchange uses the running generation and keeps no
// old one alive. Used from its worker's loop only.
#pragma once

#include <optional>
#include <string>

#include "http/field_section.hpp"
#include "loop/event.hpp"
#include "proxy/context.hpp"
#include "proxy/responder.hpp"
#include "rls/health_messages.hpp"

namespace weir::proxy {

class HealthWatch final : public loop::Cancellable {
 public:
  /// `service`: as in the message of the call. The context outlives the watch.
  HealthWatch(Context& context, const ClientSide& client, std::string service);
  ~HealthWatch();
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

  /// Begins the response, or continues it: sends the status if it is another than the last one, and
  /// waits until wake(). False: the call has ended.
  loop::Task<bool> next();
  void wake() { woken_.notify(); }

  void cancel() override { woken_.cancel(); }
  void close() override { woken_.cancel(); }

 private:
  bool is_interrupted() const;
  void begin();
  void append(rls::ServingStatus status);

  Context& context_;
  const ClientSide client_;
  const std::string service_;
  loop::Event woken_;
  std::optional<rls::ServingStatus> sent_;
  http::FieldSection trailers_;
};

}  // namespace weir::proxy
