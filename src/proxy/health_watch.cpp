#include "proxy/health_watch.hpp"

#include <utility>

#include "grpc/fields.hpp"
#include "proxy/grpc_message.hpp"

namespace weir::proxy {

HealthWatch::HealthWatch(Context& context, const ClientSide& client, std::string service)
    : context_(context), client_(client), service_(std::move(service)), woken_(context.io) {
  context.health_watches.push_back(this);
}

HealthWatch::~HealthWatch() {
  std::erase(context_.health_watches, this);
}

bool HealthWatch::is_interrupted() const {
  const Interruptions& interruptions = client_.watchdog->interruptions();
  return interruptions.aborted || interruptions.client_left || client_.body->client_has_left();
}

void HealthWatch::begin() {
  const http::StatusLine line{.status = 200, .reason = "OK"};
  const http::FieldView fields[] = {{.name = "content-type", .value = grpc::content_type}};
  const http::ConnectionOptions connection;
  client_.responder->begin(
      {.head = {.line = line, .fields = fields, .connection = connection, .body = {}},
       .date = context_.date.at(context_.pass_clock.now())});
}

void HealthWatch::append(rls::ServingStatus status) {
  std::string& message = context_.output;
  begin_grpc_message(message);
  rls::append_protobuf(message, status);
  end_grpc_message(message);
  client_.responder->append(message);
  sent_ = status;
}

loop::Task<bool> HealthWatch::next() {
  Responder& responder = *client_.responder;
  if (is_interrupted()) {
    responder.reset();
    co_return false;
  }
  const bool draining = context_.draining;
  const rls::ServingStatus status = rls::status_of(service_, context_.stopping);
  if (status != sent_ || draining) {
    if (!sent_) begin();
    if (status != sent_) append(status);
    if (draining) {
      trailers_.add("grpc-status", "14");
      responder.end(trailers_);
    }
    error_code ec;
    responder.send(ec);
    if (ec || draining) co_return false;
    if (is_interrupted() || context_.draining) co_return true;
  }
  client_.watchdog->disarm(Phase::delay);
  const Watched watched(*client_.watchdog, *this);
  co_await woken_.wait();
  co_return true;
}

}  // namespace weir::proxy
