"""`service`: a real server in a process of its own, asked over loopback by many clients, killed and attacked."""
