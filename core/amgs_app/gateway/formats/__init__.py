"""The APIs of model providers: where the messages are in a request and in an answer."""
