"""Names, methods and repeated values that a service reads differently from what was sent."""

from harness import web_services
from harness.case import configuration
from harness.look_alikes import FROM_TRUSTED, ONE, LookAlikes, limited_by


class Fields(LookAlikes):
    def test_a_look_alike_of_an_identity_is_refused(self):
        for kind, separators in [(web_services.Php, "._!~"), (web_services.Gunicorn, "_")]:
            with self.subTest(kind.__name__):
                self.behind(kind, **limited_by({"header": "x-api-key"}))
                detail = 'a name that services may read as "x-api-key"'
                for mark in separators:
                    name = mark.join(("X", "Api", "Key"))
                    self.assert_dodges_refused(
                        detail, {"fields": [(name, "mine"), ("X-Api-Key", "random")]},
                        {"fields": [("X-Api-Key", "victim"), (name, "mine")]},
                        {"fields": [(name, "mine")]}, {"fields": [("x-api" + mark + "key", "a")]})
                for key in ("random", "victim"):
                    seen = self.assert_served(fields={"X-Api-Key": key})
                    self.assertEqual(seen["fields"]["HTTP_X_API_KEY"], key)
                    self.assertEqual(self.send(fields={"X-Api-Key": key}).status, 429)

    def test_look_alikes_of_what_routes_attributes_and_proxies_name_are_refused(self):
        window = {"algorithm": "attributed_window", "rate": "10/1s",
                  "attributes": ["header:x-tenant-name"]}
        routes = [{"match": {"headers": {"X-Tier-Name": "gold"}}, "upstream": "main",
                   "limits": [{"policy": "w"}]}, {"upstream": "main"}]
        self.behind(web_services.Php, routes=routes, policies={"w": window},
                    client_address={"header": "x-edge-ip", "untrusted_fields": ["x-internal-*"]})
        names = ("X_Tier_Name", "X.Tier-Name", "X.Tenant.Name", "X_Edge.IP", "X.Internal-User",
                 "X-Internal-User_Name", "X.Forwarded-For", "X-Forwarded-For_", "X_Original_URI",
                 "X.Real.IP", "X_Forwarded", "Content.Length", "Transfer_Encoding", "CF.Connecting-IP",
                 "True_Client_IP", "X.SSL-Client-Cert", "X-SSL-Client-S_DN", "X_HTTP_Method_Override")
        for name in names:
            with self.subTest(name):
                self.assert_refused("a field has a name that services may read as",
                                    fields={name: "1"})
        seen = self.assert_served(fields={"X_Other": "1", "X.Tier": "2", "X-Tenant.Name.Too": "3"})
        self.assertEqual(seen["fields"]["HTTP_X_OTHER"], "1")
        self.assertEqual(seen["fields"]["HTTP_X_TIER"], "2")

    def test_look_alikes_from_trusted_peers_are_refused_too(self):
        self.behind(web_services.Php, client_address=FROM_TRUSTED)
        for name in ("X_Forwarded_For", "X.Forwarded.Proto", "X-Forwarded-Client.Cert"):
            self.assert_refused("services may read as", fields={name: "192.0.2.1"})

    def test_unusual_names_can_be_dropped(self):
        self.behind(web_services.Php, **limited_by({"header": "x-api-key"}),
                    downstream={"unusual_field_names": "drop"})
        seen = self.assert_served(fields=[("X_Api_Key", "mine"), ("X.Api.Key", "mine"),
                                          ("X_Other", "1"), ("X-Api-Key", "known"), ("X-More", "2")])
        self.assertEqual(seen["fields"]["HTTP_X_API_KEY"], "known")
        self.assertEqual(seen["fields"]["HTTP_X_MORE"], "2")
        self.assertNotIn("HTTP_X_OTHER", seen["fields"])
        seen = self.assert_served(3, fields={"X.Api.Key": "mine"})
        self.assertNotIn("HTTP_X_API_KEY", seen["fields"])

    def test_connection_cannot_remove_a_field_that_routes_read(self):
        routes = [{"match": {"headers": {"X-Tier": "gold"}}, "upstream": "main"},
                  {"respond": {"status": 404}}]
        self.behind(web_services.Node, routes=routes)
        seen = self.assert_served(fields={"X-Tier": "gold", "Connection": "x-tier"})
        self.assertEqual(seen["fields"]["x-tier"], "gold")


