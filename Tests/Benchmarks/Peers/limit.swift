// The least that a program with the demo's libraries can do: Scripts/benchmark links it with each
// library that the demo names, and it prints a text as long as the benchmark's token.
print(String(repeating: "x", count: 1000))
