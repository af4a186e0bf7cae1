"""The formats of session files, one module each; `amgs.sessions.opening` lists them."""