class Parameters(LookAlikes):
    def test_a_look_alike_of_a_query_identity_is_refused(self):
        self.behind(web_services.Php, **limited_by({"query": "api_key"}))
        detail = 'a query parameter may be read as "api_key", which identifies the client'
        for other in ("api.key", "api+key", "api%20key", "api%2Ekey", "api%5Bkey", "api[key", "api%2Bkey",
                      "%20api_key", "+api_key", "api_key%00", "api_key%00x", "api_key[]",
                      "api_key%5B%5D", "api_key[x]", "API_KEY", "api%5fkey[", "%09api.key"):
            self.assert_dodges_refused(
                detail, {"target": f"/?api_key=victim&{other}=mine"},
                {"target": f"/?{other}=mine&api_key=random"}, {"target": f"/?a=b&{other}=mine"})
        for key in ("victim", "random", "mine"):
            seen = self.assert_served(target=f"/?api_key={key}&api=1&api_key2=2&xapi_key=3")
            self.assertEqual(seen["query"]["api_key"], [key])
            self.assertEqual(self.send(target=f"/?%61pi_key={key}").status, 429)

    def test_brackets_around_a_name_are_refused(self):
        self.behind(web_services.Node, **limited_by({"query": "api_key"}))
        detail = 'a query parameter may be read as "api_key", which identifies the client'
        for other in ("[api_key]", "%5Bapi_key%5D", "api_key]", "[api_key"):
            self.assert_dodges_refused(
                detail, {"target": f"/?{other}=mine"}, {"target": f"/?api_key=random&{other}=mine"},
                {"target": f"/?api_key=random]=x&{other}=mine"})
        for value in ("random]=x", "random%5D=x", "random%5d="):
            self.assert_dodges_refused(detail, {"target": f"/?api_key={value}"})
        self.assert_served(target="/?api_key=mine]&page[size]=2&sort=a]=b")

    def test_the_first_or_the_last_counts_where_the_service_takes_it(self):
        for kind, repeated, at in [(web_services.Php, "last", -1), (web_services.Node, "first", 0)]:
            with self.subTest(kind.__name__):
                self.behind(kind, **limited_by({"query": "key", "repeated": repeated}))
                pair = ["random", "mine"] if repeated == "last" else ["mine", "random"]
                seen = self.assert_served(target=f"/?key={pair[0]}&key={pair[1]}")
                self.assertEqual(seen["query"]["key"][at], "mine")
                self.assertEqual(self.send(target="/?key=mine").status, 429)
                self.assert_refused("may be read as", target="/?key=a&KEY=b")

    def test_otherwise_and_attributes_are_resolved_alike(self):
        window = {"algorithm": "attributed_window", "rate": "10/1s", "attributes": ["query:page"]}
        limits = [{"policy": "p", "key": "who", "otherwise": "second"}, {"policy": "w"}]
        self.behind(web_services.Node, policies={**ONE, "w": window},
                    identities={"who": {"header": "x-api-key"}, "second": {"query": "key"}},
                    routes=[{"upstream": "main", "limits": limits}])
        self.assert_refused('"key"', target="/?key=1&key=2")
        self.assert_refused('"page"', target="/?page=1&page=2", fields={"X-Api-Key": "a"})
        self.assert_served(target="/?key=1&key=2", fields={"X-Api-Key": "a"})

    def test_weir_proxy_refuses_alike(self):
        service = web_services.Php()
        self.addCleanup(service.stop)
        self.weir = self.start(None, command=["proxy", "--to", service.url, "--limit", "1/1h", "--key",
                                              "query:key", "--listen", "127.0.0.1:0"])
        self.assert_refused("more than once", target="/?key=1&key=2")
        self.assert_refused("may be read as", target="/?key[]=1")
        self.assert_served(target="/?key=1")


