"""What the benchmarks of the working context measure, in parts that several share."""
