"""The interfaces of model providers: where the messages stand in a request and in an answer."""
