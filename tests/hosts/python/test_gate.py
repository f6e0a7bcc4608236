import unittest

from gate import Permission

PERMISSION = Permission("https://a.example", "/api/v1/", "k")


class Gate(unittest.TestCase):
    def test_one_origin_is_allowed_and_no_other(self) -> None:
        self.assertTrue(PERMISSION.allows("https", "A.example"))
        for scheme, authority in [
            ("http", "a.example"), ("https", "a.example:8443"), ("https", "b.example"), ("https", "a.example.b.example"),
            ("https", "me@a.example"),
        ]:
            self.assertFalse(PERMISSION.allows(scheme, authority), f"{scheme}://{authority}")

    def test_the_key_goes_to_what_is_under_the_path_and_nowhere_else(self) -> None:
        for path in ["/api/v1", "/api/v1/systemone"]:
            self.assertEqual(PERMISSION.credential(path), {"authorization": "Bearer k"}, path)
        for path in ["/", "/api/v10", "/api/v1/../admin", "/api/v1/%2e%2e/admin"]:
            self.assertEqual(PERMISSION.credential(path), {}, path)
        self.assertEqual(Permission("https://a.example", "/").credential("/"), {})

    def test_the_key_is_not_shown(self) -> None:
        self.assertNotIn("'k'", repr(PERMISSION))


if __name__ == "__main__":
    unittest.main()
