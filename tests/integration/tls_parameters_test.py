"""Which groups, versions and ciphers a listener speaks: a client cannot choose an expensive or a
weak one, and what is configured is what is spoken."""

import ssl

from harness.tls_case import TlsCase

EXPENSIVE = ["ffdhe2048", "ffdhe8192"]


class SpokenCase(TlsCase):
    def is_spoken(self, *arguments):
        found = self.s_client(*arguments)
        self.assertIn("CONNECTED", found)
        return "Cipher is (NONE)" not in found

    def with_tls(self, **tls):
        self.serve(tls={**self.main.files, **tls})


class Groups(SpokenCase):
    def spoken(self, groups, *arguments):
        return [group for group in groups if self.is_spoken("-groups", group, *arguments)]

    def test_cheap_groups_are_spoken_by_default_and_no_others(self):
        self.with_tls()
        groups = ["X25519", "P-256", "P-384", "P-521", "X448", *EXPENSIVE]
        self.assertEqual(self.spoken(groups, "-tls1_3"), ["X25519", "P-256", "P-384"])
        # In TLS 1.2 the group of the client's list is also that of the certificate, P-256.
        lists = ["X25519:P-256", "P-256", "P-384:P-256"]
        self.assertEqual(self.spoken(lists, "-tls1_2"), lists)

    def test_finite_fields_are_not_spoken_in_tls_1_2(self):
        self.with_tls()
        ciphers = "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-CHACHA20-POLY1305"
        self.assertFalse(self.is_spoken("-tls1_2", "-cipher", ciphers))

    def test_a_client_that_prefers_an_expensive_group_gets_a_cheap_one(self):
        self.with_tls()
        found = self.s_client("-tls1_3", "-groups", "ffdhe8192:P-256")
        line, = [line for line in found.splitlines() if "Temp Key" in line]
        self.assertIn("prime256v1", line)

    def test_configured_groups(self):
        self.with_tls(groups=["P-521", "X448"])
        groups = ["X25519", "P-256", "P-384", "P-521", "X448", *EXPENSIVE]
        self.assertEqual(self.spoken(groups, "-tls1_3"), ["P-521", "X448"])

    def test_sessions_are_resumed_with_configured_groups(self):
        self.with_tls(groups=["X25519"])
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            context = self.ca.client_context()
            context.maximum_version = version
            first = self.secure(context)
            self.assertEqual(first.get().status, 200)
            again = self.secure(context, session=first.sock.session)
            self.assertEqual(again.get().status, 200)
            self.assertTrue(again.sock.session_reused, version)


class Versions(SpokenCase):
    def test_only_1_3(self):
        self.with_tls(min_version="1.3")
        self.assertFalse(self.is_spoken("-tls1_2"))
        self.assertTrue(self.is_spoken("-tls1_3"))
        self.assertEqual(self.secure().get().status, 200)

    def test_1_2_and_1_3(self):
        self.with_tls(min_version="1.2")
        self.assertFalse(self.is_spoken("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"))
        self.assertTrue(self.is_spoken("-tls1_2"))
        self.assertTrue(self.is_spoken("-tls1_3"))


class Ciphers(SpokenCase):
    def spoken(self):
        return (
            [cipher for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384")
             if self.is_spoken("-tls1_2", "-cipher", cipher)],
            [suite for suite in ("TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256")
             if self.is_spoken("-tls1_3", "-ciphersuites", suite)])

    def test_of_both_versions(self):
        self.with_tls(ciphers=["ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_CHACHA20_POLY1305_SHA256"])
        self.assertEqual(self.spoken(), (["ECDHE-ECDSA-AES256-GCM-SHA384"],
                                         ["TLS_CHACHA20_POLY1305_SHA256"]))

    def test_a_version_without_any_in_the_list_keeps_its_own(self):
        self.with_tls(ciphers=["ECDHE-ECDSA-AES128-GCM-SHA256"])
        self.assertEqual(self.spoken(), (["ECDHE-ECDSA-AES128-GCM-SHA256"],
                                         ["TLS_AES_128_GCM_SHA256",
                                          "TLS_CHACHA20_POLY1305_SHA256"]))


class Checked(TlsCase):
    def assert_refused(self, message, **tls):
        code, output = self.check({**self.main.files, **tls})
        self.assertEqual(code, 2, output)
        self.assertIn(message, output)

    def test_what_is_expensive_or_weak_is_refused_with_the_reason(self):
        self.assert_refused("finite-field Diffie-Hellman is not allowed", groups=["ffdhe8192"])
        self.assert_refused("use X25519, P-256, P-384, P-521, X448", groups=["ffdhe2048"])
        self.assert_refused("listen[0].tls.groups[1]: write P-256", groups=["X25519", "secp256r1"])
        self.assert_refused("expected a list of groups", groups="X25519")
        self.assert_refused("have no forward secrecy", ciphers=["AES128-GCM-SHA256"])
        self.assert_refused("listen[0].tls.min_version: expected 1.2 or 1.3", min_version="1.1")

    def test_a_large_rsa_key_is_a_warning(self):
        # Of four primes, which are found sooner than two large ones.
        large = self.ca.self_signed("large", "large", "DNS:large.test", key=[
            "RSA", "-pkeyopt", "rsa_keygen_bits:4104", "-pkeyopt", "rsa_keygen_primes:4"])
        code, output = self.check(large.files)
        self.assertEqual(code, 0, output)
        self.assertIn("listen[0].tls.certificate: an RSA key of 4104 bits makes handshakes so "
                      "expensive", output)


