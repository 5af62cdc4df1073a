# The integration tests that also run with the sanitizers, because these can report something that the release build
# cannot. The others test what is decided and printed: a rule that is wrong is wrong in every build.

# AddressSanitizer and UndefinedBehaviorSanitizer: memory that outlives a wait or changes its owner.
set(address_modules
    # Buffers and views of a connection across reads, pipelines, uploads beside the answer, and aborts.
    abuse_churn abuse_floods abuse_http2 abuse_pipelines abuse_slow bodies connections errors messages musts_upgrades retries reuse robustness
    timeouts tunnel
    # Streams whose exchange and whose session end at different times.
    http2 http2_ends http2_tunnel http2_upstream http2_upstream_cuts http2_upstream_faults
    http2_upstream_protocols
    # Bodies scanned as they pass, and grants that outlive their exchange.
    concurrency decide_holds holds metering queue
    # Generations, lists, keys and listeners that are replaced while they are in use.
    address_lists jwks_url plan_files reload reload_limits reload_listeners reload_load reload_redis reload_tls
    reload_upstreams reload_watch shadow_reload
    # Requests of Weir itself, beside the end of the process.
    otlp
    # Commands in flight when their connection, their request or the process ends.
    events leases lifecycle limits overrides redis_failures redis_health redis_sharing redis_stalls sentinel cluster
    cluster_losses webhook
    # Objects of OpenSSL, and of pools of upstream connections.
    abuse_handshakes health_checks tls tls_upstream upstreams
    # Connections that count in a table of the process until they end.
    per_address
    # Calls that await several results of a store, and requests that replace the one of their exchange.
    ext_authz rate_limit_protocol rate_limit_service rls_calls rls_faults rls_lifecycle rls_policies
    # Text built from fields of a request, and parsers of what peers send first.
    access_log admin proxy_protocol status)

# ThreadSanitizer: what two threads read and write.
set(thread_modules
    # Counters and events, which the main thread reads, and the limits on connections, which all workers share.
    admin connections events otlp per_address status
    # Copies of requests, which a thread of their own compares.
    shadow_reload
    # The memory store, its slots and its holds.
    concurrency decide_holds queue
    # Configurations, lists, keys and certificates that the main thread publishes to the workers.
    address_lists jwks_url leases lifecycle plan_files reload reload_limits reload_listeners reload_load reload_redis
    reload_tls reload_upstreams reload_watch
    # Rules of descriptors, which the main thread publishes to the workers.
    rate_limit_service rls_lifecycle rls_policies
    # What workers report of Redis, and calls that the admin server passes to a worker.
    cluster cluster_losses limits overrides redis_failures redis_health redis_sharing redis_stalls sentinel
    # Handshakes, whose costly steps have a thread of their own.
    tls)
