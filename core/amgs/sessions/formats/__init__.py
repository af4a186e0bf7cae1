"""The formats of session files, one module each; `registry` lists them."""