class Methods(LookAlikes):
    LIMITED = [{"match": {"methods": ["POST"]}, "upstream": "main", "limits": [{"policy": "p"}]},
               {"upstream": "main"}]

    def test_lower_case_methods_are_refused(self):
        self.behind(web_services.Gunicorn, policies=ONE, routes=self.LIMITED)
        for method in ("post", "Post", "POSt", "get", "purge"):
            self.assert_refused("the method has lower-case letters", method=method, body=b"a")
        self.assertEqual(self.assert_served(method="POST", body=b"a")["method"], "POST")
        self.assertEqual(self.send(method="POST", body=b"a").status, 429)
        self.assert_served(3, method="PURGE")

    def test_a_route_may_name_one_exactly(self):
        routes = [{"match": {"methods": ["purge"]}, "upstream": "main", "limits": [{"policy": "p"}]},
                  {"match": {"methods": ["GET"]}, "upstream": "main"}]
        self.behind(web_services.Gunicorn, policies=ONE, routes=routes)
        self.assertEqual([self.send(method="purge").status for _ in range(2)], [200, 429])
        self.assertEqual(self.send(method="PURGE").status, 404)
        self.assert_refused("lower-case", method="Purge")

    def test_the_original_method_is_judged_alike(self):
        routes = [{"match": {"methods": ["POST"]}, "decide": True, "limits": [{"policy": "p"}]},
                  {"decide": True}]
        self.weir = self.start(configuration(policies=ONE, routes=routes, client_address=FROM_TRUSTED))
        for name in ("X-Original-Method", "X-Forwarded-Method"):
            self.assert_refused("lower-case", fields={"X-Original-URI": "/a", name: "post"})
        asked = {"X-Original-URI": "/a", "X-Original-Method": "POST"}
        self.assertEqual([self.send(fields=asked).status for _ in range(2)], [200, 429])


class TrustedFields(LookAlikes):
    NEW = ("X-Rewrite-URL", "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override",
           "X-Forwarded", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP",
           "X-Cluster-Client-IP", "Client-IP", "Front-End-Https", "X-SSL-Client-Cert",
           "X-SSL-Client-Verify", "X-True-Client-IP", "Fly-Client-IP", "X-Azure-ClientIP",
           "X-Azure-SocketIP", "X-Appengine-User-IP", "X-Remote-User", "X-Client-Cert",
           "X-ARR-ClientCert")
    OLD = ("Forwarded", "X-Forwarded-User", "X-Original-URL", "X-Real-IP")

    def seen(self, names):
        fields = {name: "evil" for name in (*names, "X-Mine")}
        seen = self.assert_served(fields=fields)["fields"]
        return {name for name in names if seen.get(name.lower()) == "evil"}

    def test_fields_for_trusted_peers_are_removed(self):
        self.behind(web_services.Node,
                    client_address={"untrusted_fields": ["X-Geo-Country", "x-internal-*", "from"]})
        names = (*self.NEW, *self.OLD, "Proxy", "X-Geo-Country", "X-Internal-User", "From",
                 "X-Internal-", "X-Geo-Country-Code", "X-Internals", "X-HTTP-Methods")
        self.assertEqual(self.seen(names), {"X-Geo-Country-Code", "X-Internals", "X-HTTP-Methods"})

    def test_a_trusted_peer_may_send_them_but_not_proxy(self):
        self.behind(web_services.Node,
                    client_address={**FROM_TRUSTED, "untrusted_fields": ["x-geo-country"]})
        names = (*self.NEW, *self.OLD, "Proxy", "X-Geo-Country")
        self.assertEqual(self.seen(names), set(names) - {"Proxy"})

    def test_what_routes_match_is_seen_by_them_and_removed(self):
        routes = [{"match": {"headers": {"X-HTTP-Method-Override": "DELETE"}}, "respond": {"status": 403}},
                  {"match": {"headers": {"X-Geo": "here"}}, "upstream": "main", "limits": [{"policy": "p"}]},
                  {"upstream": "main"}]
        sections = {"policies": ONE, "routes": routes}
        override = "X-HTTP-Method-Override"
        self.behind(web_services.Node, **sections, client_address={"untrusted_fields": ["x-geo"]})
        self.assertEqual(self.send(fields={override: "DELETE"}).status, 403)
        for value in ("delete", "Delete", "PUT", "DELETE,"):
            self.assertNotIn(override.lower(), self.assert_served(fields={override: value})["fields"])
        self.assertNotIn("x-geo", self.assert_served(fields={"X-Geo": "here"})["fields"])
        self.assertEqual(self.send(fields={"X-Geo": "here"}).status, 429)
        self.assert_refused("services may read as", fields={"X_Geo": "here"})
        for allowing in (FROM_TRUSTED, {"remove_untrusted_fields": False}):
            self.behind(web_services.Node, **sections, client_address=allowing)
            seen = self.assert_served(fields={override: "PUT"})
            self.assertEqual(seen["fields"][override.lower()], "PUT")
