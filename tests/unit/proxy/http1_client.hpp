// An HTTP/1 client connection as used by its request body and its responder, over a pair of
// sockets.
#pragma once

#include <optional>
#include <string>

#include "decision/head_inspection.hpp"
#include "proxy/http1_request_body.hpp"
#include "proxy/http1_responder.hpp"
#include "unit/proxy/scripted_client.hpp"
#include "unit/proxy/world.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::proxy::test {

class Http1Client {
 public:
  explicit Http1Client(options::Downstream limits = {}) : Http1Client(limits, socket_pair()) {}

  /// Receives a head, with a part of its body or none, and inspects it.
  void receive(const std::string& head, std::string_view rest = {}) {
    connection.input.append(head + std::string(rest));
    request.clear();
    body.begin(request);
    responder.begin_request(request, world.settings->proxy);
    REQUIRE_FALSE(decision::inspect_head(*world.context.generation->request_rules,
                                         connection.input.data().substr(0, head.size()), request));
    connection.input.consume(head.size());
    body.begin(request);
  }
  /// Runs a task to its end.
  template <class T>
  T run(loop::Task<T> task) {
    std::optional<T> result;
    loop::spawn(world.io, note_result(std::move(task), result));
    world.run_until([&] { return result.has_value(); });
    return std::move(*result);
  }
  void run(loop::Task<> task) {
    bool has_ended = false;
    loop::spawn(world.io, note_end(std::move(task), has_ended));
    world.run_until([&] { return has_ended; });
  }

  store::test::FakeStore store;
  World world;
  FarEnd far;
  ListenerConnections listener;
  ClientConnection connection;
  http::ReceivedRequest request;
  Http1RequestBody body{connection};
  Http1Responder responder{connection, body};

 private:
  Http1Client(const options::Downstream& limits, std::array<int, 2> ends)
      : world(settings_for(limits), store),
        far(ends[1]),
        connection(world.context, listener, loop::Descriptor(ends[0]),
                   IpAddress::v4({192, 0, 2, 1})) {}
  static Configuration settings_for(const options::Downstream& limits) {
    Configuration settings;
    settings.proxy.downstream = limits;
    return settings;
  }
};

}  // namespace weir::proxy::test
