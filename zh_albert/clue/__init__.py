"""The CLUE and FewCLUE benchmarks: official files in, official submissions out."""
