"""The CLUE and FewCLUE benchmarks: official files and official submissions."""
