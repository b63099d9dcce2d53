"""People in the same world: experiments on a web page, scored by the benchmarks' own code."""
