"""What the integration tests stand on: the program under test, services behind it, a raw client."""
